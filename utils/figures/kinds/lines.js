// Curves over one axis, which a grip moves, and dots that ride on the last of them.
kinds.lines = (() => {
  const { last } = mathematics;
  const { circle, group, isWide, label, line, polyline, rect } = marks;
  const { spelled, textWidth, tickText } = texts;
  const { among, grip, gripHalf, gripMoved, gripText } = grips;

  /**
   * @typedef {Figure<{ curves: [string, string][], grid: number[], dots: number[], range: number[], grip: string, x_label: string, y_label: string }>} Lines
   */
  /** @typedef {ReturnType<typeof linesLayout>} Layout */

  /** @param {Lines} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = linesLayout(figure, width);
    const { asked, held, left, right, top, bottom, follow } = layout;
    return {
      width,
      height: bottom + 56,
      marks: [
        drawAxes(figure, layout),
        line(asked, top - 6, asked, bottom, { class: "query frame" }),
        drawCurves(figure, layout),
        drawDots(figure, layout),
        grip(held.x, held.y, held.text, "query"),
        gripMoved(figure, figure.options.grip, held, follow, [left, held.y - 4, right - left, bottom - held.y + 4]),
      ],
    };
  };

  // Where everything stands: the frame with its scales, and the grip above it.
  /** @param {Lines} figure @param {number} width */
  const linesLayout = (figure, width) => {
    const { grid, range, grip: name } = figure.options;
    const wide = isWide(width);
    const [low, high] = range;
    const [first, end] = [grid[0], last(grid)];
    const left = 34;
    const right = width - 10;
    const top = 56;
    const bottom = top + (wide ? 230 : 190);
    /** @param {number} x */
    const xOf = (x) => left + ((x - first) / (end - first)) * (right - left);
    /** @param {number} y */
    const yOf = (y) => bottom - 6 - ((y - low) / (high - low || 1)) * (bottom - top - 12);
    const asked = xOf(figure.value(name));
    const text = gripText(name, figure.controls[name].labels[figure.place[name]], wide);
    const half = gripHalf(text);
    return {
      ...{ wide, left, right, top, bottom, low, high, first, end, xOf, yOf, asked },
      held: { x: Math.min(Math.max(asked, half), width - half), y: 26, text },
      /** @param {number} at */
      follow: (at) => among(at, figure.controls[name].values.map(xOf)),
    };
  };

  // The heights, the whole numbers below, the names of both axes, and which curve is which.
  /** @param {Lines} figure @param {Layout} layout */
  const drawAxes = (figure, { left, right, bottom, low, high, first, end, xOf, yOf }) => {
    const { curves, x_label, y_label } = figure.options;
    const drawn = curves.filter(([name]) => isDrawn(figure, name));
    const keys = drawn.length > 1 ? drawn : [];
    let x = left + textWidth(y_label) + 20;
    return [
      wholes(low, high).map((y) => [
        line(left, yOf(y), right, yOf(y), { class: "grid" }),
        label(tickText(y, 1), left - 5, yOf(y) + 4, { class: "end quiet" }),
      ]),
      wholes(first, end).map((number) =>
        label(tickText(number, 1), xOf(number), bottom + 34, { class: "middle quiet" }),
      ),
      label(y_label, 2, 14),
      label(`${x_label} →`, right, bottom + 51, { class: "end" }),
      group(
        {},
        keys.map(([name, title]) => {
          const from = x;
          x += 26 + textWidth(title) + 14;
          return [line(from, 10, from + 20, 10, { class: styleOf(figure, name) }), label(title, from + 26, 14)];
        }),
      ),
    ];
  };

  /** @param {Lines} figure @param {Layout} layout */
  const drawCurves = (figure, { xOf, yOf }) =>
    figure.options.curves.map(([name]) => {
      const heights = figure.array(name);
      const points = figure.options.grid.map((x, i) => [xOf(x), yOf(heights[i])]);
      return group({}, isDrawn(figure, name) && polyline(points, { class: styleOf(figure, name) }));
    });

  // The dots, and under the axis their names; a thin line says which name belongs to which dot.
  /** @param {Lines} figure @param {Layout} layout */
  const drawDots = (figure, { bottom, right, xOf, yOf }) => {
    const heights = figure.array("heights");
    const best = figure.array("best")[0];
    return figure.options.dots.map((place, i) => {
      const [x, y] = [xOf(place), yOf(heights[i])];
      const name = spelled(figure.labels.dots[i]);
      return [
        rect(x - 0.5, y, 1, bottom + 4 - y, { class: "key" }),
        circle(x, y, i === best ? 8 : 5, { class: "key outlined" }),
        label(name, Math.min(x, right + 8 - 0.7 * textWidth(name)), bottom + 17, {
          class: i === best ? "middle key name" : "middle key",
        }),
      ];
    });
  };

  // The last curve is thick, and the others differ in colour and dashes.
  /** @param {Lines} figure @param {string} name */
  const styleOf = (figure, name) => {
    const { curves } = figure.options;
    const k = curves.findIndex(([each]) => each === name);
    return k === curves.length - 1 ? "plot" : `plot part dash${k + 1}`;
  };

  /** @param {Lines} figure @param {string} name */
  const isDrawn = (figure, name) => !figure.has(`${name}_known`) || figure.array(`${name}_known`)[0] > 0;

  // The whole numbers of a range.
  /** @param {number} low @param {number} high */
  const wholes = (low, high) => {
    const first = Math.ceil(low);
    return Array.from({ length: Math.floor(high) - first + 1 }, (_, i) => first + i);
  };

  return { draw };
})();
