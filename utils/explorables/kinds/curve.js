// Readings, the true curve and the estimate; a query that is dragged, and its weights under the readings.
kinds.curve = {
  remembers: ["error"],
  // Once a reading was moved, the page computes the estimate itself.
  compute(figure) {
    if (!Object.keys(figure.moved).length) return {};
    const { x, y, grid, truth, every, query, kernels, bandwidth } = figure.options;
    const kernel = kernels[figure.value("kernel")];
    const width = figure.value(bandwidth);
    const values = y.map((level, i) => figure.moved[i]?.[1] ?? level);
    const estimates = [...grid, figure.value(query)].map((at) => {
      const weights = kernelWeights(kernel, at, x, width);
      return { weights, known: weights.some((weight) => weight > 0), height: dot(weights, values) };
    });
    const asked = estimates.pop();
    const errors = estimates.flatMap(({ known, height }, i) => (known ? [height - truth[i]] : []));
    const drawn = estimates.filter((_, i) => !(i % every));
    return {
      error: [Math.sqrt(dot(errors, errors) / errors.length)],
      estimate: drawn.map(({ height }) => height),
      estimate_known: drawn.map(({ known }) => +known),
      weights: asked.weights,
      height: [asked.height],
      height_known: [+asked.known],
      case: [figure.say.length - (asked.known ? 2 : 1)],
    };
  },
  draw(figure, width) {
    const { x, y, every, query, x_label, y_label, kernels, bandwidth } = figure.options;
    const [grid, truth] = ["grid", "truth"].map((key) => figure.options[key].filter((_, i) => !(i % every)));
    const wide = width >= 560;
    const left = 46;
    const right = width - 12;
    const top = 50;
    const bottom = top + (wide ? 270 : 194);
    const base = bottom + (wide ? 44 : 36);
    const low = Math.min(...y, ...truth);
    const high = Math.max(...y, ...truth);
    const reach = (high - low) * 0.08;
    const first = grid[0];
    const last = grid.at(-1);
    const xOf = (hour) => left + ((hour - first) / (last - first)) * (right - left);
    const yOf = (level) => bottom - ((level - low + reach) / (high - low + 2 * reach)) * (bottom - top);
    const levelOf = (at) => low - reach + ((bottom - at) / (bottom - top)) * (high - low + 2 * reach);
    const estimate = figure.drawn("estimate");
    const weights = figure.drawn("weights");
    const stored = figure.array("weights");
    const known = figure.has("estimate_known") ? figure.array("estimate_known") : null;
    // Stretches with an estimate, and gaps without one, as positions on the grid.
    const stretches = [];
    const gaps = [];
    grid.forEach((_, i) => {
      const runs = !known || known[i] ? stretches : gaps;
      if (!i || (known && !known[i] !== !known[i - 1])) runs.push([]);
      runs.at(-1).push(i);
    });
    // Half the way to the next place of the grid: a gap may have a single one.
    const between = (i, side) => (xOf(grid[i]) + xOf(grid[i + side] ?? grid[i])) / 2;
    const spot = (curve, i) => [xOf(grid[i]), yOf(curve[i])];
    const values = figure.controls[query].values;
    const asked = xOf(figure.value(query));
    const across = figure.controls[bandwidth] ? ((right - left) * figure.value(bandwidth)) / (last - first) : 0; // one bandwidth to each side
    const widths = across
      ? figure.controls[bandwidth].values.map((value) => ((right - left) * value) / (last - first))
      : [];
    const answered = !figure.has("height_known") || figure.array("height_known")[0];
    const power = 10 ** Math.floor(Math.log10(high - low));
    const levels = [];
    for (let level = Math.ceil(low / power) * power; level <= high; level += power) levels.push(level);
    const hours = Array.from({ length: 5 }, (_, i) => first + (i * (last - first)) / 4);
    const place = (i) => [xOf(x[i]), yOf(figure.moved[i]?.[1] ?? y[i])];
    const held = `${x_label} ${figure.controls[query].labels[figure.place[query]]}${figure.controls[bandwidth] ? ` ± ${figure.controls[bandwidth].labels[figure.place[bandwidth]]}` : ""}`;
    const point = figure.hover.point ?? figure.taken;
    // Weights have one scale for all bandwidths: the bar of a weight of 1 reaches to the top. None that counts is invisible.
    const tall = weights.map((weight) => (weight < 0.002 ? 0 : Math.max(1.5, (base - top - 16) * weight)));
    const tallest = Math.max(...tall);
    // The largest weight is written above its bar, of equal ones above that of the nearest reading.
    const aside = tall.map((height, i) => (height === tallest ? Math.abs(xOf(x[i]) - asked) : Infinity));
    const heaviest = aside.indexOf(Math.min(...aside));
    const edges = [-1, 1].map((side) => asked + side * across).filter((edge) => across && edge > left && edge < right);
    const below = (text, at, style) =>
      group(
        {},
        edges.every((edge) => Math.abs(edge - at) > 13 + textWidth(text) / 2) &&
          label(text, at, base + 16, { class: style }),
      );
    const unit = y_label.replace(/.*\((.*)\)/, " $1");
    const error = figure.has("error") && `error ${figure.array("error")[0].toFixed(2)}${unit}`;
    const [lowest, highest] = figure.movable?.bounds[1] ?? [low, high]; // no reading leaves the picture
    const within = (level) => Math.min(highest, Math.max(lowest, level));
    const follow = (at) => evenly(at, xOf(values[0]), xOf(values.at(-1)), values.length);
    const handle = Math.min(Math.max(asked, gripHalf(held)), width - gripHalf(held));
    // What is not always there stands in a group of its own, so that all other marks keep their places: a finger holds one.
    const marks = [
      levels.map((level) => [
        line(left, yOf(level), right, yOf(level), { class: "grid" }),
        label(round(level), left - 5, yOf(level) + 4, { class: "end quiet" }),
      ]),
      label(y_label, left, 14),
      group(
        { transform: `translate(${left} ${round(base + 41)})` },
        circle(4, -4, 4, { class: "value" }),
        label("reading", 13, 0),
        line(76, -4, 94, -4, { class: "context curve" }),
        label("estimate", 101, 0),
        line(170, -4, 193, -4, { class: "truth" }),
        label("truth", 199, 0),
      ),
      label("weight", left - 5, base, { class: "weight end" }),
      line(left, base, right, base, { class: "grid" }),
      group(
        {},
        gaps.map((run) =>
          hatch(between(run[0], -1), top, between(run.at(-1), 1) - between(run[0], -1), bottom - top, 8),
        ),
      ),
      figure.controls[bandwidth] &&
        rect(
          Math.max(left, asked - across),
          top,
          Math.min(right, asked + across) - Math.max(left, asked - across),
          base - top,
          { class: "query window" },
        ),
      // Where the estimate is wrong: the smaller this area, the smaller the error.
      group(
        {},
        stretches.map((run) =>
          polyline([...run.map((i) => spot(estimate, i)), ...[...run].reverse().map((i) => spot(truth, i))], {
            class: "apart",
          }),
        ),
      ),
      polyline(
        grid.map((_, i) => spot(truth, i)),
        { class: "truth" },
      ),
      line(asked, top - 8, asked, base, { class: "query frame" }),
      x.map((hour, i) =>
        rect(xOf(hour) - (i === point ? 4 : 1.5), base - tall[i], i === point ? 8 : 3, tall[i], { class: "weight" }),
      ),
      group(
        {},
        error && [
          rect(right - 0.98 * textWidth(error, 18) - 20, 3, 15, 15, { class: "apart" }),
          label(error, right, 16, { class: "end big" }),
        ],
      ),
      group(
        {},
        error &&
          !Object.keys(figure.moved).length &&
          figure.controls[bandwidth] &&
          this.errorsSoFar(figure, right - 0.98 * textWidth(error, 18) - (wide ? 36 : 26), wide),
      ),
      hours.map((hour) => below(round(hour), xOf(hour), "middle quiet")),
      below(x_label, xOf((hours[3] + hours[4]) / 2), "middle"),
      dragged(
        query,
        (at) => ({ [query]: follow(at) }),
        rect(left, top - 26, right - left, base - top + 26, { class: "drag instead" }),
      ),
      // The edges of the window, one bandwidth away, set the bandwidth. Their grips hang outside of it.
      group(
        {},
        across > 0 &&
          [-1, 1].map((side) => {
            const edge = asked + side * across;
            const inner = Math.max(across - 8, 4);
            const from = side > 0 ? edge : edge - 11;
            return group(
              {},
              edges.includes(edge) && [
                line(edge, top, edge, base + 21, { class: "query frame thin" }),
                rect(from, base, 11, 21, { class: "query through", rx: 3 }),
                path(`M${round(from + 4)},${round(base + 6)}v9m3,0v-9`, { class: "ridge" }),
                dragged(
                  bandwidth,
                  (at) => ({ [bandwidth]: among(Math.abs(at - asked), widths) }),
                  rect(side > 0 ? asked + inner : asked - inner - 24, top, 24, base - top + 22, {
                    class: "drag instead",
                  }),
                ),
              ],
            );
          }),
      ),
      // Where readings were before the reader moved them.
      group(
        {},
        Object.keys(figure.moved).map((i) => [
          line(xOf(x[i]), yOf(y[i]), ...place(i), { class: "edge" }),
          circle(xOf(x[i]), yOf(y[i]), 4, { class: "ghost" }),
        ]),
      ),
      group(
        {},
        point !== undefined &&
          line(
            place(point)[0],
            place(point)[1] + 13,
            place(point)[0],
            Math.max(place(point)[1] + 13, base - tall[point]),
            { class: "edge" },
          ),
      ),
      // The more a reading weighs, the larger its dot. Beside an edge of the window only the dot itself is held.
      x.map((_, i) => {
        const [cx, cy] = place(i);
        const dotted = circle(cx, cy, 3 + 6 * Math.sqrt(weights[i]), { class: "value dot" });
        if (!kernels) return dotted;
        return [
          dotted,
          dragged(
            "moved",
            (_, at) => ({ points: { [i]: [x[i], within(levelOf(at))] } }),
            circle(cx, cy, i === figure.taken ? 20 : edges.some((edge) => Math.abs(edge - cx) < 24) ? 7 : 12, {
              ...picks({ point: i }),
              class: i === figure.taken ? "pull upright taken" : "pull upright",
            }),
          ),
        ];
      }),
      group(
        {},
        stretches.map((run) =>
          polyline(
            (run.length > 1 ? run : [run[0], run[0]]).map((i) => spot(estimate, i)),
            { class: "context curve" },
          ),
        ),
      ),
      group(
        {},
        tallest > 0 &&
          point === undefined &&
          label(
            stored[heaviest].toFixed(2),
            Math.min(Math.max(xOf(x[heaviest]), left + 12), right - 12),
            base - tallest - 4,
            { class: "middle number weight halo" },
          ),
      ),
      grip(handle, top - 26, held, "query"),
      arrows(figure, query, handle, top - 26, held, follow),
      group(
        {},
        answered &&
          group(
            { class: "through" },
            circle(asked, yOf(figure.drawn("height")[0]), 7, { class: "context" }),
            circle(asked, yOf(figure.drawn("height")[0]), 3.5, { class: "paper" }),
          ),
      ),
      group({}, point !== undefined && circle(...place(point), 13, { class: "chosen" })),
      group(
        {},
        point !== undefined &&
          tip(
            `${y_label.replace(/ .*/, "")} ${levelOf(place(point)[1]).toFixed(2)}${unit}, weight ${stored[point].toFixed(2)}`,
            Math.min(Math.max(place(point)[0], left + 80), right - 80),
            place(point)[1] + (place(point)[1] < top + 30 ? 30 : -22),
          ),
      ),
    ];
    return { width, height: base + 48, marks };
  },

  // A small bar for the error at each bandwidth, that of now dark; a page hides those that the reader has not seen.
  errorsSoFar(figure, right, wide) {
    const { bandwidth } = figure.options;
    const { values } = figure.controls[bandwidth];
    const most = Math.max(...figure.allOf("error"));
    const step = wide ? 14 : 7;
    const left = right - step * values.length;
    return [
      wide && label(`error by ${titled(bandwidth)}`, left - 8, 16, { class: "end quiet" }),
      line(left, 20, right - 2, 20, { class: "grid" }),
      values.map((_, k) => {
        const place = { ...figure.place, [bandwidth]: k };
        const tall = (20 * figure.arrayAt("error", place)[0]) / most;
        return group(
          { class: figure.reached[figure.stateOf("error", place)] ? "" : "later" },
          rect(left + k * step, 20 - tall, step - 2, tall, {
            class: k === figure.place[bandwidth] ? "handle" : "apart",
          }),
        );
      }),
    ];
  },
};
