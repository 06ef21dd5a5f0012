// The keys and values that a layer keeps of the words so far: a row of blocks for each key head, and lines from the heads
// that ask with it.
kinds.cache = (() => {
  const { circle, columnLabels, isWide, label, labelsHeight, line, picks, rect } = marks;

  const PITCH = 26; // of the heads
  const HIGH = 20;
  const TOP = 26;

  /** @param {Figure} figure @param {number} width */
  const draw = (figure, width) => {
    const words = figure.labels.text;
    const serves = [...figure.array("serves")];
    const left = isWide(width) ? 150 : 84;
    const step = (width - left) / words.length;
    const bottom = TOP + PITCH * serves.length;
    /** @param {number} head */
    const yOf = (head) => TOP + PITCH * (head + 0.5);
    // A key head stands in the middle of the heads that ask with it.
    const rows = [...new Set(serves)].map((row) => {
      const asking = serves.flatMap((served, head) => (served === row ? [head] : []));
      return { asking, y: asking.reduce((sum, head) => sum + yOf(head), 0) / asking.length };
    });
    const legend = bottom + labelsHeight(words, step) + 18;
    return {
      width,
      height: legend + 8,
      marks: [
        rows.map(({ asking, y }) => asking.map((head) => line(28, yOf(head), left - 6, y, { class: "ray" }))),
        serves.map((_, head) => [
          label(head + 1, 14, yOf(head) + 4, { class: "end number" }),
          circle(26, yOf(head), 6, { class: "query outlined" }),
        ]),
        rows.map(({ y }) => words.map((_, j) => block(left + j * step, y - HIGH / 2, step, j <= figure.place.words))),
        label("heads", 2, 14, { class: "name" }),
        label(isWide(width) ? "what the layer keeps of each word" : "kept of each word", left, 14, { class: "name" }),
        columnLabels(words, left, step, bottom),
        [
          rect(left, legend - 10, 12, 12, { class: "key" }),
          label("key", left + 17, legend),
          rect(left + 60, legend - 10, 12, 12, { class: "value" }),
          label("value", left + 77, legend),
        ],
        words.map((_, j) => rect(left + j * step, TOP, step, bottom - TOP + 18, picks({ words: j }, true))),
      ],
    };
  };

  // A key and a value side by side; those of words that come later are not there yet.
  /** @param {number} x @param {number} y @param {number} step @param {boolean} kept */
  const block = (x, y, step, kept) => {
    const half = (step - 3) / 2;
    return [
      rect(x + 1, y, half, HIGH, { class: kept ? "key" : "trace" }),
      rect(x + 1 + half, y, half, HIGH, { class: kept ? "value" : "trace" }),
    ];
  };

  return { draw };
})();
