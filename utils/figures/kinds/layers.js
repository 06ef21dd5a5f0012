// The layers of a network, word by word, and lines from the chosen word to those that it looks at.
kinds.layers = (() => {
  const { last } = mathematics;
  const { circle, cross, group, isWide, label, line, path, picks, rect, round } = marks;
  const { BOLD, spelled, widest } = texts;

  /**
   * @typedef {Figure<{ rows: [string, string[] | number][], above: [string, string[]] | null, follow?: boolean }>} Layers
   */
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
    const top = (above ? (wide ? 38 : 52) : 14) + (figure.labels.written ? 16 : 0) - y;
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

  // The lines of the chosen dot, and pale ones of its whole row; and those that lead on from where it looks.
  /** @param {Layers} figure @param {Layout} layout @param {Row} asking */
  const drawLooks = (figure, layout, asking) => {
    const chosen = figure.place.dot - asking.first;
    /** @param {Row} row @param {number} j @param {string} style @param {number} least @param {number} [share] */
    const lines = (row, j, style, least, share = 1) => {
      const seen = layout.rows[row.looks ?? 0];
      const end = seen.looks === null ? seen.y - 12 : seen.y;
      return seen.words.map((_, k) => {
        const weight = share * figure.rowAt("weights", row.first + j)[k];
        const d = `M${round(xOf(layout, row, j))},${round(row.y)}L${round(xOf(layout, seen, k))},${round(end)}`;
        return (
          weight >= least &&
          path(d, { ...picks({ dot: row.first + j }), class: style, "stroke-width": round(12 * weight) })
        );
      });
    };
    const shares = figure.chosen("weights", "dot");
    return [
      group(
        { class: "traces" },
        asking.words.map((_, j) => j !== chosen && lines(asking, j, "band trace", 0.15)),
      ),
      group(
        {},
        columnOf(figure, layout, asking).map((row) =>
          row.words.map((_, k) => lines(row, k, "weight band link", 0.03, shares[k])),
        ),
      ),
      group({}, lines(asking, chosen, "weight band link", 0.03)),
    ];
  };

  // The rows of dots of the column at which a row looks, up to the row at which it looks, if lines lead on from there.
  /** @param {Layers} figure @param {Layout} layout @param {Row} asking */
  const columnOf = ({ options: { follow } }, { rows }, { looks }) => {
    const below = rows.slice(0, (looks ?? 0) + 1);
    return follow ? below.slice(below.map((row) => row.looks === null).lastIndexOf(true) + 1) : [];
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
            const isOff = figure.rowAt("weights", row.first + j).every((weight) => weight === 0);
            return circle(xOf(layout, row, j), row.y, here ? 8 : 6, {
              class: isOff ? (here ? "frame" : "chosen thin") : `${here ? "query" : role} outlined`,
            });
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

  // What stands above, and what is written there at this point; a cross says that this is another word.
  /** @param {Layers} figure @param {Layout} layout */
  const drawAbove = (figure, layout) => {
    const { above } = figure.options;
    if (!above) return [];
    const row = last(layout.rows);
    const { written } = figure.labels;
    const words = above[1].map((word, j) => (written ? written[figure.array("written")[j]] : word));
    const [y, from] = layout.wide ? [16, 22] : [28, 40];
    return [
      label(above[0], layout.left - 10, y, { class: "end name" }),
      wordsAt(layout, row, words, y),
      row.words.map((_, j) => {
        const x = xOf(layout, row, j);
        return line(x, from + (written ? 16 : 0), x, row.y - 8, { class: "grid" });
      }),
      words.map((word, j) => word !== above[1][j] && cross(xOf(layout, row, j), from + 8)),
    ];
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
