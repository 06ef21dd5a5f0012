// One sentence after another: the words of the source run into a box, and what is written comes out. Its wrong words are
// crossed out; the reference stands below, with the missing words in bold.
kinds.translations = (() => {
  const { flow, group, isWide, label, line, path, rect, round } = marks;
  const { BOLD, textWidth } = texts;

  /** @typedef {[string, boolean][]} Compared Words, with whether the other translation has them, too. */
  /** @typedef {[string[], Compared, Compared]} Sides */
  /** @typedef {Figure<{ axis: string, box: string, languages: [string, string], sentences: Sides[] }>} Translations */
  /** @typedef {{ text: string, width: number, right: boolean, x: number, y: number }} Word */

  const SIZE = 15;
  const GAP = 8;
  const LINE = 25;
  const NAME = 22;

  /** @param {Translations} figure @param {number} width */
  const draw = (figure, width) => {
    const { axis, box, languages, sentences } = figure.options;
    const [source, written, reference] = sides(sentences[figure.place[axis]], width);
    // As many lines as the longest sentence needs, so that nothing moves when a sentence grows.
    const all = sentences.map((each) => sides(each, width));
    const [high, low, last] = [0, 1, 2].map((k) => Math.max(...all.map((each) => height(each[k]))));
    const funnel = isWide(width) ? 30 : 24;
    const top = NAME + high + funnel;
    const below = top + 32 + funnel;
    const end = below + height(written);
    const middle = width / 2;
    const half = textWidth(box) / 2 + 14;
    const differs = reference.some(({ right }) => !right) || written.some(({ right }) => !right);
    return {
      width,
      height: below + low + NAME + last + 4,
      marks: [
        label(languages[0], middle, 13, { class: "middle quiet" }),
        wordsAt(source, NAME),
        between(middle, extent(source), NAME + height(source), half, top),
        rect(middle - half, top, 2 * half, 32, { rx: 4, class: "squeezed" }),
        label(box, middle, top + 21, { class: "middle name" }),
        between(middle, extent(written), below, half, top + 32),
        wordsAt(written, below),
        label(differs ? `${languages[1]}; right would be` : languages[1], middle, end + 14, { class: "middle quiet" }),
        group({}, differs && wordsAt(reference, end + NAME, true)),
      ],
    };
  };

  // The words of source, translation and reference in their lines, each line in the middle.
  /** @param {Sides} sentence @param {number} width */
  const sides = ([source, written, reference], width) => [
    laid(
      source.map((word) => [word, true]),
      width,
    ),
    laid(written, width),
    laid(reference, width),
  ];

  /** @param {Compared} words @param {number} width @returns {Word[]} */
  const laid = (words, width) => {
    const widths = words.map(([word]) => BOLD * textWidth(word, SIZE) + GAP);
    const places = flow(widths, 0, width, LINE);
    const ends = new Map(places.map(({ x, y }, i) => [y, x + widths[i]]));
    return words.map(([text, right], i) => {
      const { x, y } = places[i];
      return { text, right, width: widths[i], x: x + (width - (ends.get(y) ?? 0)) / 2, y };
    });
  };

  /** @param {Word[]} words */
  const height = (words) => Math.max(0, ...words.map(({ y }) => y + LINE));

  // From the left end of the widest line to the right one.
  /** @param {Word[]} words */
  const extent = (words) => [
    Math.min(Infinity, ...words.map(({ x }) => x)),
    Math.max(-Infinity, ...words.map(({ x, width }) => x + width)),
  ];

  // Of the reference the missing words are bold; of what is written the wrong ones are crossed out.
  /** @param {Word[]} words @param {number} top @param {boolean} [isReference] */
  const wordsAt = (words, top, isReference = false) =>
    words.map(({ text, right, width, x, y }) => {
      const middle = x + width / 2;
      const style = right ? "" : isReference ? "name" : "wrong";
      const at = top + y + 16;
      return [
        label(text, middle, at, { class: `middle word ${style}`.trim() }),
        !right && !isReference && line(x + 2, at - 5, x + width - 2, at - 5, { class: "struck" }),
      ];
    });

  // What runs together from a line of words into the box, or apart behind it.
  /** @param {number} middle @param {number[]} ends @param {number} edge @param {number} half @param {number} box */
  const between = (middle, [left, right], edge, half, box) =>
    right > left &&
    path(
      `M${round(left)},${round(edge)}L${round(right)},${round(edge)}` +
        `L${round(middle + half)},${round(box)}L${round(middle - half)},${round(box)}z`,
      { class: "funnel" },
    );

  return { draw };
})();
