// What the page says, in words: a token as it is written, numbers, warnings and the sentence of an opened step. Nothing
// here knows what the reader has chosen.
const wording = (() => {
  const { percent } = texts;
  const { element } = elements;

  const BYTE = /^<0x(..)>$/;

  // Both languages of a page, and how each writes its tokens.
  /** @param {Facts} facts */
  const languagesOf = ({ names, language, src, tgt, targetHasBlanks }) => ({
    source: {
      lang: names.src[0],
      name: names.src[1],
      blanks: language.words !== "characters",
      subwords: "merges" in src,
    },
    target: { lang: names.tgt[0], name: names.tgt[1], blanks: targetHasBlanks, subwords: "merges" in tgt },
  });

  // A token as the page writes it after another one. A dot stands before a token that continues a word, in a language
  // that has blanks between words.
  /** @param {string} token @param {WrittenLanguage} language @param {string} [before] */
  const written = (token, { blanks, subwords }, before = "") => {
    if (token === "<eos>") return "end";
    if (!subwords) return token;
    const plain = token.replace("▁", "").replace(BYTE, "byte $1");
    const continues = blanks && /[\p{L}\p{N}\p{M}]$/u.test(before) && /^[\p{L}\p{N}\p{M}]/u.test(token);
    return continues ? `·${plain}` : plain || "␣";
  };

  /** @param {string[]} tokens @param {WrittenLanguage} language */
  const writtenAll = (tokens, language) => tokens.map((token, i) => written(token, language, tokens[i - 1]));

  /** @param {number} share */
  const percentOf = (share) => (share < 0.005 ? "< 1%" : share > 0.995 && share < 1 ? "> 99%" : percent(share));

  // A text of one of the languages within an English one: it has its own direction, and no program translates it.
  /** @param {WrittenLanguage} language @param {string} text */
  const foreign = ({ lang }, text) => element("bdi", { lang, translate: "no" }, text);

  /** @param {Content[]} nodes */
  const quoted = (nodes) => nodes.flatMap((node, i) => [i ? ", “" : "“", node, "”"]);

  /** @type {Record<Problem["problem"], (problem: Problem) => string>} */
  const PROBLEMS = {
    empty: () => "Write a sentence above.",
    characters: ({ count, limit }) =>
      `This text has ${count} characters. The page translates at most ${limit}: shorten it.`,
    tokens: ({ count, limit }) => `This text has ${count} tokens. The page translates at most ${limit}: shorten it.`,
  };

  // What the reader should know of an answer: paragraphs.
  /** @param {Answer} answer @param {WrittenLanguage} source @param {number | undefined} longestInTraining */
  const warnings = (answer, source, longestInTraining) => {
    const { problem, unknown = [], numTokens = 0 } = answer;
    const listed = quoted(unknown.slice(0, 8).map((word) => foreign(source, word)));
    const others = unknown.length > 8 ? " and others" : "";
    const kind = source.subwords ? "Such characters are read as bytes" : "Such words are all read as one unknown word";
    return [
      problem ? [PROBLEMS[problem](answer)] : [],
      unknown.length ? ["Not in the vocabulary: ", ...listed, `${others}. ${kind}.`] : [],
      longestInTraining && numTokens > longestInTraining
        ? [`The sentence has ${numTokens} tokens; none in the training has more than ${longestInTraining}.`]
        : [],
      !problem && !answer.finished
        ? ["The translation is cut off: it has reached the length limit without an end."]
        : [],
    ].filter(({ length }) => length);
  };

  // Where the decoder looked while it wrote a word.
  /**
   * @param {number[]} weights
   * @param {string[]} sourceWords
   * @param {string} word
   * @param {{ source: WrittenLanguage, target: WrittenLanguage }} languages
   */
  const lookSentence = (weights, sourceWords, word, { source, target }) => {
    const strong = weights
      .map((weight, j) => ({ weight, word: sourceWords[j] }))
      .sort((a, b) => b.weight - a.weight)
      .filter(({ weight }, k) => k === 0 || (k < 3 && weight >= 0.1));
    const looks = strong.flatMap(({ weight, word: there }, k) => [
      k ? ", " : "",
      ...quoted([foreign(source, there)]),
      ` (${percentOf(weight)})`,
    ]);
    return ["While it writes ", ...quoted([foreign(target, word)]), ", the decoder looks most at ", ...looks, "."];
  };

  return { languagesOf, written, writtenAll, percentOf, foreign, quoted, warnings, lookSentence };
})();
