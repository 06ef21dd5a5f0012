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
    const { points, query, scorers, box, x_label, y_label } = figure.options, words = figure.labels.points.map(spelled);
    const scorer = scorers[figure.value("score")], [x0, x1, y0, y1] = box;
    const wide = width >= 560, left = 1, listed = wide ? 214 : 0, right = width - 4 - listed, top = 22;
    const bottom = top + Math.min(((right - left) * (y1 - y0)) / (x1 - x0), wide ? 380 : 280);
    const xOf = (x) => left + ((x - x0) / (x1 - x0)) * (right - left), yOf = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - top);
    const inside = (x, y) => [
      Math.min(x1, Math.max(x0, x0 + ((x - left) / (right - left)) * (x1 - x0))),
      Math.min(y1, Math.max(y0, y0 + ((bottom - y) / (bottom - top)) * (y1 - y0))),
    ];
    const at = (i) => figure.moved[i] ?? points[i] ?? query, count = points.length;
    const weights = figure.drawn("weights"), numbers = figure.array("scores"), best = figure.array("best")[0];
    const vector = (place) => (scorer.one ? [...place, 1] : place), asked = vector(at(count));
    const winners = figure.value("background") === "winner", grid = corners([left, top, right, bottom], [xOf(0), yOf(0)]), keys = points.map((_, i) => at(i));
    const ranks = figure.blend("ranks", ranksOf([...figure.array("weights")]));
    const radius = (i) => 4 + 14 * Math.sqrt(weights[i]);
    const [qx, qy] = [xOf(at(count)[0]), yOf(at(count)[1])];
    // The name of the query stands above it, or below where a word is above.
    const tag = keys.some(([x, y]) => Math.abs(xOf(x) - qx) < 60 && yOf(y) < qy && yOf(y) > qy - 50) || qy < top + 36 ? qy + 15 : qy - 35;
    const taken = [[xOf(0) - 6, yOf(0) - 6, 12, 12], [qx - 25, tag, 50, 20], [qx - 12, qy - 12, 24, 24], ...words.map((_, i) => { const r = radius(i); return [xOf(at(i)[0]) - r, yOf(at(i)[1]) - r, 2 * r, 2 * r]; })];
    // The areas of the words, each with its name where its own point does not lie in it.
    const won = winners ? areas(keys.map((key) => (x, y) => scores[scorer.form](scorer, vector(inside(x, y)), vector(key))), grid) : [];
    const ground = winners ? "areas: which word wins" : "dark: high score";
    const band = scorer.form === "dot" ? "line: outermost words" : "";
    return { width, height: bottom + 34, marks: [
      winners
        ? won.map(({ d }, i) => [path(d, { class: "paper" }), path(d, { class: "key area", opacity: i === best ? 0.62 : 0.08 + 0.07 * ((3 * i) % 4) })])
        : landscape((x, y) => scores[scorer.form](scorer, asked, vector(inside(x, y))), grid),
      rect(left, top, right - left, bottom - top, { class: "grid" }), scorer.form === "dot" && polyline(hullOf(keys).map(([x, y]) => [xOf(x), yOf(y)]), { class: "band around" }), path(`M${round(xOf(0) - 6)},${round(yOf(0))}h12m-6,-6v12`, { class: "origin" }),
      label(`↑ ${y_label}`, left, 14), label(`${x_label} →`, right, bottom + 17, { class: "end" }),
      dragged("moved", (px, py) => ({ points: { [count]: inside(px, py) } }), rect(left, top, right - left, bottom - top, { class: "drag plain" })),
      label(textWidth(`${ground}; ${band}`) < right - left - textWidth(x_label) - 40 && band ? `${ground}; ${band}` : ground, left, bottom + 17, { class: "quiet" }),
      // Of a query the dot product and the cosine know the way from the origin.
      group({}, scorer.form !== "additive" && line(xOf(0), yOf(0), qx, qy, { class: "query ray" })),
      group({}, wide && won.map(({ middle, wins }, i) => middle && !wins(xOf(at(i)[0]), yOf(at(i)[1])) && label(words[i], middle[0], middle[1] + 4, { class: "middle quiet" }))),
      words.map((word, i) => {
        const [x, y] = [xOf(at(i)[0]), yOf(at(i)[1])], r = radius(i);
        const text = listed || weights[i] < 0.005 ? word : `${word} ${weights[i].toFixed(2)}`, wide = textWidth(text), beside = r + 4;
        // The label takes the place, right, left, below, above or at a corner, where it covers least of all else.
        const spots = [[x + beside, y + 4], [x - beside - wide, y + 4], [x - wide / 2, y + r + 13], [x - wide / 2, y - r - 5],
          [x + 2, y + r + 11], [x + 2, y - r - 4], [x - wide - 2, y + r + 11], [x - wide - 2, y - r - 4]];
        const covered = ([a, b]) => a < left || a + wide > right ? Infinity : taken.reduce((sum, [c, d, w, h]) =>
          sum + Math.max(0, Math.min(a + wide, c + w) - Math.max(a, c)) * Math.max(0, Math.min(b + 2, d + h) - Math.max(b - 9, d)), 0);
        const spot = spots.reduce((best, each) => (covered(each) < covered(best) ? each : best));
        taken.push([spot[0] - 4, spot[1] - 12, wide + 8, 16]);
        return [
          circle(x, y, r, { class: "key ring" }), group({}, figure.hover.key === i && circle(x, y, r + 4, { class: "chosen" })),
          label(text, ...spot, { class: figure.hover.key === i || i === best ? "halo name" : "halo" }),
          dragged("moved", (px, py) => ({ points: { [i]: inside(px, py) } }), circle(x, y, Math.max(r, 13), { ...picks({ key: i }), class: "pull" })),
        ];
      }),
      path(`M${round(qx)},${round(qy - 12)}l12,12l-12,12l-12,-12z`, { class: "query outlined" }),
      group({ class: "through" }, rect(qx - 25, tag, 50, 20, { class: "query", rx: 10 }), label("query", qx, tag + 14, { class: "middle name inverse" })),
      dragged("moved", (px, py) => ({ points: { [count]: inside(px, py) } }), circle(qx, qy, 15, { class: "pull" })),
      listed && [
        label(scorer.form === "cosine" ? `${scorer.scale.toFixed(0)} × cosine` : "score", right + 150, top + 8, { class: "end quiet" }), label("weight", width, top + 8, { class: "end quiet" }),
        words.map((word, i) => {
          // The word with the largest weight stands first.
          const y = top + 36 + ranks[i] * Math.min(40, (bottom - top - 40) / count), style = figure.hover.key === i || i === best ? "name" : "";
          return [
            rect(right + 20, y + 6, (width - right - 20) * weights[i], 4, { class: "weight" }),
            label(word, right + 20, y, { class: style }),
            label(signed(numbers[i], 2), right + 150, y, { class: `end ${style}` }), label(weights[i].toFixed(2), width, y, { class: `end ${style}` }),
            rect(right + 14, y - 16, width - right - 14, 28, picks({ key: i })),
          ];
        }),
      ],
    ] };
  },
};

