// Heat maps of queries by keys, and under each the chosen row as bars.
kinds.weights = {
  draw(figure, width) {
    const { panels, edge, causal } = figure.options, { queries, keys } = figure.labels;
    const wide = width >= 560, side = wide && panels.length > 1, gap = 28;
    const across = side ? (width - gap * (panels.length - 1)) / panels.length : width;
    const left = Math.max(1.08 * widest(queries) + 12, 30), step = (across - left - 8) / keys.length;
    // Several maps on a phone have no room for bars: the numbers of the chosen row stand in its cells.
    // A map of few rows has higher ones.
    const compact = !wide && panels.length > 1, row = compact ? 24 : Math.max(wide ? 26 : 24, Math.min(40, 110 / queries.length)), limit = edge ? figure.value(edge) : Infinity;
    const lookingBack = causal && figure.value(causal[0]) === causal[1];
    const edges = queries.map((_, i) => (lookingBack ? i + 1 : limit)); // the first forbidden key of each query
    const tall = compact ? 0 : wide ? 90 : 64, heading = compact ? 19 : 22;
    const under = heading + queries.length * row, base = compact ? under : under + 24 + tall;
    const named = (k) => !compact || k === panels.length - 1, labelled = labelsHeight(keys, step) + 6;
    const high = base + (compact ? 4 : labelled);
    const marks = panels.map(([array, title], k) => {
      const x = side ? k * (across + gap) : 0, y = side ? 0 : k * high, first = x + left;
      const numbers = figure.drawn(array), chosen = figure.place.query;
      const { query: row_at, column, panel } = figure.hover;
      return group({ transform: `translate(0 ${y})` },
        title && label(title, first, 14, { class: "name" }),
        k === panels.length - 1 && scale(first + keys.length * step),
        cells(numbers, keys.length, { left: first, top: heading, step, height: row, edges }),
        queries.map((text, i) => label(text, first - 7, heading + (i + 0.5) * row + 4, { class: i === chosen ? "end name" : "end" })),
        rect(first - 1, heading + chosen * row - 1, keys.length * step + 2, row + 2, { class: "query frame", rx: 3 }),
        compact
          ? [...figure.chosen(array, "query")].map((number, j) => label(number.toFixed(2), first + (j + 0.5) * step, heading + (chosen + 0.5) * row + 4, { class: "middle number halo" }))
          : [weightAxis(first, first + keys.length * step, base, tall), bars(figure.chosen(array, "query"), { left: first, step, base, height: tall, edge: edges[chosen] })],
        named(k) && columnLabels(keys, first, step, base),
        group({}, panel === k && label(numbers[row_at * keys.length + column].toFixed(2), first + (column + 0.5) * step, heading + (row_at + 0.5) * row + 4, { class: "middle halo" })),
        queries.map((_, i) => [
          rect(x, heading + i * row, left, row, picks({ query: i })),
          keys.map((_, j) => rect(first + j * step, heading + i * row, step, row, picks({ query: i, column: j, panel: k }))),
        ]));
    });
    return { width, height: side ? high : high * panels.length + (compact ? labelled : 0), marks };
  },
};
