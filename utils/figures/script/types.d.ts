// What the scripts of figures hand to one another. Only `make lint-js` and editors read this file.

type Numbers = number[] | Float64Array;
/** Of a point, [x, y]. */
type Place = number[];
/** Positions of controls by their names. */
type Positions = Record<string, number>;

// -- what Python gives

interface PackedArray {
  data: string | number[];
  dtype: "u1" | "u2" | "i4" | "f4";
  step: number;
  /** The axes that come before the array's own shape. */
  over: string[];
  shape: number[];
}

interface Control {
  name: string;
  labels: string[];
  values: any[];
  /** Whether it is a row of buttons, in place of a slider. */
  buttons?: boolean;
}

interface Movable {
  labels: string[];
  places: Place[];
  names: string[];
  bounds: number[][];
}

interface Spec {
  name: string;
  kind: string;
  alt?: string;
  invite?: string;
  arrays: Record<string, PackedArray>;
  axes: Control[];
  /** Of each choice in the picture the key of its labels. */
  picks: Record<string, string>;
  labels: Record<string, string[]>;
  /** What the kind alone knows. */
  options: Record<string, any>;
  /** The heading of the curves above the picture, and of each curve its array and its name. */
  gauges: [string, [string, string][]];
  play: string[];
  pace?: number;
  say: string[];
  /** Arrays with their titles, the labels of rows and columns, and the pick whose row is shown. */
  table?: [[string, string][], string, string, string?] | null;
  movable?: Movable | null;
  /** A WAV file as a data URL. */
  sound?: string;
}

// -- pictures

type Attributes = Record<string, string | number | boolean | undefined>;

/** Of the pointer's place in the picture the new positions of controls, or under `points` places of points. */
type Drag = (x: number, y: number) => Record<string, any>;

interface Mark {
  tag: string;
  attributes: Attributes;
  children: KeyedMark[];
  text?: string;
  drag?: Drag;
}

interface KeyedMark extends Mark {
  key: string;
}

/** Marks in lists of lists; what is not there is false. */
type Marks = Mark | false | "" | 0 | null | undefined | Marks[];

interface Picture {
  width: number;
  height: number;
  marks: Marks[];
}

/** The form of a table of cells. */
interface Lattice {
  left: number;
  top: number;
  step: number;
  height: number;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

// -- heat maps

/** Where the row or column of a number begins; halves are in its middle. */
type Along = (at: number) => number;

/** What a map gives to what is drawn beside it. */
interface MapPlace {
  first: number;
  right: number;
  xOf: Along;
  yOf: Along;
  middle: Along;
  step: number;
}

interface MapOptions {
  /** Of each map its array and its title. */
  panels: [string, string][];
  masked: { allowed: number[]; hatched: boolean };
  /** A text for each sign, and those of the state with the longest texts. */
  legend: (string | false | null | undefined)[];
  longest: (string | false | null | undefined)[];
  row: number;
  everywhere?: boolean;
  /** The room on both sides, if more than the names of the rows stands there. */
  beside?: { left: number; aside: number } | false;
  /** What a kind adds to a map. */
  more?(place: MapPlace): Marks;
}

// -- figures

/** A score of a query and a key, with the matrices that project them; `w_v` belongs to the additive one. */
interface Scorer {
  form: "distance" | "dot" | "cosine" | "additive";
  scale: number;
  w_q: number[][];
  w_k: number[][];
  w_v: number[];
}

/** One array of a figure: its numbers at all settings, and the shape and size that it has at one. */
interface Unpacked {
  all: Float64Array;
  over: string[];
  shape: number[];
  size: number;
}

interface Figure<Options = any> extends Omit<Spec, "options"> {
  options: Options;
  /** By their names, the choices in the picture among them. */
  controls: Record<string, Control>;
  unpacked: Record<string, Unpacked>;
  /** The position of each control, or of what is under the mouse. */
  place: Positions;
  settled: Positions;
  hover: Positions;
  moved: Record<string, Place>;
  computed: Record<string, number[]>;
  sounding: number | null;
  draw(width: number): Picture;
  value(name: string): any;
  pointed(name: string): boolean;
  frame(pick: string): string;
  put(place: Positions): void;
  has(key: string): boolean;
  shape(key: string): number[];
  allOf(key: string): Float64Array;
  array(key: string): Numbers;
  arrayAt(key: string, place: Positions): Float64Array;
  rowAt(key: string, at: number): Numbers;
  chosen(key: string, pick: string): Numbers;
  sentence(): string;
  longestSentence(): string;
}

/** How a kind of figure is drawn. */
interface Kind {
  draw(figure: Figure, width: number): Picture;
  /** Numbers that the page computes itself. */
  compute?(figure: Figure): Record<string, number[]>;
  /** What the button "next" chooses. */
  next?(figure: Figure): Positions;
  /** Whether what is chosen looks right at each value of an axis; null where nobody knows. */
  verdicts?(figure: Figure, axis: string): boolean[] | null;
  /** From where to where the sound is played that belongs to what is chosen, in seconds. */
  heard?(figure: Figure): number[];
}

// -- figures in a page

/** What anywidget gives in a notebook, and page.js in a page. */
interface Model {
  get(key: string): any;
  set(key: string, value: unknown): void;
  on(event: string, listener: () => void): void;
  save_changes(): void;
}

/** What the mouse or a finger has pressed. */
interface Held {
  id: number;
  pick: string;
  area: Dragged | null;
  start: Place;
  moved: boolean;
}

/** A node of a picture; those that can be dragged know how. */
interface PictureNode extends SVGElement {
  drag?: Drag;
}

interface Dragged extends PictureNode {
  drag: Drag;
}

interface View {
  figure: Figure;
  uid: string;
  width: number;
  untouched: boolean;
  held: Held | null;
  saving: boolean;
  refresh: (() => void)[];
  opening: Positions;
  position(name: string): number;
  positions(): Positions;
  put(name: string, at: number): void;
  putAll(places: Positions): void;
  choose(places: Positions): void;
  move(points: Record<string, Place>): void;
  look(): void;
  change(): void;
  player: { button: HTMLButtonElement; stop(): void; playing(): boolean };
  picture: { svg: SVGSVGElement; holder: HTMLElement; paint(): void; paintSoon(): void };
  words: {
    say: HTMLElement;
    spoken: HTMLElement;
    write(): void;
    speak(): void;
    speakNow(): void;
    holdLines(): void;
  };
  table: { details: HTMLDetailsElement; fill(): void } | null;
  sound: { buttons: HTMLElement[]; note: HTMLElement; playPiece(): void; stop(): void } | null;
  rows: Record<string, HTMLElement>;
}

/** The style sheet of pictures, which Python writes before the scripts that show them. */
declare const PICTURE_STYLE: string;
