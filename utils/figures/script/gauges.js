// The curves above a picture: shares, along the axis that is played.
const gauges = (() => {
  const { last } = mathematics;
  const { circle, courseStyle, cross, flow, group, isWide, label, line, path, polyline, round } = marks;
  const { BOLD, percent, spelled, textWidth, titled, widest } = texts;
  const { among, grip, gripHalf, gripMoved } = grips;

  /** @typedef {ReturnType<typeof gaugeLayout>} Layout */
  /** @typedef {ReturnType<typeof gaugeLines>[number]} Curve */

  // A picture below its gauges: the curve of each share, strong up to where the figure is now, and there a dot. A grip
  // under them is dragged along. In a page the rest of a curve is hidden.
  /** @param {Picture} picture @param {Figure} figure */
  const withGauges = (picture, figure) => {
    if (!figure.gauges[1].length) return picture;
    const layout = gaugeLayout(figure, picture.width);
    return {
      width: picture.width,
      height: layout.below + picture.height,
      marks: [
        gaugeNames(figure, layout),
        gaugeAxes(figure, layout),
        layout.lines.map((each) => gaugeCurve(each, layout)),
        [...layout.lines].reverse().map((each) => dotNow(each, layout)),
        gaugeGrip(figure, layout),
        group({ transform: `translate(0 ${layout.below})` }, picture.marks),
      ],
    };
  };

  // Of each curve its name, and its number at each value of the axis. A share with a number for each choice in the
  // picture is that of the choice.
  /** @param {Figure} figure @param {string} axis */
  const gaugeLines = (figure, axis) => {
    const [, curves] = figure.gauges;
    const [pick] = Object.keys(figure.picks);
    const positions = [...figure.controls[axis].values.keys()];
    return curves.flatMap(([key, text], k) => {
      const ofChoice = figure.shape(key).length > 0;
      const own = ofChoice ? spelled(figure.labels[figure.picks[pick]][figure.place[pick]]) : "";
      const at = ofChoice ? figure.place[pick] : 0;
      const shares = positions.map((i) => figure.arrayAt(key, { ...figure.place, [axis]: i })[at]);
      const judge = kinds[figure.kind].verdicts;
      const verdicts = ofChoice && judge ? judge(figure, axis) : [];
      return verdicts ? [{ name: text || own, shares, style: courseStyle(k, curves.length), verdicts }] : [];
    });
  };

  // Where the parts of the gauges stand: names in as many lines as the longest need, and the curves from `top` to `base`.
  /** @param {Figure} figure @param {number} width */
  const gaugeLayout = (figure, width) => {
    const [axis] = figure.play;
    const [heading, curves] = figure.gauges;
    const { labels, values } = figure.controls[axis];
    const wide = isWide(width);
    const titles = labels.map((text) => `${titled(axis)} ${text}`);
    const left = Math.max(44, gripHalf(titles[0]));
    const right = width - Math.max(12, gripHalf(last(titles)));
    const [pick] = Object.keys(figure.picks);
    const rooms = curves.map(([key, text]) => {
      const names = text || !figure.shape(key).length ? [text] : figure.labels[figure.picks[pick]].map(spelled);
      return 40 + BOLD * widest(names.map((name) => `${name} 100%`));
    });
    const names = flow(rooms, 0, width, 17).map(({ x, y }) => ({ x, y: (heading ? 32 : 14) + y }));
    const top = last(names).y + 12;
    const base = top + (wide ? 100 : 42);
    const [least, most] = gaugeRange(figure);
    const xs = scaled(values).map((share) => left + share * (right - left));
    return {
      ...{ axis, width, names, left, right, top, base, xs },
      lines: gaugeLines(figure, axis),
      /** @param {number} share */
      yOf: (share) => base - ((share - least) / (most - least)) * (base - top),
      below: base + (wide ? 40 : 36),
      ticks: [least, (least + most) / 2, most],
      at: figure.place[axis],
      now: xs[figure.place[axis]],
      held: titles[figure.place[axis]],
    };
  };

  // Shares that are all far from 0 or from 1 have a part of the axis.
  /** @param {Figure} figure */
  const gaugeRange = (figure) => {
    const all = figure.gauges[1].flatMap(([key]) => [...figure.allOf(key)]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return [low < 0.4 ? 0 : Math.floor(10 * low) / 10, high > 0.7 ? 1 : Math.ceil(10 * high) / 10];
  };

  // Values as shares of the way from the first to the last, on a scale that has equal steps for equal factors if the
  // factor between them is large.
  /** @param {number[]} values */
  const scaled = (values) => {
    /** @type {(value: number) => number} */
    const measure = values[0] > 0 && last(values) >= 16 * values[0] ? Math.log : (value) => value;
    const first = measure(values[0]);
    const all = measure(last(values)) - first;
    return values.map((value) => (measure(value) - first) / all);
  };

  // What the curves are, and the number of each now; before the name a piece of its curve.
  /** @param {Figure} figure @param {Layout} layout */
  const gaugeNames = (figure, { lines, names, at }) => [
    label(figure.gauges[0], 0, 14, { class: "name" }),
    lines.map(({ name, shares, style }, k) => {
      const { x, y } = names[k];
      return [
        path(`M${round(x)},${y - 4}h22`, { class: `course done ${style}` }),
        label(`${name} ${percent(shares[at])}`.trim(), x + 28, y, { class: "name" }),
      ];
    }),
  ];

  /** @param {Figure} figure @param {Layout} layout */
  const gaugeAxes = (figure, { axis, width, left, top, base, xs, yOf, ticks, now, held }) => {
    let end = -Infinity;
    /** @param {string} text @param {number} k */
    const valueLabel = (text, k) => {
      const half = textWidth(text) / 2 + 6;
      if (xs[k] - half < end) return false; // no room
      end = xs[k] + half;
      return Math.abs(xs[k] - now) > half + gripHalf(held) && label(text, xs[k], base + 24, { class: "middle quiet" });
    };
    return [
      ticks.map((share) => [
        line(left, yOf(share), width - 8, yOf(share), { class: "grid" }),
        label(percent(share), left - 7, yOf(share) + 4, { class: "end quiet" }),
      ]),
      figure.controls[axis].labels.map(valueLabel),
      line(now, top - 8, now, base + 9, { class: "rule" }),
    ];
  };

  // A curve, with signs where the chosen word looks right and where elsewhere.
  /** @param {Curve} curve @param {Layout} layout */
  const gaugeCurve = ({ shares, style, verdicts }, { xs, yOf, at }) => {
    const points = shares.map((share, i) => [xs[i], yOf(share)]);
    /** @param {boolean} right @param {number} i */
    const sign = (right, i) => {
      const [x, y] = points[i];
      return right ? circle(x, y, 3.5, { class: "weight" }) : cross(x, y, "small");
    };
    const signs = verdicts.map(sign);
    return [
      group({ class: "later" }, polyline(points.slice(at), { class: `course ${style}` }), signs.slice(at + 1)),
      polyline(points.slice(0, at + 1), { class: `course done ${style}` }),
      signs.slice(0, at + 1),
    ];
  };

  /** @param {Curve} curve @param {Layout} layout */
  const dotNow = ({ shares, style, verdicts }, { now, at, yOf }) => {
    const y = yOf(shares[at]);
    return verdicts[at] === false
      ? [circle(now, y, 7, { class: "paper" }), cross(now, y)]
      : circle(now, y, 5, { class: style === "second" ? "score outlined" : "weight outlined" });
  };

  /** @param {Figure} figure @param {Layout} layout */
  const gaugeGrip = (figure, { axis, left, right, top, base, xs, now, held }) => {
    /** @param {number} x */
    const follow = (x) => among(x, xs);
    /** @type {[number, number, number, number]} */
    const area = [left - 16, top - 8, right - left + 32, base - top + 40];
    return [grip(now, base + 9, held), gripMoved(figure, axis, { x: now, y: base + 9, text: held }, follow, area)];
  };

  return { withGauges };
})();
