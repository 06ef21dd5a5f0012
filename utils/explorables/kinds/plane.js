// Keys and a query as points of a plane, which the reader drags, over the landscape of a score.
kinds.plane = {
  compute(figure) {
    const { points, query, scorers } = figure.options;
    const count = points.length;
    const scorer = scorers[figure.value("score")];
    const at = (i, start) => figure.moved[i] ?? start;
    const vector = (place) => (scorer.one ? [...place, 1] : place);
    const asked = at(count, query);
    const keys = points.map((point, i) => at(i, point));
    const numbers = scoresOf(scorer, keys.map(vector))(vector(asked));
    const weights = softmax(numbers);
    const best = weights.indexOf(Math.max(...weights));
    return { scores: numbers, weights, best: [best], top: [weights[best]], nearest: [nearestTo(asked, keys)] };
  },
  draw(figure, width) {
    const { points, query, scorers, box, x_label, y_label } = figure.options;
    const words = figure.labels.points.map(spelled);
    const scorer = scorers[figure.value("score")];
    const [x0, x1, y0, y1] = box;
    const wide = width >= 560;
    const left = 1;
    const listed = wide ? 214 : 0;
    const right = width - 4 - listed;
    const top = 22;
    const bottom = top + Math.min(((right - left) * (y1 - y0)) / (x1 - x0), wide ? 380 : 280);
    const xOf = (x) => left + ((x - x0) / (x1 - x0)) * (right - left);
    const yOf = (y) => bottom - ((y - y0) / (y1 - y0)) * (bottom - top);
    const inside = (x, y) => [
      Math.min(x1, Math.max(x0, x0 + ((x - left) / (right - left)) * (x1 - x0))),
      Math.min(y1, Math.max(y0, y0 + ((bottom - y) / (bottom - top)) * (y1 - y0))),
    ];
    const at = (i) => figure.moved[i] ?? points[i] ?? query;
    const count = points.length;
    const weights = figure.drawn("weights");
    const numbers = figure.array("scores");
    const best = figure.array("best")[0];
    const vector = (place) => (scorer.one ? [...place, 1] : place);
    const asked = vector(at(count));
    const winners = figure.value("background") === "who wins";
    const sides = [left, top, right, bottom];
    const grid = corners(sides, [xOf(0), yOf(0)]);
    const keys = points.map((_, i) => at(i));
    const ranks = figure.blend("ranks", ranksOf([...figure.array("weights")]));
    const lit = figure.place.key;
    const spots = keys.map(([x, y], i) => ({ x: xOf(x), y: yOf(y), r: 4 + 14 * Math.sqrt(weights[i]) }));
    const dots = spots.map(({ x, y, r }) => [x - r, y - r, 2 * r, 2 * r]);
    const [qx, qy] = [xOf(at(count)[0]), yOf(at(count)[1])];
    const kept = ([x, y, w, h]) => [
      Math.max(left, Math.min(right - w, x)),
      Math.max(top, Math.min(bottom - h, y)),
      w,
      h,
    ];
    // What is written stands where it covers least of all else: first the name of the query, then the names of areas on
    // the frame, then the words.
    const leastCovered = (places, taken) =>
      places.reduce((best, each) => (cover(each, taken) < cover(best, taken) ? each : best));
    const diamond = [qx - 12, qy - 12, 24, 24];
    const tag = leastCovered(
      [
        [qx - 25, qy - 35, 50, 20],
        [qx - 25, qy + 15, 50, 20],
        [qx + 15, qy - 10, 50, 20],
        [qx - 65, qy - 10, 50, 20],
      ].map(kept),
      [diamond, ...dots],
    );
    const taken = [[xOf(0) - 6, yOf(0) - 6, 12, 12], tag, diamond, ...dots];
    const scoresAt = scoresOf(scorer, keys.map(vector));
    const heightsAt = (x, y) => scoresAt(vector(inside(x, y)));
    const { won, borders } = winners ? areas(heightsAt, best, grid) : {};
    const tags = winners ? onFrame(words, heightsAt, sides, taken) : [];
    taken.push(...tags.map(({ place }) => place));
    const texts = words.map((word, i) => (listed || weights[i] < 0.005 ? word : `${word} ${weights[i].toFixed(2)}`));
    const named = [];
    // Twice, because a word that comes later may need the place of an earlier one.
    for (let k = 0; k < 2 * count; k++) {
      const i = k % count;
      const { x, y, r } = spots[i];
      const w = textWidth(texts[i]) + 4;
      const [near, far] = [x + r + 5, x - r - 5 - w];
      const places = [
        [near, y - 7],
        [far, y - 7],
        [x - w / 2, y + r + 4],
        [x - w / 2, y - r - 18],
        [x, y + r],
        [x, y - r - 15],
        [x - w, y + r],
        [x - w, y - r - 15],
      ].map((place) => kept([...place, w, 15]));
      named[i] = undefined;
      named[i] = leastCovered(places, [...taken, ...named.filter(Boolean)]);
    }
    return {
      width,
      height: bottom + 34,
      marks: [
        winners
          ? [
              rect(left, top, right - left, bottom - top, { class: "key", "fill-opacity": 0.1 }),
              group({ opacity: 0.42 }, path(won, { class: "key area" })),
              path(borders, { class: "border" }),
            ]
          : landscape((x, y) => scoresOf(scorer, [vector(inside(x, y))])(asked)[0], grid),
        rect(left, top, right - left, bottom - top, { class: "grid" }),
        scorer.form === "dot" &&
          polyline(
            hullOf(keys).map(([x, y]) => [xOf(x), yOf(y)]),
            { class: "band around" },
          ),
        path(`M${round(xOf(0) - 6)},${round(yOf(0))}h12m-6,-6v12`, { class: "origin" }),
        label(`↑ ${y_label}`, left, 14),
        label(`${x_label} →`, right, bottom + 17, { class: "end" }),
        dragged(
          "moved",
          (px, py) => ({ points: { [count]: inside(px, py) } }),
          rect(left, top, right - left, bottom - top, { class: "drag plain" }),
        ),
        label(winners ? "areas: which word wins" : "strong grey: high score", left, bottom + 17, { class: "quiet" }),
        scorer.form === "dot" && label("line: rubber band", right, 14, { class: "end quiet" }),
        // Of a query the dot product and the cosine know the way from the origin.
        group({}, scorer.form !== "additive" && line(xOf(0), yOf(0), qx, qy, { class: "query ray" })),
        group(
          { class: "through" },
          tags.map(({ k, place: [x, y, w, h] }) => [
            rect(x, y, w, h, { class: k === best ? "key" : "tip", rx: 3 }),
            label(words[k], x + w / 2, y + 13, { class: k === best ? "middle name inverse" : "middle" }),
          ]),
        ),
        words.map((_, i) => {
          const { x, y, r } = spots[i];
          return [
            circle(x, y, r, { class: "key ring" }),
            group({}, i === lit && circle(x, y, r + 4, { class: "chosen" })),
            label(texts[i], named[i][0] + 2, named[i][1] + 11, { class: i === best ? "halo name" : "halo" }),
            dragged(
              "moved",
              (px, py) => ({ points: { [i]: inside(px, py) }, key: i }),
              circle(x, y, Math.max(r, 13), { ...picks({ key: i }), class: "pull" }),
            ),
          ];
        }),
        path(`M${round(qx)},${round(qy - 12)}l12,12l-12,12l-12,-12z`, { class: "query outlined" }),
        group(
          { class: "through" },
          rect(...tag, { class: "query", rx: 10 }),
          label("query", tag[0] + 25, tag[1] + 14, { class: "middle name inverse" }),
        ),
        dragged("moved", (px, py) => ({ points: { [count]: inside(px, py) } }), circle(qx, qy, 15, { class: "pull" })),
        listed && [
          label(
            scorer.form === "cosine" ? `${+scorer.scale.toFixed(2)} × cosine` : figure.value("score"),
            right + 144,
            top + 8,
            { class: "end quiet" },
          ),
          label("weight", width - 8, top + 8, { class: "end quiet" }),
          words.map((word, i) => {
            // The word with the largest weight stands first.
            const y = top + 36 + ranks[i] * Math.min(40, (bottom - top - 40) / count);
            const style = i === best ? "name" : "";
            return [
              rect(right + 20, y + 6, (width - right - 28) * weights[i], 4, { class: "weight" }),
              label(word, right + 20, y, { class: style }),
              label(signed(numbers[i], 2), right + 144, y, { class: `end ${style}` }),
              label(weights[i].toFixed(2), width - 8, y, { class: `end ${style}` }),
              group({}, i === lit && rect(right + 12, y - 17, width - right - 13, 32, { class: "chosen thin", rx: 5 })),
              rect(right + 12, y - 17, width - right - 13, 32, picks({ key: i })),
            ];
          }),
        ],
      ],
    };
  },
};

