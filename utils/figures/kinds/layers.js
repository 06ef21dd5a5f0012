// The layers of a network, word by word, and lines from the chosen word to those that it looks at.
kinds.layers = (() => {
  const { last } = mathematics;
  const { circle, group, isWide, label, line, path, picks, rect, round } = marks;
  const { BOLD, spelled, widest } = texts;

  /** @typedef {Figure<{ rows: [string, string[] | number][], above: [string, string[]] | null }>} Layers */
  /** @typedef {{ name: string, words: string[], looks: number | null, first: number, y: number }} Row */
  /** @typedef {{ rows: Row[], left: number, right: number, top: number, pitch: number, wide: boolean }} Layout */

  /** @param {Layers} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = layersLayout(figure, width);
    const { rows } = layout;
    const asking = last(rows.filter(({ looks, first }) => looks !== null && first <= figure.place.dot));
    return {
      width,
      height: rows[0].y + 26,
      marks: [
        drawStreams(layout),
        drawLooks(figure, layout, asking),
        rows.map((row) => drawRow(figure, layout, row, asking)),
        drawAbove(figure, layout),
        drawWeights(figure, layout, asking),
      ],
    };
  };

  // Where each row is, from the lowest; `first` is the number of its first dot.
  /** @param {Layers} figure @param {number} width */
  const layersLayout = (figure, width) => {
    const wide = isWide(width);
    const [pitch, gap] = wide ? [38, 52] : [38, 60];
    const { rows: given, above } = figure.options;
    /** @type {Row[]} */
    const rows = [];
    let [first, y] = [0, 0];
    for (const [name, what] of given) {
      const isText = typeof what !== "number";
      y -= rows.length ? (isText ? gap : pitch) : 0;
      const words = isText ? what : last(rows).words;
      rows.push({ name, words, looks: isText ? null : what, first, y });
      first += isText ? 0 : words.length;
    }
    const top = (above ? (wide ? 38 : 52) : 14) - y;
    const names = [...given.map(([name]) => name), ...(above ? [above[0]] : [])];
    return {
      ...{ wide, pitch, top: top + y, right: width - (wide ? 0 : 10), left: 12 + BOLD * widest(names) },
      rows: rows.map((row) => ({ ...row, y: row.y + top })),
    };
  };

  /** @param {Layout} layout @param {Row} row @param {number} j */
  const xOf = ({ left, right }, { words }, j) => left + ((j + 0.5) * (right - left)) / words.length;

  // What a word keeps from row to row: a thin line, to which each row adds.
  /** @param {Layout} layout */
  const drawStreams = (layout) =>
    layout.rows.map((row, r) =>
      row.looks === null
        ? false
        : row.words.map((_, j) => {
            const x = xOf(layout, row, j);
            return line(x, layout.rows[r - 1].y - 7, x, row.y, { class: "grid" });
          }),
    );

  // The lines of the chosen dot, and pale ones of its whole row.
  /** @param {Layers} figure @param {Layout} layout @param {Row} asking */
  const drawLooks = (figure, layout, asking) => {
    const seen = layout.rows[asking.looks ?? 0];
    const end = seen.looks === null ? seen.y - 12 : seen.y;
    const chosen = figure.place.dot - asking.first;
    /** @param {number} j @param {string} style */
    const lines = (j, style) =>
      seen.words.map((_, k) => {
        const weight = figure.rowAt("weights", asking.first + j)[k];
        const d = `M${round(xOf(layout, asking, j))},${round(asking.y)}L${round(xOf(layout, seen, k))},${round(end)}`;
        return (
          weight >= (j === chosen ? 0.03 : 0.15) &&
          path(d, { ...picks({ dot: asking.first + j }), class: style, "stroke-width": round(12 * weight) })
        );
      });
    return [
      group(
        { class: "traces" },
        asking.words.map((_, j) => j !== chosen && lines(j, "band trace")),
      ),
      group({}, lines(chosen, "weight band link")),
    ];
  };

  // A row of words, each of which chooses the dot above it, or a row of dots.
  /** @param {Layers} figure @param {Layout} layout @param {Row} row @param {Row} asking */
  const drawRow = (figure, layout, row, asking) => {
    const { rows, left, pitch } = layout;
    const isText = row.looks === null;
    const role = row === rows[asking.looks ?? 0] ? "key" : "score";
    return [
      label(row.name, left - 10, row.y + 4, { class: `end ${row === asking || isText ? "name" : "quiet"}` }),
      isText
        ? wordsAt(layout, row, row.words, row.y + 4)
        : row.words.map((_, j) => {
            const here = row.first + j === figure.place.dot;
            return circle(xOf(layout, row, j), row.y, here ? 8 : 6, { class: `${here ? "query" : role} outlined` });
          }),
      row.words.map((_, j) => {
        const half = (xOf(layout, row, 1) - xOf(layout, row, 0)) / 2;
        return rect(xOf(layout, row, j) - half, row.y - pitch / 2, 2 * half, pitch, picks({ dot: row.first + j }));
      }),
    ];
  };

  // Words beside one another, turned where there is no room for them.
  /** @param {Layout} layout @param {Row} row @param {string[]} words @param {number} y */
  const wordsAt = (layout, row, words, y) => {
    const room = xOf(layout, row, 1) - xOf(layout, row, 0);
    const turned = widest(words.map(spelled)) > room - 4;
    return words.map(spelled).map((word, j) => {
      const x = xOf(layout, row, j);
      return turned
        ? label(word, 0, 0, {
            transform: `translate(${round(x + 6)} ${round(y - 4)}) rotate(-40)`,
            class: "middle halo",
          })
        : label(word, x, y, { class: "middle halo" });
    });
  };

  /** @param {Layers} figure @param {Layout} layout */
  const drawAbove = ({ options: { above } }, layout) => {
    const row = last(layout.rows);
    return (
      above && [
        label(above[0], layout.left - 10, layout.wide ? 16 : 28, { class: "end name" }),
        wordsAt(layout, row, above[1], layout.wide ? 16 : 28),
        row.words.map((_, j) => {
          const x = xOf(layout, row, j);
          return line(x, layout.wide ? 22 : 40, x, row.y - 8, { class: "grid" });
        }),
      ]
    );
  };

  // The larger weights, below the words that have them.
  /** @param {Layers} figure @param {Layout} layout @param {Row} asking */
  const drawWeights = (figure, layout, asking) => {
    const seen = layout.rows[asking.looks ?? 0];
    const weights = figure.chosen("weights", "dot");
    const y = seen.y + (seen.looks === null ? (layout.wide ? 20 : 24) : 20);
    return seen.words.map(
      (_, k) =>
        weights[k] >= 0.1 && label(weights[k].toFixed(2), xOf(layout, seen, k), y, { class: "middle number halo" }),
    );
  };

  return { draw };
})();
