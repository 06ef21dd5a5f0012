// Keys and a query as points of a plane, which the reader drags, over the landscape of a score.
kinds.plane = {
  compute(figure) {
    const { keys, query, scoresAt } = this.setting(figure);
    const scores = scoresAt(query);
    const weights = softmax(scores);
    const best = argmax(weights);
    return { scores, weights, best: [best], top: [weights[best]], nearest: [nearestTo(query, keys)] };
  },

  // The keys and the query where the reader has put them; the scores of all keys for a query at a place, and the score
  // of a key at a place for the query.
  setting(figure) {
    const { points, query: start, scorers } = figure.options;
    const scorer = scorers[figure.value("score")];
    const vector = (place) => (scorer.one ? [...place, 1] : place);
    const keys = points.map((point, i) => figure.moved[i] ?? point);
    const query = figure.moved[points.length] ?? start;
    const scores = scoresOf(scorer, keys.map(vector));
    const scoresAt = (place) => scores(vector(place));
    const scoreOfKeyAt = (place) => scoresOf(scorer, [vector(place)])(vector(query))[0];
    return { scorer, keys, query, scoresAt, scoreOfKeyAt };
  },

  draw(figure, width) {
    const layout = this.layout(figure, width);
    const { scorer, keys, winners, left, top, right, bottom, origin, toPicture } = layout;
    const { x_label, y_label } = figure.options;
    const [x, y] = origin;
    const words = figure.labels.points.map(spelled);
    const places = this.places(words, layout);
    const marks = [
      this.ground(layout),
      rect(left, top, right - left, bottom - top, { class: "grid" }),
      scorer.form === "dot" && polyline(hullOf(keys).map(toPicture), { class: "band around" }),
      path(`M${round(x - 6)},${round(y)}h12m-6,-6v12`, { class: "origin" }),
      label(`↑ ${y_label}`, left, 14),
      label(`${x_label} →`, right, bottom + 17, { class: "end" }),
      this.pullsQuery(layout, rect(left, top, right - left, bottom - top, { class: "drag plain" })),
      group(
        {},
        winners ? label("areas: which word wins", left, bottom + 17, { class: "quiet" }) : shadesKey(left, bottom + 17),
      ),
      scorer.form === "dot" && label("line: rubber band", right, 14, { class: "end quiet" }),
      // Of a query the dot product and the cosine know the way from the origin.
      group({}, scorer.form !== "additive" && line(x, y, ...layout.asked, { class: "query ray" })),
      group({ class: "through" }, this.winnersOnFrame(words, places.tags, layout)),
      this.keys(figure, places.names, layout),
      this.query(places.query, layout),
      layout.listed && this.list(figure, words, layout),
    ];
    return { width, height: bottom + 34, marks };
  },

  // Where everything stands: the frame of the plane, and in it the query and the keys as dots, the larger the more they
  // weigh. What is `In` the picture takes a place there in pixels.
  layout(figure, width) {
    const [x0, x1, y0, y1] = figure.options.box;
    const setting = this.setting(figure);
    const weights = figure.array("weights");
    const listed = isWide(width);
    const left = 1;
    const right = width - 4 - (listed ? 214 : 0);
    const top = 22;
    const bottom = top + Math.min(((right - left) * (y1 - y0)) / (x1 - x0), listed ? 380 : 280);
    const toPicture = ([x, y]) => [
      left + ((x - x0) / (x1 - x0)) * (right - left),
      bottom - ((y - y0) / (y1 - y0)) * (bottom - top),
    ];
    const inside = (x, y) => [
      Math.min(x1, Math.max(x0, x0 + ((x - left) / (right - left)) * (x1 - x0))),
      Math.min(y1, Math.max(y0, y0 + ((bottom - y) / (bottom - top)) * (y1 - y0))),
    ];
    const sides = [left, top, right, bottom];
    const origin = toPicture([0, 0]);
    const frame = { width, listed, left, right, top, bottom, sides, origin, toPicture, inside };
    return {
      ...frame,
      ...setting,
      weights,
      winners: figure.value("background") === "who wins",
      best: figure.array("best")[0],
      scoresIn: (x, y) => setting.scoresAt(inside(x, y)),
      scoreOfKeyIn: (x, y) => setting.scoreOfKeyAt(inside(x, y)),
      mesh: corners(sides, origin),
      asked: toPicture(setting.query),
      dots: setting.keys.map(toPicture).map(([x, y], i) => ({ x, y, r: 4 + 14 * Math.sqrt(weights[i]) })),
    };
  },

  // What is written stands where it covers least of all else: first the name of the query, then the names of areas on
  // the frame, then the words.
  places(words, { dots, weights, listed, asked: [x, y], origin, sides, winners, scoresIn }) {
    const diamond = [x - 12, y - 12, 24, 24];
    const covered = [diamond, ...dots.map(({ x, y, r }) => [x - r, y - r, 2 * r, 2 * r])];
    const around = [
      [x - 25, y - 35],
      [x - 25, y + 15],
      [x + 15, y - 10],
      [x - 65, y - 10],
    ];
    const query = leastCovered(around, [50, 20], sides, covered);
    const taken = [[origin[0] - 6, origin[1] - 6, 12, 12], query, ...covered];
    const tags = winners ? onFrame(words, scoresIn, sides, taken) : [];
    taken.push(...tags.map(({ place }) => place));
    const texts = words.map((word, i) => (listed || weights[i] < 0.005 ? word : `${word} ${weights[i].toFixed(2)}`));
    const names = [];
    // Twice, because a word that comes later may need the place of an earlier one.
    for (const i of [...dots.keys(), ...dots.keys()]) {
      const wide = textWidth(texts[i]) + 4;
      const others = names.flatMap(({ place }, k) => (k === i ? [] : [place]));
      const place = leastCovered(besideDot(dots[i], wide), [wide, 15], sides, [...taken, ...others]);
      names[i] = { text: texts[i], place };
    }
    return { query, tags, names };
  },

  // The area where the best word wins and the borders between the areas of all words; or the landscape of the score.
  ground({ winners, scoresIn, scoreOfKeyIn, best, mesh, sides: [left, top, right, bottom] }) {
    if (!winners) return landscape(scoreOfKeyIn, mesh);
    const { won, borders } = areas(scoresIn, best, mesh);
    return [
      rect(left, top, right - left, bottom - top, { class: "key", "fill-opacity": 0.1 }),
      group({ opacity: 0.42 }, path(won, { class: "key area" })),
      path(borders, { class: "border" }),
    ];
  },

  // On the frame the names of the areas, that of the best word dark.
  winnersOnFrame: (words, tags, { best }) =>
    tags.map(({ k, place: [x, y, w, h] }) => [
      rect(x, y, w, h, { class: k === best ? "key" : "tip", rx: 3 }),
      label(words[k], x + w / 2, y + 13, { class: k === best ? "middle name inverse" : "middle" }),
    ]),

  keys: (figure, names, { dots, best, inside }) =>
    dots.map(({ x, y, r }, i) => [
      circle(x, y, r, { class: "key ring" }),
      group({}, i === figure.place.key && circle(x, y, r + 4, { class: "chosen" })),
      label(names[i].text, names[i].place[0] + 2, names[i].place[1] + 11, { class: i === best ? "halo name" : "halo" }),
      dragged(
        "moved",
        (...at) => ({ points: { [i]: inside(...at) }, key: i }),
        circle(x, y, Math.max(r, 13), { ...picks({ key: i }), class: "pull" }),
      ),
    ]),

  query(tag, layout) {
    const [x, y] = layout.asked;
    return [
      path(`M${round(x)},${round(y - 12)}l12,12l-12,12l-12,-12z`, { class: "query outlined" }),
      group(
        { class: "through" },
        rect(...tag, { class: "query", rx: 10 }),
        label("query", tag[0] + 25, tag[1] + 14, { class: "middle name inverse" }),
      ),
      this.pullsQuery(layout, circle(x, y, 15, { class: "pull" })),
    ];
  },

  // The query is the point after all keys.
  pullsQuery: ({ keys, inside }, area) =>
    dragged("moved", (...at) => ({ points: { [keys.length]: inside(...at) } }), area),

  // Beside the plane all scores and weights; the word with the largest weight stands first.
  list(figure, words, { scorer, weights, best, width, right, top, bottom }) {
    const scores = figure.array("scores");
    const ranks = ranksOf([...figure.array("weights")]);
    const title = scorer.form === "cosine" ? `${+scorer.scale.toFixed(2)} × cosine` : figure.value("score");
    const step = Math.min(40, (bottom - top - 40) / words.length);
    return [
      label(title, right + 144, top + 8, { class: "end quiet" }),
      label("weight", width - 8, top + 8, { class: "end quiet" }),
      words.map((word, i) => {
        const y = top + 36 + ranks[i] * step;
        const style = i === best ? "name" : "";
        const row = (attributes) => rect(right + 12, y - 17, width - right - 13, 32, attributes);
        return [
          rect(right + 20, y + 6, (width - right - 28) * weights[i], 4, { class: "weight" }),
          label(word, right + 20, y, { class: style }),
          label(signed(scores[i], 2), right + 144, y, { class: `end ${style}` }),
          label(weights[i].toFixed(2), width - 8, y, { class: `end ${style}` }),
          group({}, i === figure.place.key && row({ class: "chosen thin", rx: 5 })),
          row(picks({ key: i })),
        ];
      }),
    ];
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
  return argmin(distances);
};

// The corners of small rectangles that fill a large one. They are smallest around a middle, the origin, where areas
// meet.
const corners = ([left, top, right, bottom], [x, y], half = 20) => {
  const steps = (from, middle, to) =>
    Array.from({ length: 2 * half + 1 }, (_, k) => {
      const share = (k - half) / half;
      return middle + Math.abs(share) ** 1.7 * Math.sign(share) * (share < 0 ? middle - from : to - middle);
    });
  return { xs: steps(left, x, right), ys: steps(top, y, bottom) };
};

// The ground in ten shades, from the lowest value of a function of the place to its highest: one on the other, up to
// nine areas of the same weak grey.
const SHADES = 9;
const SHADE = 0.05;
const landscape = (height, mesh) => {
  const heights = mesh.ys.map((y) => mesh.xs.map((x) => height(x, y)));
  const all = heights.flat();
  const low = Math.min(...all);
  const range = Math.max(...all) - low;
  const levels = Array.from({ length: SHADES }, (_, n) => low + (range * (n + 1)) / (SHADES + 1));
  const shade = { class: "score area", opacity: SHADE };
  return levels.map((level) => path(range ? areaAbove(heights, level, mesh) : "", shade));
};

// What the shades of the ground mean.
const shadesKey = (left, y) => {
  const from = left + textWidth("score: low") + 8;
  const step = 12;
  const shades = [0, 3, 6, SHADES].map((count, k) => {
    const look = { class: "score area", opacity: round(1 - (1 - SHADE) ** count) };
    return rect(from + k * step, y - 10, step, 11, look);
  });
  return [
    label("score: low", left, y, { class: "quiet" }),
    shades,
    path(`M${round(from)},${y - 10}h${4 * step}v11h${-4 * step}z`, { class: "grid" }),
    label("high", from + 4 * step + 7, y, { class: "quiet" }),
  ];
};

// To a tenth of a pixel, because areas have many corners.
const tenth = (number) => Math.round(10 * number) / 10;
const pathThrough = (points) => `M${points.map(([x, y]) => `${tenth(x)},${tenth(y)}`).join("L")}`;

// The corners of a small rectangle by their column and row, one after the other, and a point on the way between two of
// them.
const cellAt = (j, i) => [
  [j, i],
  [j + 1, i],
  [j + 1, i + 1],
  [j, i + 1],
];
const onSide = ({ xs, ys }, [a, b], [c, d], share) => [
  xs[a] + share * (xs[c] - xs[a]),
  ys[b] + share * (ys[d] - ys[b]),
];

// The area where heights, given at the corners of small squares and linear between them, are at or above a level.
const areaAbove = (heights, level, mesh) => {
  const { xs, ys } = mesh;
  let d = "";
  for (let i = 0; i < ys.length - 1; i++) {
    let full = 0; // how many squares to the left are wholly above the level: they become one rectangle
    for (let j = 0; j < xs.length; j++) {
      const cell = j < xs.length - 1 ? cellAt(j, i) : [];
      const above = cell.filter(([a, b]) => heights[b][a] >= level).length;
      if (above === 4) {
        full++;
        continue;
      }
      if (full)
        d += `M${tenth(xs[j - full])},${tenth(ys[i])}H${tenth(xs[j])}V${tenth(ys[i + 1])}H${tenth(xs[j - full])}z`;
      full = 0;
      if (!above) continue;
      const edge = cell.flatMap(([a, b], k) => {
        const [c, e] = cell[(k + 1) % 4];
        const here = heights[b][a];
        const there = heights[e][c];
        const points = here >= level ? [[xs[a], ys[b]]] : [];
        if (here >= level === there >= level) return points;
        return [...points, onSide(mesh, [a, b], [c, e], (level - here) / (there - here))];
      });
      d += `${pathThrough(edge)}z`;
    }
  }
  return d;
};

// Where one of several heights is the highest: the area of the one at `best`, and the borders between the areas of all.
// On a side of a small rectangle, between two corners that differ, the border is where the heights of both are equal.
const areas = (heightsAt, best, mesh) => {
  const { xs, ys } = mesh;
  const heights = ys.map((y) => xs.map((x) => heightsAt(x, y)));
  const winners = heights.map((row) => row.map(argmax));
  let won = "";
  let borders = "";
  for (let i = 0; i < ys.length - 1; i++)
    for (let j = 0; j < xs.length - 1; j++) {
      const cell = cellAt(j, i);
      const who = cell.map(([a, b]) => winners[b][a]);
      const edge = [];
      const crossings = cell.map(([a, b], k) => {
        const [c, d] = cell[(k + 1) % 4];
        const [m, n] = [who[k], who[(k + 1) % 4]];
        const ahead = heights[b][a][m] - heights[b][a][n];
        const behind = heights[d][c][n] - heights[d][c][m];
        return m !== n && onSide(mesh, [a, b], [c, d], ahead / (ahead + behind || 1));
      });
      const ends = crossings.filter(Boolean);
      const middle = [0, 1].map((axis) => ends.reduce((sum, end) => sum + end[axis], 0) / ends.length);
      borders += ends.length === 2 ? pathThrough(ends) : ends.map((end) => pathThrough([end, middle])).join("");
      cell.forEach(([a, b], k) => {
        const here = who[k] === best;
        if (here) edge.push([xs[a], ys[b]]);
        if (crossings[k] && (here || who[(k + 1) % 4] === best))
          edge.push(crossings[k], ...(here && ends.length > 2 ? [middle] : []));
      });
      if (edge.length) won += `${pathThrough(edge)}z`;
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

// Of these places for a rectangle, kept inside the frame, that where it covers least of what is taken.
const leastCovered = (places, [w, h], [left, top, right, bottom], taken) =>
  places
    .map(([x, y]) => [Math.max(left, Math.min(right - w, x)), Math.max(top, Math.min(bottom - h, y)), w, h])
    .reduce((best, each) => (cover(each, taken) < cover(best, taken) ? each : best));

// Where a word may stand beside its dot: to the right, to the left, below, above, and between two of them.
const besideDot = ({ x, y, r }, wide) => [
  [x + r + 5, y - 7],
  [x - r - 5 - wide, y - 7],
  [x - wide / 2, y + r + 4],
  [x - wide / 2, y - r - 18],
  [x, y + r],
  [x, y - r - 15],
  [x - wide, y + r],
  [x - wide, y - r - 15],
];

// Names on the frame, each within its area, as far as may be from the ends of it, and clear of what is taken.
const onFrame = (names, heightsAt, [left, top, right, bottom], taken) => {
  const step = 6;
  const tall = 18;
  const used = [...taken];
  const winner = (x, y) => argmax(heightsAt(x, y));
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