// The rubber band around points: the corners of the smallest area without dents that holds all of them, in order and
// back to the first.
const hullOf = (points) => {
  const turn = ([a, b], [c, d], [e, f]) => (c - a) * (f - b) - (d - b) * (e - a);
  const half = (sorted) =>
    sorted.reduce((corners, point) => {
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
  const steps = (from, middle, to) =>
    Array.from({ length: 2 * half + 1 }, (_, k) => {
      const share = (k - half) / half;
      return middle + Math.abs(share) ** 1.7 * Math.sign(share) * (share < 0 ? middle - from : to - middle);
    });
  return { xs: steps(left, x, right), ys: steps(top, y, bottom) };
};

// The ground in nine shades, from the lowest value of a function of the place to its highest.
const landscape = (height, { xs, ys }, shades = 9) => {
  const heights = ys.map((y) => xs.map((x) => height(x, y)));
  const all = heights.flat();
  const low = Math.min(...all);
  const range = Math.max(...all) - low;
  return Array.from({ length: shades }, (_, n) =>
    path(range ? areaAbove(heights, low + (range * (n + 1)) / (shades + 1), xs, ys) : "", {
      class: "score area",
      opacity: 0.05,
    }),
  );
};

// Where one of several heights is the highest: the area of the one at `best`, and the borders between the areas of all. On a
// side of a small rectangle, between two corners that differ, the border is where the heights of both are equal.
const areas = (heightsAt, best, { xs, ys }) => {
  const heights = ys.map((y) => xs.map((x) => heightsAt(x, y)));
  const winners = heights.map((row) => row.map((all) => all.indexOf(Math.max(...all))));
  const written = (points) => points.map(([x, y]) => `${tenth(x)},${tenth(y)}`).join("L");
  let won = "";
  let borders = "";
  for (let i = 0; i < ys.length - 1; i++)
    for (let j = 0; j < xs.length - 1; j++) {
      const cell = [
        [j, i],
        [j + 1, i],
        [j + 1, i + 1],
        [j, i + 1],
      ];
      const who = cell.map(([a, b]) => winners[b][a]);
      const edge = [];
      const crossings = cell.map(([a, b], k) => {
        const [c, d] = cell[(k + 1) % 4];
        const [m, n] = [who[k], who[(k + 1) % 4]];
        const ahead = heights[b][a][m] - heights[b][a][n];
        const behind = heights[d][c][n] - heights[d][c][m];
        const share = ahead / (ahead + behind || 1);
        return m !== n && [xs[a] + share * (xs[c] - xs[a]), ys[b] + share * (ys[d] - ys[b])];
      });
      const ends = crossings.filter(Boolean);
      const middle = [0, 1].map((axis) => ends.reduce((sum, end) => sum + end[axis], 0) / ends.length);
      borders += ends.length === 2 ? `M${written(ends)}` : ends.map((end) => `M${written([end, middle])}`).join("");
      cell.forEach(([a, b], k) => {
        const here = who[k] === best;
        if (here) edge.push([xs[a], ys[b]]);
        if (crossings[k] && (here || who[(k + 1) % 4] === best))
          edge.push(crossings[k], ...(here && ends.length > 2 ? [middle] : []));
      });
      if (edge.length) won += `M${written(edge)}z`;
    }
  return { won, borders };
};

// How much of other rectangles a rectangle covers.
const cover = ([x, y, w, h], others) =>
  others.reduce(
    (sum, [a, b, c, d]) =>
      sum + Math.max(0, Math.min(x + w, a + c) - Math.max(x, a)) * Math.max(0, Math.min(y + h, b + d) - Math.max(y, b)),
    0,
  );

// Names on the frame, each within its area, as far as may be from the ends of it, and clear of what is taken.
const onFrame = (names, heightsAt, [left, top, right, bottom], taken) => {
  const step = 6;
  const tall = 18;
  const used = [...taken];
  const winner = (x, y) => {
    const all = heightsAt(x, y);
    return all.indexOf(Math.max(...all));
  };
  const sides = [
    [top, true],
    [bottom, true],
    [left, false],
    [right, false],
  ].map(([at, level]) => ({
    at,
    level,
    won: Array.from({ length: Math.floor((level ? right - left : bottom - top) / step) + 1 }, (_, i) =>
      level ? winner(left + step * i, at) : winner(at, top + step * i),
    ),
  }));
  return names.flatMap((name, k) => {
    const wide = textWidth(name) + 12;
    const spots = sides.flatMap(({ at, level, won }) =>
      won.flatMap((_, i) => {
        const last = i + Math.ceil((level ? wide : tall) / step);
        const all = won.slice(i, last + 1);
        if (last >= won.length || all.some((each) => each !== k)) return [];
        let room = 0; // how many steps the area goes on at both sides
        while (won[i - room - 1] === k && won[last + room + 1] === k) room++;
        const place = level
          ? [left + step * i, Math.min(at, bottom - tall), wide, tall]
          : [Math.min(at, right - wide), top + step * i, wide, tall];
        return cover(place, used) ? [] : [{ k, place, room }];
      }),
    );
    const found = spots.reduce((best, spot) => (spot.room > (best?.room ?? -1) ? spot : best), undefined);
    if (found) used.push(found.place);
    return found ?? [];
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
      const around =
        j < xs.length - 1
          ? [
              [j, i],
              [j + 1, i],
              [j + 1, i + 1],
              [j, i + 1],
            ]
          : [];
      const above = around.filter(([a, b]) => heights[b][a] >= level).length;
      if (above === 4) {
        full++;
        continue;
      }
      if (full)
        d += `M${tenth(xs[j - full])},${tenth(ys[i])}H${tenth(xs[j])}V${tenth(ys[i + 1])}H${tenth(xs[j - full])}z`;
      full = 0;
      if (!above) continue;
      const edge = around.flatMap(([a, b], k) => {
        const [c, e] = around[(k + 1) % 4];
        const here = heights[b][a];
        const there = heights[e][c];
        const points = here >= level ? [[xs[a], ys[b]]] : [];
        if (here >= level === there >= level) return points;
        const share = (level - here) / (there - here);
        return [...points, [xs[a] + share * (xs[c] - xs[a]), ys[b] + share * (ys[e] - ys[b])]];
      });
      d += `M${edge.map(([x, y]) => `${tenth(x)},${tenth(y)}`).join("L")}z`;
    }
  }
  return d;
};
