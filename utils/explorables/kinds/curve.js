// Readings, the true curve and the estimate; a query that is dragged, and its weights under the readings.
kinds.curve = {
  // Once a reading was moved, the page computes the estimate itself.
  compute(figure) {
    if (!Object.keys(figure.moved).length) return {};
    const { x, y, grid, truth, query, kernels, bandwidth } = figure.options;
    const kernel = kernels[figure.value("kernel")], width = figure.value(bandwidth);
    const values = y.map((level, i) => figure.moved[i]?.[1] ?? level);
    const estimates = [...grid, figure.value(query)].map((at) => {
      const weights = kernelWeights(kernel, at, x, width);
      return { weights, known: weights.some((weight) => weight > 0), height: dot(weights, values) };
    });
    const asked = estimates.pop(), errors = estimates.flatMap(({ known, height }, i) => (known ? [height - truth[i]] : []));
    return {
      error: [Math.sqrt(dot(errors, errors) / errors.length)],
      estimate: estimates.map(({ height }) => height), estimate_known: estimates.map(({ known }) => +known),
      weights: asked.weights, height: [asked.height], height_known: [+asked.known],
      case: [figure.say.length - (asked.known ? 2 : 1)],
    };
  },
  draw(figure, width) {
    const { x, y, grid, truth, query, x_label, y_label, kernels, bandwidth } = figure.options;
    const wide = width >= 560, left = 30, right = width - 12, top = 50, bottom = top + (wide ? 230 : 146);
    const strip = wide ? 74 : 52, base = bottom + 30 + strip;
    const low = Math.min(...y, ...truth), high = Math.max(...y, ...truth), reach = (high - low) * 0.08;
    const first = grid[0], last = grid.at(-1);
    const xOf = (hour) => left + ((hour - first) / (last - first)) * (right - left);
    const yOf = (level) => bottom - ((level - low + reach) / (high - low + 2 * reach)) * (bottom - top);
    const levelOf = (at) => low - reach + ((bottom - at) / (bottom - top)) * (high - low + 2 * reach);
    const estimate = figure.drawn("estimate"), weights = figure.drawn("weights");
    const known = figure.has("estimate_known") ? figure.array("estimate_known") : null;
    const stretches = [];
    estimate.forEach((level, i) => {
      if (known && !known[i]) return;
      if (!i || (known && !known[i - 1])) stretches.push([]);
      stretches.at(-1).push([xOf(grid[i]), yOf(level)]);
    });
    const values = figure.controls[query].values, asked = xOf(figure.value(query));
    const across = figure.controls[bandwidth] ? ((right - left) * figure.value(bandwidth)) / (last - first) : 0; // one bandwidth to each side
    const widths = across ? figure.controls[bandwidth].values.map((value) => ((right - left) * value) / (last - first)) : [];
    const answered = !figure.has("height_known") || figure.array("height_known")[0];
    const power = 10 ** Math.floor(Math.log10(high - low)), levels = [];
    for (let level = Math.ceil(low / power) * power; level <= high; level += power) levels.push(level);
    const hours = Array.from({ length: 5 }, (_, i) => first + (i * (last - first)) / 4);
    const place = (i) => [xOf(x[i]), yOf(figure.moved[i]?.[1] ?? y[i])];
    const held = `${x_label} ${figure.controls[query].labels[figure.place[query]]}`;
    const point = figure.hover.point ?? figure.taken, most = Math.max(0.1, roundTop(figure.array("weights")));
    const unit = y_label.replace(/.*\((.*)\)/, " $1");
    const [lowest, highest] = figure.movable?.bounds[1] ?? [low, high]; // no reading leaves the picture
    const within = (level) => Math.min(highest, Math.max(lowest, level)), bar = strip / most;
    const marks = [
      levels.map((level) => [line(left, yOf(level), right, yOf(level), { class: "grid" }), label(round(level), left - 5, yOf(level) + 4, { class: "end quiet" })]),
      label(y_label, left, 14), namesOfLines(right),
      weightAxis(left, right, base, bar, [0, most]),
      figure.controls[bandwidth] && rect(Math.max(left, asked - across), top, Math.min(right, asked + across) - Math.max(left, asked - across), base - top, { class: "query window" }),
      polyline(grid.map((hour, i) => [xOf(hour), yOf(truth[i])]), { class: "truth" }),
      x.map((hour, i) => rect(xOf(hour) - (i === point ? 4 : 2), base - bar * weights[i], i === point ? 8 : 4, bar * weights[i], { class: "weight" })),
      line(asked, top - 8, asked, base, { class: "query frame" }),
      label("weights of the readings", left, bottom + 22, { class: "halo" }),
      figure.has("error") && label(`error ${figure.array("error")[0].toFixed(2)}${unit}`, right, bottom + 22, { class: "end big halo" }),
      hours.map((hour) => label(round(hour), xOf(hour), base + 16, { class: "middle quiet" })),
      label(x_label, (left + right) / 2, base + 32, { class: "middle" }),
      dragged(query, (at) => ({ [query]: nearestStep(at, xOf(values[0]), xOf(values.at(-1)), values.length) }),
        rect(left, top - 26, right - left, base - top + 26, { class: "drag" })),
      // The edges of the window, one bandwidth away, set the bandwidth.
      across > 0 && [-1, 1].map((side) => {
        const edge = asked + side * across, inner = Math.max(across - 10, 8), outer = across + 14; // not on the query
        return edge > left && edge < right && [
          rect(edge - 3, top + 18, 6, 30, { class: "query through", rx: 3 }),
          dragged(bandwidth, (at) => ({ [bandwidth]: nearestPlace(Math.abs(at - asked), widths) }),
            rect(side > 0 ? asked + inner : asked - outer, top, outer - inner, base - top, { class: "drag" })),
        ];
      }),
      // The more a reading weighs, the larger its dot.
      x.map((_, i) => {
        const [cx, cy] = place(i), dotted = circle(cx, cy, 3 + 6 * Math.sqrt(weights[i]), { class: "value dot" });
        if (!kernels) return dotted;
        return [dotted, dragged("moved", (_, at) => ({ points: { [i]: [x[i], within(levelOf(at))] } }),
          circle(cx, cy, i === figure.taken ? 20 : 12, { ...picks({ point: i }), class: i === figure.taken ? "pull upright taken" : "pull upright" }))];
      }),
      group({}, stretches.map((stretch) => polyline(stretch.length > 1 ? stretch : [stretch[0], stretch[0]], { class: "context curve" }))),
      grip(Math.min(Math.max(asked, gripHalf(held)), width - gripHalf(held)), top - 26, held, "query"),
      answered && group({ class: "through" }, circle(asked, yOf(figure.drawn("height")[0]), 7, { class: "context" }), circle(asked, yOf(figure.drawn("height")[0]), 3.5, { class: "paper" })),
      point !== undefined && circle(...place(point), 13, { class: "chosen" }),
      point !== undefined && label(`${y_label.replace(/ .*/, "")} ${levelOf(place(point)[1]).toFixed(2)}${unit}, weight ${weights[point].toFixed(2)}`,
        Math.min(Math.max(place(point)[0], left + 70), right - 70), place(point)[1] + (place(point)[1] < top + 30 ? 28 : -18), { class: "middle halo" }),
    ];
    return { width, height: base + 40, marks };
  },
};

// What the dots and both lines are; it ends at `right`.
const namesOfLines = (right) => {
  const [read, estimated, truth] = [196, 124, 40].map((before) => right - before);
  return [
    circle(read - 8, 10, 4, { class: "value swatch" }), label("reading", read, 14),
    line(estimated - 22, 10, estimated - 4, 10, { class: "context curve swatch" }), label("estimate", estimated, 14),
    line(truth - 24, 10, truth - 4, 10, { class: "truth swatch" }), label("truth", truth, 14),
  ];
};
