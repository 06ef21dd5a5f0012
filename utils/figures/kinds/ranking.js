// Texts one below the other, the best one first, each with its number as a bar: beside it on a desk, below it on a phone.
kinds.ranking = (() => {
  const { isWide, label, rect } = marks;
  const { BOLD, signed, widest } = texts;

  const HIGH = 16; // of a bar
  const HEAD = 28;

  /** @typedef {Figure<{ heading: string }>} Ranking */

  /** @param {Ranking} figure @param {number} width */
  const draw = (figure, width) => {
    const wide = isWide(width);
    const left = wide ? 12 + BOLD * widest(figure.labels.texts) : 0;
    const pitch = wide ? 26 : 44;
    const scores = figure.array("scores");
    const lines = [...figure.array("ranked")].map((text, k) => {
      const top = HEAD + k * pitch;
      const long = (width - left - 40) * scores[k];
      const bar = wide ? top : top + 18;
      const style = k ? "" : "name";
      return [
        wide
          ? label(figure.labels.texts[text], left - 8, top + 13, { class: `end ${style}` })
          : label(figure.labels.texts[text], 0, top + 13, { class: style }),
        rect(left, bar, long, HIGH, { class: k ? "trace" : "fresh", rx: 2 }),
        label(signed(scores[k], 2), left + long + 6, bar + 13, { class: `number ${style}` }),
      ];
    });
    const heading = label(figure.options.heading, 0, 14, { class: "name" });
    return { width, height: HEAD + lines.length * pitch, marks: [heading, lines] };
  };

  return { draw };
})();