// The rubber band around points: the corners of the smallest area without dents that holds all of them, in order and
// back to the first.
const hullOf = (points) => {
  const turn = ([a, b], [c, d], [e, f]) => (c - a) * (f - b) - (d - b) * (e - a);
  const half = (sorted) => sorted.reduce((corners, point) => {
    while (corners.length > 1 && turn(corners.at(-2), corners.at(-1), point) <= 0) corners.pop();
    return [...corners, point];
  }, []);
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [...half(sorted), ...half([...sorted].reverse()).slice(1)];
};

const nearestTo = ([x, y], places) => {
  const distances = places.map(([a, b]) => Math.hypot(a - x, b - y));
  return distances.indexOf(Math.min(...distances));
};

// The corners of small rectangles that fill a large one. They are smallest around a middle, the origin, where areas meet.
const corners = ([left, top, right, bottom], [x, y], half = 20) => {
  const steps = (from, middle, to) => Array.from({ length: 2 * half + 1 }, (_, k) => {
    const share = (k - half) / half;
    return middle + Math.abs(share) ** 1.7 * Math.sign(share) * (share < 0 ? middle - from : to - middle);
  });
  return { xs: steps(left, x, right), ys: steps(top, y, bottom) };
};

// The ground in nine shades, from the lowest value of a function of the place to its highest.
const landscape = (height, { xs, ys }, shades = 9) => {
  const heights = ys.map((y) => xs.map((x) => height(x, y))), all = heights.flat(), low = Math.min(...all), range = Math.max(...all) - low;
  return Array.from({ length: shades }, (_, n) =>
    path(range ? areaAbove(heights, low + (range * (n + 1)) / (shades + 1), xs, ys) : "", { class: "score area", opacity: 0.05 }));
};

// For each of several functions of the place the area where it is higher than those before it, so that areas painted one
// over the other show which is the highest; whether it is the highest at a place; and a place in the middle of where it is,
// if this is large enough for a name.
const areas = (functions, { xs, ys }) => {
  const heights = ys.map((y) => xs.map((x) => functions.map((height) => height(x, y))));
  return functions.map((_, k) => {
    const above = heights.map((row) => row.map((all) => all[k] - Math.max(...all.slice(0, k))));
    const places = ys.flatMap((y, i) => xs.map((x, j) => [x, y, heights[i][j]])).filter(([, , all]) => all[k] === Math.max(...all));
    const mean = [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);
    return {
      d: areaAbove(above, 0, xs, ys), wins: (x, y) => functions.every((height) => height(x, y) <= functions[k](x, y)),
      middle: places.length > 0.02 * xs.length * ys.length && places[nearestTo(mean, places)],
    };
  });
};

// To a tenth of a pixel, because areas have many corners.
const tenth = (number) => Math.round(10 * number) / 10;

// The area where heights, given at the corners of small squares and linear between them, are at or above a level.
const areaAbove = (heights, level, xs, ys) => {
  let d = "";
  for (let i = 0; i < ys.length - 1; i++) {
    let full = 0; // how many squares to the left are wholly above the level: they become one rectangle
    for (let j = 0; j < xs.length; j++) {
      const around = j < xs.length - 1 ? [[j, i], [j + 1, i], [j + 1, i + 1], [j, i + 1]] : [];
      const above = around.filter(([a, b]) => heights[b][a] >= level).length;
      if (above === 4) { full++; continue; }
      if (full) d += `M${tenth(xs[j - full])},${tenth(ys[i])}H${tenth(xs[j])}V${tenth(ys[i + 1])}H${tenth(xs[j - full])}z`;
      full = 0;
      if (!above) continue;
      const edge = around.flatMap(([a, b], k) => {
        const [c, e] = around[(k + 1) % 4], here = heights[b][a], there = heights[e][c], points = here >= level ? [[xs[a], ys[b]]] : [];
        if (here >= level === there >= level) return points;
        const share = (level - here) / (there - here);
        return [...points, [xs[a] + share * (xs[c] - xs[a]), ys[b] + share * (ys[e] - ys[b])]];
      });
      d += `M${edge.map(([x, y]) => `${tenth(x)},${tenth(y)}`).join("L")}z`;
    }
  }
  return d;
};
