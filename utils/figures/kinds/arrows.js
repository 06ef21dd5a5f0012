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
    const arrows = ["query", "key"].map((side) => {
      const [right, up] = figure.rowAt(side, i);
      const [tipX, tipY] = [x + scale * right, y - scale * up];
      const nameX = Math.min(Math.max(tipX, x - radius + 8), x + radius - 8); // so that it is not cut off
      return { side, tipX, tipY, nameX, nameY: tipY + (tipY > y ? 19 : -9) };
    });
    // If one name would hide the other, that of the key moves towards the middle.
    const [query, key] = arrows;
    if (Math.abs(query.nameX - key.nameX) < 60 && Math.abs(query.nameY - key.nameY) < 18)
      key.nameY = query.nameY + (query.tipY > y ? -18 : 18);
    return [
      label(name, x, 14, { class: "middle" }),
      circle(x, y, radius, { class: "grid" }),
      line(x, y, x + radius, y, { class: "grid" }),
      arrows.map(({ side, tipX, tipY }) => drawArrow(side, x, y, tipX - x, tipY - y)),
      arrows.map(({ side, nameX, nameY }) => label(side, nameX, nameY, { class: `middle halo ${side}` })),
      circle(x, y, 3, { class: "handle" }),
    ];
  };

  /** @param {string} side @param {number} x @param {number} y @param {number} right @param {number} down */
  const drawArrow = (side, x, y, right, down) => {
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
    ];
  };

  return { draw };
})();
