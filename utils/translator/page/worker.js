// The part of the page that computes, in a thread of its own, so that typing is never held up. It gets the model once,
// and then requests; each answer has all that the page shows, as text and plain numbers.
(() => {
  const { EOS, makeModel, maxLenOf, searching, unpackWeights } = forward;
  const { blankBefore, decode, makeReader } = tokenizer;

  // A search lets the worker look for a newer request after so many milliseconds.
  const TURN = 50;

  /** @typedef {Facts & { model: Translator, read: ReturnType<typeof makeReader> }} Opened */
  /** @type {Opened | null} */
  let translator = null;
  let newest = 0;

  /** @param {string} base64 */
  const bytesIn = (base64) => {
    const text = atob(base64);
    const numbers = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) numbers[i] = text.charCodeAt(i);
    return numbers;
  };

  /** @type {(opening: { facts: Facts, weights: string }) => Opened} */
  const open = ({ facts, weights }) => ({
    ...facts,
    model: makeModel(unpackWeights(facts.layout, bytesIn(weights).buffer)),
    read: makeReader(facts.src, facts.language),
  });

  const nextTurn = () => new Promise((turn) => setTimeout(turn));

  // The best hypothesis, or undefined where a newer request has come meanwhile.
  /**
   * @param {Translator} model
   * @param {number} number
   * @param {number[]} ids
   * @param {{ beam: number, maxLen: number, prefix: number[] }} options
   */
  const searched = async (model, number, ids, options) => {
    const search = searching(model, ids, options);
    let turned = performance.now();
    for (;;) {
      const step = search.next();
      if (step.done) return step.value[0];
      if (performance.now() - turned < TURN) continue;
      await nextTurn();
      if (number !== newest) return undefined;
      turned = performance.now();
    }
  };

  /** @param {Facts} facts @param {number[]} ids */
  const wordsOf = ({ tgt, targetHasBlanks }, ids) => {
    const tokens = ids.map((id) => tgt.tokens[id]);
    const blanks = tokens.map((token, i) => targetHasBlanks && i > 0 && blankBefore(tgt, token, tokens[i - 1]));
    return ids.map((id, i) => ({ id, token: tokens[i], blank: blanks[i] }));
  };

  /** @param {Facts} facts @param {number[]} srcIds @param {Found} found */
  const shown = (facts, srcIds, { ids, weights, choices, finished }) => ({
    source: srcIds.map((id) => facts.src.tokens[id]),
    target: wordsOf(facts, ids),
    weights: weights.map((row) => [...row]),
    choices: choices.map((words) =>
      words.map(({ id, logP }) => ({ id, token: facts.tgt.tokens[id], share: Math.exp(logP) })),
    ),
    text: decode(facts.tgt, ids),
    finished,
  });

  /** @type {(translator: Opened, request: TranslationRequest) => Promise<Outcome | undefined>} */
  const answer = async (translator, { number, text, beam, prefix }) => {
    const { maxCharacters, maxTokens } = translator;
    const numCharacters = [...text].length;
    if (numCharacters > maxCharacters) return { problem: "characters", count: numCharacters, limit: maxCharacters };
    const { ids, unknown } = translator.read(text);
    const facts = { numTokens: ids.length, unknown };
    if (!ids.length) return { ...facts, problem: "empty" };
    if (ids.length > maxTokens) return { ...facts, problem: "tokens", count: ids.length, limit: maxTokens };
    const maxLen = maxLenOf(ids.length);
    const chosen = firstWords(translator, prefix.slice(0, maxLen));
    const best = await searched(translator.model, number, ids, { beam, prefix: chosen, maxLen });
    return best && { ...facts, ...shown(translator, ids, best), prefix: chosen };
  };

  // What is left of a prefix, which may come from any address: words of the vocabulary, up to the end of sentence.
  /** @param {Facts} facts @param {number[]} prefix */
  const firstWords = ({ tgt }, prefix) => {
    const known = prefix.filter((id) => id >= EOS && id < tgt.tokens.length);
    return known.includes(EOS) ? known.slice(0, known.indexOf(EOS) + 1) : known;
  };

  /** @param {any} data */
  const respond = async (data) => {
    if (data.facts) {
      translator = open(data);
      return;
    }
    if (!translator) throw new Error("a request came before the translator");
    newest = data.number;
    const began = performance.now();
    const result = await answer(translator, data);
    if (result)
      postMessage({ ...result, number: data.number, beam: data.beam, milliseconds: performance.now() - began });
  };

  // What a promise throws does not reach the page, which tells the reader.
  onmessage = ({ data }) =>
    respond(data).catch((error) => {
      setTimeout(() => {
        throw error;
      });
    });
})();
