// What the scripts of a translator's page hand to one another. Only `make lint-js` and editors read this file.

// -- what Python gives: see html.py and stored_model.py

/** How a text of the source is read, from stored_model.py. */
interface Language {
  words: "blanks" | "clitics" | "possessives" | "characters";
  isChinese?: boolean;
  /** From traditional characters to simplified ones. */
  simplified?: Record<string, string>;
  /** An expression for where 著 is 着. */
  firstLetters?: string;
}

/** Whole words, or subwords with the pairs that were joined and the id of both together. */
interface VocabularyFacts {
  tokens: string[];
  merges?: [number, number, number][];
}

/** A matrix in the page's bytes, from `start` to `end`. */
interface StoredMatrix {
  name: string;
  rows: number;
  columns: number;
  dtype: "float32" | "int8";
  start: number;
  end: number;
}

interface Facts {
  names: { src: [string, string]; tgt: [string, string] };
  examples: string[];
  language: Language;
  src: VocabularyFacts;
  tgt: VocabularyFacts;
  targetHasBlanks: boolean;
  layout: StoredMatrix[];
  maxCharacters: number;
  maxTokens: number;
  longestInTraining?: number;
}

// -- what the page asks the worker, and what it gets

interface TranslationRequest {
  number: number;
  text: string;
  prefix: number[];
  beam: number;
}

/** Two neighbours as one: when that was learned, and the id of both together. */
interface Merge {
  place: number;
  id: number;
}

interface Choice {
  id: number;
  token: string;
  share: number;
}

interface Told {
  number: number;
  beam: number;
  milliseconds: number;
}

interface Translation extends Told {
  problem?: undefined;
  numTokens: number;
  unknown: string[];
  source: string[];
  target: { id: number; token: string; blank: boolean }[];
  weights: number[][];
  /** The likeliest words of each step. */
  choices: Choice[][];
  text: string;
  finished: boolean;
  prefix: number[];
}

interface Problem extends Told {
  problem: "empty" | "characters" | "tokens";
  numTokens?: number;
  unknown?: string[];
  /** How much the text has, and how much it may have. */
  count?: number;
  limit?: number;
}

type Answer = Translation | Problem;

/** What the worker makes of a request, before it says how long it took. */
type Outcome = Omit<Translation, keyof Told> | Omit<Problem, keyof Told>;

// -- words on the page

interface WrittenLanguage {
  lang: string;
  name: string;
  blanks: boolean;
  subwords: boolean;
}

type Content = string | Node;

// -- the model and the search: see forward.js

interface Matrix {
  rows: number;
  columns: number;
  numbers: Float32Array;
}

type Matrices = Record<string, Matrix>;
/** A vector for each word of the source, or for each hypothesis of a search. */
type Batch = Float32Array[];

interface Layer {
  weight: Matrix;
  bias?: Float32Array;
}

interface RecurrentLayer {
  input: Layer;
  recurrence: Layer;
}

interface ContextCell {
  fromInput: Layer;
  fromContext: Layer;
  fromState: Layer;
  fromResetState: Layer;
}

interface Attention {
  wQ: Layer;
  wK: Layer;
  wV: Float32Array;
}

/** What the decoder looks at. */
interface Memory {
  values: Batch;
  projectedKeys: Batch;
}

interface Translator {
  srcEmbedding: Matrix;
  encoderLayers: RecurrentLayer[][];
  tgtEmbedding: Matrix;
  attention: Attention;
  startState: Layer;
  firstCell(y: Batch, contexts: Batch, states: Batch): Batch;
  upperCells: RecurrentLayer[];
  readout: Layer;
  output: Layer;
}

/** A likely next word. */
interface Candidate {
  id: number;
  logP: number;
}

/** What a step of the decoder leaves: of each layer the state, and the weights. */
interface Step {
  state: Batch;
  weights: Float32Array;
  choices: Candidate[];
}

/** What has been written, from the beginning to its last step. */
interface Hypothesis extends Step {
  before?: Hypothesis;
  id: number;
  logProb: number;
  length: number;
  ended: boolean;
  finished: boolean;
}

interface Prediction {
  hypothesis: Hypothesis;
  logP: Float32Array;
  state: Batch;
  weights: Float32Array;
}

/** A hypothesis as the page shows it. */
interface Found {
  ids: number[];
  weights: Float32Array[];
  choices: Candidate[][];
  logProb: number;
  finished: boolean;
}
