// Readings, the true curve and the estimate; a query that is dragged, and its weights under the readings.
kinds.curve = (() => {
  const { circle, dragged, group, hatch, isWide, label, line, path, polyline, rect, round } = marks;
  const { among, arrows, grip, gripHalf } = grips;
  const { BOLD, textWidth, tickText } = texts;
  const { argmin, last } = mathematics;

  /**
   * @typedef {Figure<{ x: number[], y: number[], grid: number[], truth: number[], x_label: string, y_label: string }>} Curve
   */
  /** @typedef {ReturnType<typeof curveLayout>} Layout */

  // The unit of the levels, which their name has in brackets.
  /** @param {Curve} figure */
  const unitOf = (figure) => figure.options.y_label.replace(/.*\((.*)\)/, " $1");

  /** @param {Curve} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = curveLayout(figure, width);
    const { left, right, top, base, asked, handle, readings, follow } = layout;
    // What is not always there stands in a group of its own, so that all other marks keep their places: a finger holds
    // one.
    const marks = [
      drawAxes(figure, layout),
      group({}, drawGaps(layout)),
      drawWindow(layout),
      drawTruth(layout),
      line(asked, top - 8, asked, base, { class: "query frame" }),
      readings.map(({ x, tall }) => rect(x - 1.5, base - tall, 3, tall, { class: "weight" })),
      drawError(figure, layout),
      drawHours(figure.options.x_label, layout),
      dragged(
        "query",
        (at) => ({ query: follow(at) }),
        rect(left, top - 26, right - left, base - top + 26, { class: "drag instead" }),
      ),
      group({}, drawEdges(layout, figure.controls.bandwidth.values)),
      drawDots(layout),
      group({}, drawEstimate(layout)),
      group({}, drawLargestWeight(figure, layout)),
      grip(handle, top - 26, layout.held, "query"),
      arrows(figure, "query", handle, top - 26, layout.held, follow),
      group({}, drawAnswer(figure, layout)),
    ];
    return { width, height: base + 48, marks };
  };

  // Where everything stands: the frame and its scales, the query with its window, the readings, and both curves.
  /** @param {Curve} figure @param {number} width */
  const curveLayout = (figure, width) => {
    const { x, y, grid, truth, x_label } = figure.options;
    const frame = frameOf(grid, [...y, ...truth], width);
    const { left, right, top, base, xOf, yOf, widthOf } = frame;
    const asked = xOf(figure.value("query"));
    const across = widthOf(figure.value("bandwidth")); // one bandwidth to each side
    const held = `${x_label} ${figure.controls.query.labels[figure.place.query]}`;
    const weights = figure.array("weights");
    // Weights have one scale for all bandwidths: the bar of a weight of 1 reaches to the top. None that counts is
    // invisible.
    /** @param {number} weight */
    const tallOf = (weight) => (weight < 0.002 ? 0 : Math.max(1.5, (base - top - 16) * weight));
    /** @param {Numbers} levels */
    const pointsOf = (levels) => grid.map((hour, i) => [xOf(hour), yOf(levels[i])]);
    return {
      ...frame,
      asked,
      across,
      edges: [-1, 1].map((side) => asked + side * across).filter((edge) => edge > left && edge < right),
      held,
      handle: Math.min(Math.max(asked, gripHalf(held)), width - gripHalf(held)),
      /** @param {number} at */
      follow: (at) => among(at, figure.controls.query.values.map(xOf)),
      readings: x.map((hour, i) => ({ x: xOf(hour), y: yOf(y[i]), weight: weights[i], tall: tallOf(weights[i]) })),
      truth: pointsOf(truth),
      estimate: pointsOf(figure.array("estimate")),
      ...stretchesOf(figure, grid),
    };
  };

  // The frame of the curves, with their scales; weights stand on a base below it.
  /** @param {number[]} grid @param {number[]} levels @param {number} width */
  const frameOf = (grid, levels, width) => {
    const wide = isWide(width);
    const left = 46;
    const right = width - 12;
    const top = 50;
    const bottom = top + (wide ? 270 : 194);
    const base = bottom + (wide ? 44 : 36);
    const low = Math.min(...levels);
    const high = Math.max(...levels);
    const reach = (high - low || 1) * 0.08;
    const [first, end] = [grid[0], last(grid)];
    const hours = Array.from({ length: 5 }, (_, i) => first + (i * (end - first)) / 4);
    /** @param {number} hour */
    const xOf = (hour) => left + ((hour - first) / (end - first)) * (right - left);
    /** @param {number} level */
    const yOf = (level) => bottom - ((level - low + reach) / (high - low + 2 * reach)) * (bottom - top);
    /** @param {number} span */
    const widthOf = (span) => ((right - left) * span) / (end - first);
    return { left, right, top, bottom, base, low, high, hours, xOf, yOf, widthOf };
  };

  // Stretches with an estimate, and gaps without one, as positions on the grid.
  /** @param {Curve} figure @param {number[]} grid */
  const stretchesOf = (figure, grid) => {
    const known = figure.array("estimate_known");
    /** @type {number[][]} */
    const stretches = [];
    /** @type {number[][]} */
    const gaps = [];
    grid.forEach((_, i) => {
      const runs = known[i] ? stretches : gaps;
      if (!i || !known[i] !== !known[i - 1]) runs.push([]);
      last(runs).push(i);
    });
    return { stretches, gaps };
  };

  // The levels, the key, and the line on which the weights stand.
  /** @param {Curve} figure @param {Layout} layout */
  const drawAxes = (figure, { left, right, base, low, high, yOf }) => {
    const power = 10 ** Math.floor(Math.log10(high - low));
    const first = Math.ceil(low / power);
    const levels = Array.from({ length: Math.floor(high / power) - first + 1 }, (_, i) => (first + i) * power);
    return [
      levels.map((level) => [
        line(left, yOf(level), right, yOf(level), { class: "grid" }),
        label(tickText(level, power), left - 5, yOf(level) + 4, { class: "end quiet" }),
      ]),
      label(figure.options.y_label, left, 14),
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
    ];
  };

  // Hatched to half the way to the next place of the grid: a gap may have a single one.
  /** @param {Layout} layout */
  const drawGaps = ({ gaps, truth, top, bottom }) => {
    /** @param {number} i @param {number} side */
    const between = (i, side) => (truth[i][0] + (truth[i + side] ?? truth[i])[0]) / 2;
    const ends = gaps.map((run) => [between(run[0], -1), between(last(run), 1)]);
    return ends.map(([from, to]) => hatch(from, top, to - from, bottom - top, 8));
  };

  /** @param {Layout} layout */
  const drawWindow = ({ left, right, top, base, asked, across }) => {
    const from = Math.max(left, asked - across);
    return rect(from, top, Math.min(right, asked + across) - from, base - top, { class: "query window" });
  };

  // Between the true curve and the estimate an area: the smaller it is, the smaller the error.
  /** @param {Layout} layout */
  const drawTruth = ({ stretches, estimate, truth }) => {
    /** @param {number[]} run */
    const outline = (run) => [...run.map((i) => estimate[i]), ...[...run].reverse().map((i) => truth[i])];
    const areas = stretches.map((run) => polyline(outline(run), { class: "apart" }));
    return [group({}, areas), polyline(truth, { class: "truth" })];
  };

  // The error with its key.
  /** @param {Curve} figure @param {Layout} layout */
  const drawError = (figure, { right }) => {
    const text = `error ${figure.array("error")[0].toFixed(2)}${unitOf(figure)}`;
    const left = right - BOLD * textWidth(text, 18);
    return [rect(left - 26, 3, 15, 15, { class: "apart" }), label(text, right, 16, { class: "end big" })];
  };

  // The hours and the name of their axis, where no grip of the window hangs.
  /** @param {string} name @param {Layout} layout */
  const drawHours = (name, { hours, base, edges, xOf }) => {
    /** @param {string} text @param {number} x @param {string} style */
    const below = (text, x, style) => {
      const clear = edges.every((edge) => Math.abs(edge - x) > 13 + textWidth(text) / 2);
      return group({}, clear && label(text, x, base + 16, { class: style }));
    };
    const numbers = hours.map((hour) => below(tickText(hour, hours[1] - hours[0]), xOf(hour), "middle quiet"));
    return [numbers, below(name, xOf((hours[3] + hours[4]) / 2), "middle")];
  };

  // The edges of the window, one bandwidth away, set the bandwidth. Their grips hang outside of it.
  /** @param {Layout} layout @param {number[]} bandwidths */
  const drawEdges = ({ asked, across, edges, top, base, widthOf }, bandwidths) => {
    const widths = bandwidths.map(widthOf);
    const inner = Math.max(across - 8, 4);
    return [-1, 1].map((side) => {
      const edge = asked + side * across;
      const from = side > 0 ? edge : edge - 11;
      const held = side > 0 ? asked + inner : asked - inner - 24;
      return group(
        {},
        edges.includes(edge) && [
          line(edge, top, edge, base + 21, { class: "query frame thin" }),
          rect(from, base, 11, 21, { class: "query", rx: 3 }),
          path(`M${round(from + 4)},${round(base + 6)}v9m3,0v-9`, { class: "ridge" }),
          dragged(
            "bandwidth",
            (at) => ({ bandwidth: among(Math.abs(at - asked), widths) }),
            rect(held, top, 24, base - top + 22, { class: "drag instead" }),
          ),
        ],
      );
    });
  };

  // The readings as dots: the more one weighs, the larger.
  /** @param {Layout} layout */
  const drawDots = ({ readings }) =>
    readings.map(({ x, y, weight }) => circle(x, y, 3 + 6 * Math.sqrt(weight), { class: "value dot" }));

  // A stretch of one place is a line of no length, whose round ends can be seen.
  /** @param {Layout} layout */
  const drawEstimate = ({ stretches, estimate }) => {
    /** @param {number[]} run */
    const pointsOf = (run) => (run.length > 1 ? run : [...run, ...run]).map((i) => estimate[i]);
    return stretches.map((run) => polyline(pointsOf(run), { class: "context curve" }));
  };

  // The largest weight is written above its bar, of equal ones above that of the nearest reading.
  /** @param {Curve} figure @param {Layout} layout */
  const drawLargestWeight = (figure, { readings, asked, left, right, base }) => {
    const tallest = Math.max(...readings.map(({ tall }) => tall));
    const aside = readings.map(({ x, tall }) => (tall === tallest ? Math.abs(x - asked) : Infinity));
    const heaviest = argmin(aside);
    const text = figure.array("weights")[heaviest].toFixed(2);
    const x = Math.min(Math.max(readings[heaviest].x, left + 12), right - 12);
    return tallest > 0 && label(text, x, base - tallest - 4, { class: "middle number weight halo" });
  };

  // The estimate at the query, if there is one.
  /** @param {Curve} figure @param {Layout} layout */
  const drawAnswer = (figure, { asked, yOf }) => {
    if (!figure.array("height_known")[0]) return [];
    const y = yOf(figure.array("height")[0]);
    const ring = [circle(asked, y, 7, { class: "context" }), circle(asked, y, 3.5, { class: "paper" })];
    return group({}, ring);
  };

  return { draw };
})();
