// A heat map of the weights by one of several scores, of which each query uses the keys within reach; and the chosen
// row by every score, to choose from.
kinds.windows = {
  draw(figure, width) {
    const { queries, keys } = figure.labels;
    const wide = isWide(width);
    const beside = wide ? 300 : width;
    const reach = figure.value("reach");
    const masked = allowedKeys(figure, (i) => {
      const place = Math.min(i, keys.length - 1);
      return [Math.max(0, place - reach), place + reach + 1];
    });
    const signs = [`dashed: ${goldName(figure)}`, "hatched: outside"];
    const large = heatMaps(figure, wide ? width - beside - 28 : width, {
      ...{ panels: [["weights", ""]], masked },
      legend: [signs[0], masked.hatched && signs[1]],
      longest: signs,
      row: Math.max(wide ? 32 : 24, Math.min(40, 110 / queries.length)),
    });
    return withSmallMaps(width, large, rowByScore(figure, beside, wide, masked.allowed));
  },
};

// The row of the chosen query by each score, with its weight on gold cells. They stand in the order that the shares of
// all rows have when the reach is largest, the largest first.
const rowByScore = (figure, width, wide, edges) => {
  const { labels: names } = figure.controls.score;
  const { queries, keys } = figure.labels;
  const end = { ...figure.place, reach: figure.controls.reach.values.length - 1 };
  const ranks = ranksOf(names.map((_, score) => figure.arrayAt("share", { ...end, score })[0]));
  const size = keys.length;
  const { query } = figure.place;
  const gold = figure.rowAt("gold", query);
  const indent = 20;
  const left = indent + BOLD * widest(names) + 44;
  const step = (width - left - 2) / size;
  const top = 22;
  const row = wide ? 42 : 24;
  const high = row - (wide ? 14 : 6);
  const base = top + row * names.length;
  const strip = (name, score) => {
    const y = top + ranks[score] * row;
    const middle = y + row / 2;
    const here = figure.place.score === score;
    const numbers = rowOf(figure.arrayAt("weights", { ...figure.place, score }), query, size);
    const style = here ? figure.frame("score") : "query frame thin faded";
    return [
      rowSign(numbers, gold, 7, middle),
      label(name, indent, middle + 4, { class: here ? "name choice" : "choice" }),
      label(percent(dot(gold, numbers)), left - 7, middle + 4, { class: here ? "end name" : "end quiet" }),
      framedRow(numbers, gold, edges[query], { left, top: middle - high / 2, step, high, style }),
      rect(0, y, width, row, picks({ score })),
    ];
  };
  return {
    width,
    height: base + (wide ? labelsHeight(keys, step) : 8),
    marks: [
      label(`weight of “${spelled(queries[query])}” on ${goldName(figure)}`, indent, 13, { class: "quiet" }),
      names.map(strip),
      wide && columnLabels(keys, left, step, base),
    ],
  };
};
