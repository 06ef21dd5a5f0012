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
    const strip = wide ? 92 : 62, base = bottom + 14 + strip;
    const low = Math.min(...y, ...truth), high = Math.max(...y, ...truth), reach = (high - low) * 0.08;
    const first = grid[0], last = grid.at(-1);
    const xOf = (hour) => left + ((hour - first) / (last - first)) * (right - left);
    const yOf = (level) => bottom - ((level - low + reach) / (high - low + 2 * reach)) * (bottom - top);
    const levelOf = (at) => low - reach + ((bottom - at) / (bottom - top)) * (high - low + 2 * reach);
    const estimate = figure.drawn("estimate"), weights = figure.drawn("weights"), stored = figure.array("weights");
    const known = figure.has("estimate_known") ? figure.array("estimate_known") : null;
    // Stretches with an estimate, and gaps without one, as positions on the grid.
    const stretches = [], gaps = [];
    grid.forEach((_, i) => {
      const runs = !known || known[i] ? stretches : gaps;
      if (!i || (known && !known[i] !== !known[i - 1])) runs.push([]);
      runs.at(-1).push(i);
    });
    const spot = (curve, i) => [xOf(grid[i]), yOf(curve[i])];
    // The name of the truth stands on its highest place in the middle, that of the estimate on the side away from the truth.
    const peak = truth.reduce((best, level, i) => (i > truth.length / 4 && i < 0.75 * truth.length && (best < 0 || level > truth[best]) ? i : best), -1);
    const late = Math.round(0.84 * (grid.length - 1)), off = estimate[late] > truth[late] ? -16 : 24;
    const values = figure.controls[query].values, asked = xOf(figure.value(query));
    const across = figure.controls[bandwidth] ? ((right - left) * figure.value(bandwidth)) / (last - first) : 0; // one bandwidth to each side
    const widths = across ? figure.controls[bandwidth].values.map((value) => ((right - left) * value) / (last - first)) : [];
    const answered = !figure.has("height_known") || figure.array("height_known")[0];
    const power = 10 ** Math.floor(Math.log10(high - low)), levels = [];
    for (let level = Math.ceil(low / power) * power; level <= high; level += power) levels.push(level);
    const hours = Array.from({ length: 5 }, (_, i) => first + (i * (last - first)) / 4);
    const place = (i) => [xOf(x[i]), yOf(figure.moved[i]?.[1] ?? y[i])];
    const held = `${x_label} ${figure.controls[query].labels[figure.place[query]]}${figure.controls[bandwidth] ? ` ± ${figure.controls[bandwidth].labels[figure.place[bandwidth]]}` : ""}`;
    const point = figure.hover.point ?? figure.taken, [most] = figure.blend("most", [largestOf(figure, query)]);
    const heaviest = weights.indexOf(Math.max(...weights));
    const unit = y_label.replace(/.*\((.*)\)/, " $1");
    const [lowest, highest] = figure.movable?.bounds[1] ?? [low, high]; // no reading leaves the picture
    const within = (level) => Math.min(highest, Math.max(lowest, level)), bar = (strip - 14) / most;
    // What is not always there stands in a group of its own, so that all other marks keep their places: a finger holds one.
    const marks = [
      levels.map((level) => [line(left, yOf(level), right, yOf(level), { class: "grid" }), label(round(level), left - 5, yOf(level) + 4, { class: "end quiet" })]),
      label(y_label, left, 14), circle(left + textWidth(y_label) + 24, 10, 4, { class: "value swatch" }), label("reading", left + textWidth(y_label) + 33, 14),
      line(left, base, right, base, { class: "grid" }),
      group({}, gaps.map((run) => hatch(xOf(grid[run[0]]), top, xOf(grid[run.at(-1)]) - xOf(grid[run[0]]), bottom - top, 8))),
      figure.controls[bandwidth] && rect(Math.max(left, asked - across), top, Math.min(right, asked + across) - Math.max(left, asked - across), base - top, { class: "query window" }),
      // Where the estimate is wrong: the smaller this area, the smaller the error.
      group({}, stretches.map((run) => polyline([...run.map((i) => spot(estimate, i)), ...[...run].reverse().map((i) => spot(truth, i))], { class: "value apart" }))),
      polyline(grid.map((_, i) => spot(truth, i)), { class: "truth" }),
      x.map((hour, i) => rect(xOf(hour) - (i === point ? 4 : 1.5), base - bar * weights[i], i === point ? 8 : 3, bar * weights[i], { class: "weight" })),
      line(asked, top - 8, asked, base, { class: "query frame" }),
      group({}, weights[heaviest] > 0 && label(stored[heaviest].toFixed(2), left - 5, base - bar * weights[heaviest] + 4, { class: "end number" }), weights[heaviest] > 0 && line(left, base - bar * weights[heaviest], xOf(x[heaviest]), base - bar * weights[heaviest], { class: "grid" })),
      asked < (left + right) / 2 ? label("weights of the readings", right, base - strip + 14, { class: "end" }) : label("weights of the readings", left + 12, base - strip + 14),
      group({}, figure.has("error") && label(`error ${figure.array("error")[0].toFixed(2)}${unit}`, right, 16, { class: "end big" })),
      hours.map((hour) => label(round(hour), xOf(hour), base + 16, { class: "middle quiet" })),
      label(x_label, (left + right) / 2, base + 32, { class: "middle" }),
      dragged(query, (at) => ({ [query]: evenly(at, xOf(values[0]), xOf(values.at(-1)), values.length) }),
        rect(left, top - 26, right - left, base - top + 26, { class: "drag instead" })),
      // The edges of the window, one bandwidth away, set the bandwidth.
      group({}, across > 0 && [-1, 1].map((side) => {
        // In a narrow window the grips stand outside of it, so that they do not cover each other or the query.
        const edge = asked + side * across, held = asked + side * Math.max(across, 12), inner = Math.max(across - 10, 5), outer = Math.max(across + 14, inner + 24);
        return group({}, edge > left && edge < right && [
          line(edge, top, edge, base, { class: "query frame thin" }),
          rect(held - 5, bottom - 4, 10, 38, { class: "query through", rx: 5 }),
          path(`M${round(held - 1.5)},${round(bottom + 9)}v12m3,0v-12`, { class: "ridge" }),
          dragged(bandwidth, (at) => ({ [bandwidth]: among(Math.abs(at - asked), widths) }),
            rect(side > 0 ? asked + inner : asked - outer, top, outer - inner, base - top, { class: "drag instead" })),
        ]);
      })),
      // Where readings were before the reader moved them.
      group({}, Object.keys(figure.moved).map((i) => [line(xOf(x[i]), yOf(y[i]), ...place(i), { class: "edge" }), circle(xOf(x[i]), yOf(y[i]), 4, { class: "ghost" })])),
      group({}, point !== undefined && line(place(point)[0], place(point)[1] + 13, place(point)[0], base - bar * weights[point], { class: "edge" })),
      // The more a reading weighs, the larger its dot.
      x.map((_, i) => {
        const [cx, cy] = place(i), dotted = circle(cx, cy, 3 + 6 * Math.sqrt(weights[i]), { class: "value dot" });
        if (!kernels) return dotted;
        return [dotted, dragged("moved", (_, at) => ({ points: { [i]: [x[i], within(levelOf(at))] } }),
          circle(cx, cy, i === figure.taken ? 20 : 12, { ...picks({ point: i }), class: i === figure.taken ? "pull upright taken" : "pull upright" }))];
      }),
      group({}, stretches.map((run) => polyline((run.length > 1 ? run : [run[0], run[0]]).map((i) => spot(estimate, i)), { class: "context curve" }))),
      peak >= 0 && label("truth", spot(truth, peak)[0], spot(truth, peak)[1] - 9, { class: "middle halo pale" }),
      group({}, (!known || known[late]) && label("estimate", spot(estimate, late)[0] + 12, Math.max(top + 12, Math.min(bottom - 6, spot(estimate, late)[1] + off)), { class: "middle name halo" })),
      grip(Math.min(Math.max(asked, gripHalf(held)), width - gripHalf(held)), top - 26, held, "query"),
      group({}, answered && group({ class: "through" }, circle(asked, yOf(figure.drawn("height")[0]), 7, { class: "context" }), circle(asked, yOf(figure.drawn("height")[0]), 3.5, { class: "paper" }))),
      group({}, point !== undefined && circle(...place(point), 13, { class: "chosen" })),
      group({}, point !== undefined && tip(`${y_label.replace(/ .*/, "")} ${levelOf(place(point)[1]).toFixed(2)}${unit}, weight ${stored[point].toFixed(2)}`,
        Math.min(Math.max(place(point)[0], left + 80), right - 80), place(point)[1] + (place(point)[1] < top + 30 ? 30 : -22))),
    ];
    return { width, height: base + 40, marks };
  },
};

// The end of the axis of weights: the largest weight that a reading gets at any place of the query.
const largestOf = (figure, query) => Math.max(0.1, ...figure.controls[query].values.map((_, i) => Math.max(...figure.arrayAt("weights", { ...figure.place, [query]: i }))));
