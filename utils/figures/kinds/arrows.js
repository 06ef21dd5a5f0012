// A query and a key as arrows in each of several planes, and below it what the two add to a score.
kinds.arrows = (() => {
  const { circle, isWide, label, line, path, round } = marks;
  const { signed, spelled } = texts;

  /** @typedef {Figure<{ longest: number }>} Arrows */

  const TIP = 11; // length of an arrow's head

  /** @param {Arrows} figure @param {number} width */
  const draw = (figure, width) => {
    const planes = figure.labels.planes;
    const step = width / planes.length;
    const radius = Math.min(step / 2 - 10, isWide(width) ? 110 : 92);
    const middle = 42 + radius;
    const below = middle + radius + 40;
    const products = figure.array("products");
    return {
      width,
      height: below + 36,
      marks: [
        planes.map((name, i) => drawPlane(figure, i, spelled(name), (i + 0.5) * step, middle, radius)),
        planes.map((_, i) => [
          i > 0 && label("+", i * step, below, { class: "middle" }),
          label(signed(products[i], 2), (i + 0.5) * step, below, { class: "middle" }),
        ]),
        label(`score: ${signed(figure.array("score")[0], 2)}`, width / 2, below + 28, { class: "middle name" }),
      ],
    };
  };

  // The circle of the longest arrow, the line of angle 0, and both arrows; the query is the thicker one.
  /** @param {Arrows} figure @param {number} i @param {string} name @param {number} x @param {number} y @param {number} radius */
  const drawPlane = (figure, i, name, x, y, radius) => {
    const scale = radius / figure.options.longest;
    const tips = ["key", "query"].map((side) => ({ side, tip: figure.rowAt(side, i) }));
    /** @param {number} at */
    const within = (at) => Math.min(Math.max(at, x - radius + 8), x + radius - 8); // so that no name is cut off
    return [
      label(name, x, 14, { class: "middle" }),
      circle(x, y, radius, { class: "grid" }),
      line(x, y, x + radius, y, { class: "grid" }),
      tips.map(({ side, tip: [right, up] }) => drawArrow(side, x, y, scale * right, -scale * up, within)),
      circle(x, y, 3, { class: "handle" }),
    ];
  };

  /** @param {string} side @param {number} x @param {number} y @param {number} right @param {number} down @param {(x: number) => number} within */
  const drawArrow = (side, x, y, right, down, within) => {
    const length = Math.hypot(right, down) || 1;
    const [cos, sin] = [right / length, down / length];
    const half = side === "query" ? 7 : 5;
    const [a, b] = [x + right - TIP * cos, y + down - TIP * sin];
    const [c, d] = [half * sin, half * cos];
    const corners = [
      [x + right, y + down],
      [a - c, b + d],
      [a + c, b - d],
    ];
    return [
      line(x, y, a, b, { class: `${side} ray ${side === "query" ? "strong" : ""}`.trim() }),
      path(`M${corners.map(([p, q]) => `${round(p)},${round(q)}`).join("L")}z`, { class: side }),
      label(side, within(x + right), y + down + (down > 0 ? 19 : -9), { class: `middle halo ${side}` }),
    ];
  };

  return { draw };
})();
