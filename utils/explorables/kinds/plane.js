// Keys and a query as points of a plane, which the reader drags, over the landscape of a score.
kinds.plane = {
  compute(figure) {
    const { points, query, scorers } = figure.options, count = points.length;
    const scorer = scorers[figure.value("score")], at = (i, start) => figure.moved[i] ?? start;
    const vector = (place) => (scorer.one ? [...place, 1] : place);
    const asked = at(count, query), keys = points.map((point, i) => at(i, point));
    const numbers = keys.map((key) => scores[scorer.form](scorer, vector(asked), vector(key)));
    const weights = softmax(numbers), best = weights.indexOf(Math.max(...weights));
    return { scores: numbers, weights, best: [best], top: [weights[best]], nearest: [nearestTo(asked, keys)] };
  },
  draw(figure, width) {
    const { points, query, scorers, box, x_label, y_label } = figure.options, words = figure.labels.points;
    const scorer = scorers[figure.value("score")], [x0, x1, y0, y1] = box;
    const wide = width >= 560, left = 26, listed = wide ? 190 : 0, right = width - 4 - listed, top = 22;
    const bottom = top + Math.min(((right - left) * (y1 - y0)) / (x1 - x0), wide ? 380 : 280);
    const xOf = (x) => left + ((x - x0) / (x1 - x0)) * (right - left), yOf = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - top);
    const inside = (x, y) => [
      Math.min(x1, Math.max(x0, x0 + ((x - left) / (right - left)) * (x1 - x0))),
      Math.min(y1, Math.max(y0, y0 + ((bottom - y) / (bottom - top)) * (y1 - y0))),
    ];
    const at = (i) => figure.moved[i] ?? points[i] ?? query, count = points.length;
    const weights = figure.drawn("weights"), numbers = figure.array("scores"), best = figure.array("best")[0];
    const vector = (place) => (scorer.one ? [...place, 1] : place), asked = vector(at(count));
    const [qx, qy] = [xOf(at(count)[0]), yOf(at(count)[1])];
    return { width, height: bottom + 34, marks: [
      landscape((x, y) => scores[scorer.form](scorer, asked, vector(inside(x, y))), left, top, right, bottom),
      rect(left, top, right - left, bottom - top, { class: "grid" }),
      label(y_label, left, 14), label(x_label, right, bottom + 17, { class: "end" }),
      label("darker ground: higher score", left, bottom + 17, { class: "quiet" }),
      words.map((word, i) => {
        const [x, y] = [xOf(at(i)[0]), yOf(at(i)[1])], r = 4 + 14 * Math.sqrt(weights[i]);
        const left_side = x > right - textWidth(word) - 40;
        return [
          circle(x, y, r, { class: "key ring" }),
          label(`${word} ${weights[i].toFixed(2)}`, x + (left_side ? -r - 4 : r + 4), y + 4, { class: left_side ? "end halo" : "halo" }),
          dragged("moved", (px, py) => ({ moved: { [i]: inside(px, py) } }), circle(x, y, Math.max(r, 13), { class: "pull" })),
        ];
      }),
      path(`M${round(qx)},${round(qy - 9)}l9,9l-9,9l-9,-9z`, { class: "query outlined" }),
      label("query", qx, qy - 13, { class: "middle halo name" }),
      dragged("moved", (px, py) => ({ moved: { [count]: inside(px, py) } }), circle(qx, qy, 15, { class: "pull" })),
      listed && [
        label("score", right + 128, top + 8, { class: "end quiet" }), label("weight", right + 184, top + 8, { class: "end quiet" }),
        words.map((word, i) => {
          const y = top + 32 + i * 28;
          return [
            rect(right + 14, y + 6, 170 * weights[i], 4, { class: "weight" }),
            label(word, right + 14, y, { class: i === best ? "name" : "" }),
            label(numbers[i].toFixed(2), right + 128, y, { class: "end" }), label(weights[i].toFixed(2), right + 184, y, { class: "end" }),
          ];
        }),
      ],
    ] };
  },
};

const nearestTo = ([x, y], places) => {
  const distances = places.map(([a, b]) => Math.hypot(a - x, b - y));
  return distances.indexOf(Math.min(...distances));
};

// The ground in ten shades, from the lowest value of a function of the place to its highest.
const landscape = (height, left, top, right, bottom, shades = 10) => {
  const across = 48, down = Math.round((across * (bottom - top)) / (right - left)), w = (right - left) / across, h = (bottom - top) / down;
  const heights = Array.from({ length: across * down }, (_, at) => height(left + ((at % across) + 0.5) * w, top + (Math.floor(at / across) + 0.5) * h));
  const low = Math.min(...heights), range = Math.max(...heights) - low || 1;
  const shadeOf = (value) => Math.min(shades - 1, Math.floor(((value - low) / range) * shades));
  const layers = Array(shades).fill("");
  // Cells of one shade that stand side by side are one rectangle; half a pixel more closes the seams.
  for (let i = 0; i < down; i++) {
    for (let j = 0, from = 0; j < across; j++) {
      const shade = shadeOf(heights[i * across + j]);
      if (j + 1 < across && shadeOf(heights[i * across + j + 1]) === shade) continue;
      layers[shade] += `M${round(left + from * w)},${round(top + i * h)}h${round((j + 1 - from) * w)}v${round(h + 0.4)}h${round((from - j - 1) * w)}z`;
      from = j + 1;
    }
  }
  return layers.map((d, shade) => path(d, { class: "weight", "fill-opacity": round((0.62 * shade) / (shades - 1)) }));
};
