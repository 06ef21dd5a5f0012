// The part of the page that computes, in a thread of its own, so that typing is never held up. It gets the model once,
// and then requests; each answer has all that the page shows, as text and plain numbers.

// A search lets the worker look for a newer request after so many milliseconds.
const TURN = 50;

let translator;
let newest = 0;

const bytesIn = (base64) => {
  const text = atob(base64);
  const numbers = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) numbers[i] = text.charCodeAt(i);
  return numbers;
};

const open = ({ facts, weights }) => {
  const { buffer } = bytesIn(weights);
  translator = { ...facts, model: makeModel(unpackWeights(facts.layout, buffer)) };
  translator.read = makeReader(facts.src, facts.language);
};

const nextTurn = () => new Promise((turn) => setTimeout(turn));

// The best hypothesis, or undefined where a newer request has come meanwhile.
const searched = async (number, ids, options) => {
  const search = searching(translator.model, ids, options);
  let turned = performance.now();
  for (;;) {
    const { done, value } = search.next();
    if (done) return value[0];
    if (performance.now() - turned < TURN) continue;
    await nextTurn();
    if (number !== newest) return undefined;
    turned = performance.now();
  }
};

const wordsOf = ({ tgt, targetHasBlanks }, ids) => {
  const tokens = ids.map((id) => tgt.tokens[id]);
  const blanks = tokens.map((token, i) => targetHasBlanks && i > 0 && blankBefore(tgt, token, tokens[i - 1]));
  return ids.map((id, i) => ({ id, token: tokens[i], blank: blanks[i] }));
};

const shown = ({ src, tgt, targetHasBlanks }, srcIds, { ids, weights, choices, finished }) => ({
  source: srcIds.map((id) => src.tokens[id]),
  target: wordsOf({ tgt, targetHasBlanks }, ids),
  weights: weights.map((row) => [...row]),
  choices: choices.map((words) => words.map(({ id, logP }) => ({ id, token: tgt.tokens[id], share: Math.exp(logP) }))),
  text: decode(tgt, ids),
  finished,
});

const answer = async ({ number, text, beam, prefix }) => {
  const { maxCharacters, maxTokens } = translator;
  const numCharacters = [...text].length;
  if (numCharacters > maxCharacters) return { problem: "characters", count: numCharacters, limit: maxCharacters };
  const { ids, unknown } = translator.read(text);
  const facts = { numTokens: ids.length, unknown };
  if (!ids.length) return { ...facts, problem: "empty" };
  if (ids.length > maxTokens) return { ...facts, problem: "tokens", count: ids.length, limit: maxTokens };
  const maxLen = maxLenOf(ids.length);
  const chosen = firstWords(prefix.slice(0, maxLen));
  const best = await searched(number, ids, { beam, prefix: chosen, maxLen });
  return best && { ...facts, ...shown(translator, ids, best), prefix: chosen };
};

// What is left of a prefix, which may come from any address: words of the vocabulary, up to the end of sentence.
const firstWords = (prefix) => {
  const known = prefix.filter((id) => id >= EOS && id < translator.tgt.tokens.length);
  return known.includes(EOS) ? known.slice(0, known.indexOf(EOS) + 1) : known;
};

const respond = async (data) => {
  if (data.facts) return open(data);
  newest = data.number;
  const began = performance.now();
  const result = await answer(data);
  if (result) postMessage({ ...result, number: data.number, beam: data.beam, milliseconds: performance.now() - began });
};

// What a promise throws does not reach the page, which tells the reader.
onmessage = ({ data }) =>
  respond(data).catch((error) => {
    setTimeout(() => {
      throw error;
    });
  });
