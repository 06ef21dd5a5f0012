// The row of the chosen query by each of several scores, below the queries to choose from.
kinds.scores = {
  draw(figure, width) {
    const { panels, edge } = figure.options;
    const { keys } = figure.labels;
    const wide = isWide(width);
    const masked = allowedKeys(figure, () => [0, figure.value(edge)]);
    const legend = joined([`dashed: ${goldName(figure)}`, masked.hatched && "hatched: forbidden"]);
    const [sign, sample] = [18, 30];
    const named = sign + sample + BOLD * widest(panels.map(([, title]) => title)) + 10;
    const left = wide ? Math.max(76, named) : 12;
    const step = (width - left - 2) / keys.length;
    // The scale stands at the end of the line of the queries or, on a phone, of the first title.
    const queries = queriesToChoose(figure, 50, wide ? width - 100 : width);
    const [high, each] = wide ? [30, 42] : [30, 56];
    const topOf = (k) => queries.height + 10 + k * each + (wide ? 0 : 22);
    const layout = { ...masked, left, step, high, sign, sample };
    const base = topOf(panels.length - 1) + high;
    const labelled = labelsHeight(keys, step);
    return {
      width,
      height: base + labelled + 26,
      marks: [
        label("query", 0, 18, { class: "query name" }),
        queries.marks,
        group({ transform: `translate(0 ${wide ? 4 : topOf(0) - 22})` }, scale(width - 2)),
        panels.map((_, k) => rowByScore(figure, k, topOf(k), wide ? topOf(k) + high / 2 : topOf(k) - 11, layout)),
        columnLabels(keys, left, step, base),
        wide && label("key", left - 7, base + 15, { class: "end key name" }),
        label(legend, left, base + labelled + 18, { class: "quiet" }),
      ],
    };
  },
};

// The queries in as many lines as it takes, with a frame around the chosen one.
const queriesToChoose = (figure, left, right) => {
  const texts = figure.labels.queries.map(spelled);
  const rooms = texts.map((text) => textWidth(text) + 22);
  const places = flow(rooms, left, right, 30);
  const marks = places.map(({ x, y }, i) => {
    const chosen = i === figure.place.query;
    const style = `middle ${choice(texts[i])} ${chosen ? "name" : ""}`;
    return [
      chosen && rect(x, y + 1, rooms[i] - 4, 25, { class: figure.frame("query"), rx: 4 }),
      label(texts[i], x + rooms[i] / 2 - 2, y + 18, { class: style }),
      rect(x, y, rooms[i], 28, picks({ query: i })),
    ];
  });
  return { height: places.at(-1).y + 30, marks };
};

// The chosen row by one score, named on its left or above it; before the name stands a piece of its curve above.
const rowByScore = (figure, k, top, named, { allowed, edges, left, step, high, sign, sample }) => {
  const { panels } = figure.options;
  const [array, title] = panels[k];
  const { query } = figure.place;
  const { column, panel } = figure.hover;
  const stored = figure.rowAt(array, query);
  const gold = figure.rowAt("gold", query);
  const [from, to] = allowed[query];
  const isWritten = (number, j) =>
    j >= from && j < to && (gold[j] > 0 || number >= 0.045 || (panel === k && column === j));
  const middle = (j) => left + (j + 0.5) * step;
  const row = rowOf(figure.drawn(array), query, figure.labels.keys.length);
  return [
    rowSign(stored, gold, 7, named),
    path(`M${sign + 2},${round(named)}h22`, { class: `course done ${courseStyle(k, panels.length)}` }),
    label(title, sign + sample, named + 4, { class: "name" }),
    framedRow(row, gold, edges[query], { left, top, step, high, style: "query frame thin" }),
    [...stored].map((number, j) => [
      group({}, isWritten(number, j) && numberInCell(number, middle(j), top + high / 2 + 4, step)),
      rect(left + j * step, top, step, high, picks({ column: j, panel: k })),
    ]),
  ];
};
