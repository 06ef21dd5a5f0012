// Keys and a query as points of a plane, which the reader drags, over the landscape of a score.
kinds.plane = (() => {
  const { argmax, argmin, dot, scoresOf, softmax } = mathematics;
  const { circle, dragged, group, isWide, label, line, path, pathsByValue, picks, rect, round } = marks;
  const { BOLD, signed, spelled, textWidth } = texts;

  /**
   * @typedef {Figure<{ points: Place[], query: Place, lines: boolean, scorers: Record<string, Scorer & { one: boolean }>, box: number[], x_label: string, y_label: string }>} Plane
   */
  /** @typedef {ReturnType<typeof planeLayout>} Layout */

  /** @param {Plane} figure */
  const compute = (figure) => {
    const { keys, query, scoresOfKeysAt } = settingOf(figure);
    const scores = scoresOfKeysAt(keys);
    const weights = softmax(scores);
    const best = argmax(weights);
    return { scores, weights, best: [best], top: [weights[best]], nearest: [nearestTo(query, keys)] };
  };

  // The keys and the query where the reader has put them, and the scores that keys at some places have for the query.
  /** @param {Plane} figure */
  const settingOf = (figure) => {
    const { points, query: start, scorers } = figure.options;
    const scorer = scorers[figure.value("score")];
    /** @param {number[]} place */
    const vector = (place) => (scorer.one ? [...place, 1] : place);
    const query = figure.moved[points.length] ?? start;
    return {
      scorer,
      keys: points.map((point, i) => figure.moved[i] ?? point),
      query,
      /** @param {Place[]} places */
      scoresOfKeysAt: (places) => scoresOf(scorer, places.map(vector))(vector(query)),
    };
  };

  /** @param {Plane} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = planeLayout(figure, width);
    const { scorer, left, top, right, bottom, origin, asked, listed } = layout;
    const { x_label, y_label } = figure.options;
    const [x, y] = origin;
    const marks = [
      landscape(layout),
      rect(left, top, right - left, bottom - top, { class: "grid" }),
      path(`M${round(x - 6)},${round(y)}h12m-6,-6v12`, { class: "origin" }),
      label(`↑ ${y_label}`, left, 14),
      label(`${x_label} →`, right, bottom + 17, { class: "end" }),
      shadesKey(left, bottom + 17),
      pullsQuery(layout, rect(left, top, right - left, bottom - top, { class: "drag plain" })),
      // Of a query the dot product and the cosine know the way from the origin.
      group({}, ["dot", "cosine"].includes(scorer.form) && line(x, y, asked[0], asked[1], { class: "query ray" })),
      figure.options.lines && drawLines(layout),
      drawKeys(figure, layout),
      drawQuery(layout),
      listed && drawList(figure, layout),
    ];
    return { width, height: bottom + 34, marks };
  };

  // Where everything stands: the frame of the plane, and in it the query and the keys as dots, the larger the more they
  // weigh.
  /** @param {Plane} figure @param {number} width */
  const planeLayout = (figure, width) => {
    const [x0, x1, y0, y1] = figure.options.box;
    const setting = settingOf(figure);
    const weights = figure.array("weights");
    const listed = isWide(width);
    const left = 1;
    const right = width - 4 - (listed ? 214 : 0);
    const top = 22;
    const bottom = top + Math.min(((right - left) * (y1 - y0)) / (x1 - x0), listed ? 380 : 280);
    /** @param {Place} place */
    const toPicture = ([x, y]) => [
      left + ((x - x0) / (x1 - x0)) * (right - left),
      bottom - ((y - y0) / (y1 - y0)) * (bottom - top),
    ];
    /** @param {number} x @param {number} y */
    const inside = (x, y) => [
      Math.min(x1, Math.max(x0, x0 + ((x - left) / (right - left)) * (x1 - x0))),
      Math.min(y1, Math.max(y0, y0 + ((bottom - y) / (bottom - top)) * (y1 - y0))),
    ];
    const places = setting.keys.map(toPicture);
    const asked = toPicture(setting.query);
    return {
      ...setting,
      ...{ width, listed, left, right, top, bottom, inside, toPicture, weights },
      words: figure.labels.points.map(spelled),
      best: figure.array("best")[0],
      origin: toPicture([0, 0]),
      asked,
      points: [...places, asked],
      dots: places.map(([x, y], i) => ({ x, y, r: 4 + 14 * Math.sqrt(weights[i]) })),
    };
  };

  // What the score measures: the distance of each key from the query, or how far the key reaches along the query.
  /** @param {Layout} layout */
  const drawLines = ({ scorer, keys, query, toPicture, origin, asked, points }) => {
    /** @param {number[]} from @param {number[]} to @param {string} kind */
    const between = ([a, b], [c, d], kind) => line(a, b, c, d, { class: kind });
    const tips = points.slice(0, -1);
    if (scorer.form === "distance") return tips.map((tip) => between(asked, tip, "edge"));
    const reaches = keys.map((key) => dot(key, query) / (dot(query, query) || 1));
    /** @param {number} reach */
    const footAt = (reach) => toPicture([reach * query[0], reach * query[1]]);
    const [lowest, highest] = [Math.min(0, ...reaches), Math.max(1, ...reaches)].map(footAt);
    return [
      between(lowest, highest, "rule"),
      tips.map((tip, i) => {
        const foot = footAt(reaches[i]);
        return [
          between(origin, tip, "key ray"),
          between(tip, foot, "edge"),
          circle(foot[0], foot[1], 3.5, { class: "handle" }),
        ];
      }),
    ];
  };

  /** @param {Plane} figure @param {Layout} layout */
  const drawKeys = (figure, { words, dots, points, best, right, inside }) =>
    dots.map(({ x, y, r }, i) => {
      const reach = r + 7;
      const isLeft = standsLeft(x, y, reach + BOLD * textWidth(words[i]), points, right);
      const style = `halo ${isLeft ? "end" : ""} ${i === best ? "name" : ""}`;
      return [
        circle(x, y, r, { class: "key ring" }),
        group({}, i === figure.place.key && circle(x, y, r + 4, { class: "chosen" })),
        label(words[i], isLeft ? x - reach : x + reach, y + 4, { class: style }),
        dragged(
          "moved",
          (...at) => ({ points: { [i]: inside(...at) }, key: i }),
          circle(x, y, Math.max(r, 13), { ...picks({ key: i }), class: "pull" }),
        ),
      ];
    });

  /** @param {Layout} layout */
  const drawQuery = (layout) => {
    const { asked, points, right } = layout;
    const [x, y] = asked;
    const from = standsLeft(x, y, 65, points, right) ? x - 65 : x + 15;
    return [
      path(`M${round(x)},${round(y - 12)}l12,12l-12,12l-12,-12z`, { class: "query outlined" }),
      group(
        {},
        rect(from, y - 10, 50, 20, { class: "query", rx: 10 }),
        label("query", from + 25, y + 4, { class: "middle name inverse" }),
      ),
      pullsQuery(layout, circle(x, y, 15, { class: "pull" })),
    ];
  };

  // The query is the point after all keys.
  /** @param {Layout} layout @param {Mark} area */
  const pullsQuery = ({ keys, inside }, area) =>
    dragged("moved", (...at) => ({ points: { [keys.length]: inside(...at) } }), area);

  // Beside the plane all scores and weights.
  /** @param {Plane} figure @param {Layout} layout */
  const drawList = (figure, { words, scorer, weights, best, width, right, top, bottom }) => {
    const scores = figure.array("scores");
    const title = scorer.form === "cosine" ? `${+scorer.scale.toFixed(2)} × cosine` : figure.value("score");
    const step = Math.min(40, (bottom - top - 40) / words.length);
    return [
      label(title, right + 144, top + 8, { class: "end quiet" }),
      label("weight", width - 8, top + 8, { class: "end quiet" }),
      words.map((word, i) => {
        const y = top + 36 + i * step;
        const style = i === best ? "name" : "";
        /** @param {Attributes} attributes */
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
  };

  // Whether a name stands on the left of its point, because on the right the frame ends or another point is in the way.
  /** @param {number} x @param {number} y @param {number} reach @param {Place[]} points @param {number} right */
  const standsLeft = (x, y, reach, points, right) =>
    x + reach > right || points.some(([a, b]) => a > x && a < x + reach + 8 && Math.abs(b - y) < 16);

  /** @param {Place} place @param {Place[]} places */
  const nearestTo = ([x, y], places) => argmin(places.map(([a, b]) => Math.hypot(a - x, b - y)));

  // The ground in small squares: the higher the score that a key has there, the stronger their grey, in ten shades.
  const SHADES = 9;
  /** @param {number} shade */
  const strength = (shade) => round(0.04 * shade);
  /** @param {Layout} layout */
  const landscape = ({ left, right, top, bottom, inside, scoresOfKeysAt }) => {
    const columns = Math.ceil((right - left) / 6);
    const rows = Math.ceil((bottom - top) / 6);
    const [step, height] = [(right - left) / columns, (bottom - top) / rows];
    const middles = Array.from({ length: rows * columns }, (_, at) =>
      inside(left + ((at % columns) + 0.5) * step, top + (Math.floor(at / columns) + 0.5) * height),
    );
    const scores = scoresOfKeysAt(middles);
    const low = Math.min(...scores);
    const range = Math.max(...scores) - low || 1;
    const shades = scores.map((score) => Math.min(SHADES, Math.floor(((SHADES + 1) * (score - low)) / range)));
    return pathsByValue(shades, columns, { left, top, step, height }, (shade) => {
      return { class: "score", "fill-opacity": strength(shade), "shape-rendering": "crispEdges" };
    });
  };

  // What the shades of the ground mean.
  /** @param {number} left @param {number} y */
  const shadesKey = (left, y) => {
    const from = left + textWidth("score: low") + 8;
    const step = 12;
    const shades = [0, 3, 6, SHADES].map((shade, k) =>
      rect(from + k * step, y - 10, step, 11, { class: "score", "fill-opacity": strength(shade) }),
    );
    return group(
      {},
      label("score: low", left, y, { class: "quiet" }),
      shades,
      path(`M${round(from)},${y - 10}h${4 * step}v11h${-4 * step}z`, { class: "grid" }),
      label("high", from + 4 * step + 7, y, { class: "quiet" }),
    );
  };

  return { draw, compute };
})();
