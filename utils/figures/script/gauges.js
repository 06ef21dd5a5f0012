// The curves above a picture: shares, along the axis that is played.

// A picture below its gauges: the curve of each share while the figure plays, strong up to where it is now, and there a
// dot with its name and its number. A grip under them is dragged along. What comes later than the reader has been is
// hidden in a page.
const withGauges = (picture, figure) => {
  if (!figure.gauges[1].length) return picture;
  const layout = gaugeLayout(figure, picture.width);
  return {
    width: picture.width,
    height: layout.below + picture.height,
    marks: [
      gaugeAxes(figure, layout),
      gaugeCurves(figure, layout),
      layout.strong.map(signsAlong(figure, layout)),
      [...layout.strong].reverse().map(dotNow(layout)),
      gaugeNames(layout),
      gaugeGrip(figure, layout),
      group({ transform: `translate(0 ${layout.below})` }, picture.marks),
    ],
  };
};

// Of each curve its name, and its number at each value of the axis. A share with a number for each choice in the
// picture is that of the choice. Of rivals, there is one of each that the reader has played.
const gaugeLines = (figure, axis) => {
  const { rival, place } = figure;
  const [, curves] = figure.gauges;
  const [pick] = Object.keys(figure.picks);
  const values = [...figure.controls[axis].values.keys()];
  const sharesOf = (key, at) =>
    values.map((i) => figure.arrayAt(key, { ...at, [axis]: i })[figure.shape(key).length ? at[pick] : 0]);
  if (rival) {
    const lines = figure.controls[rival].labels.map((name, k) => {
      const shares = sharesOf(curves[0][0], { ...place, [rival]: k });
      return { name, shares, style: "", weak: k !== place[rival], verdicts: [], seen: figure.reached[k] };
    });
    return lines.filter(({ weak, seen }) => !weak || seen !== undefined);
  }
  const lines = curves.map(([key, text], k) => {
    const own = figure.shape(key).length ? spelled(figure.labels[figure.picks[pick]][place[pick]]) : "";
    const verdicts = own && kinds[figure.kind].verdicts ? kinds[figure.kind].verdicts(figure, axis) : [];
    const shares = sharesOf(key, place);
    const style = courseStyle(k, curves.length);
    return verdicts && { name: text || own, shares, style, weak: false, verdicts, seen: figure.reached[0] };
  });
  return lines.filter(Boolean);
};

// Where the parts of the gauges stand.
const gaugeLayout = (figure, width) => {
  const {
    play: [axis],
  } = figure;
  const { labels, values } = figure.controls[axis];
  const wide = isWide(width);
  const lines = gaugeLines(figure, axis);
  const strong = lines.filter(({ weak }) => !weak);
  const titles = labels.map((text) => `${titled(axis)} ${text}`);
  // On a desk there is room for the names on the right of the last value.
  const room = wide ? 24 + BOLD * widest(lines.map(({ name }) => `${name} 100%`)) : 0;
  const left = Math.max(44, gripHalf(titles[0]));
  const right = width - Math.max(12, room, gripHalf(titles.at(-1)));
  const top = wide ? 32 : lines.length > 1 ? 44 : 40;
  const base = top + (wide ? 100 : strong.length > 1 ? 60 : 48);
  const [least, most] = gaugeRange(figure);
  const yOf = (share) => base - ((share - least) / (most - least)) * (base - top);
  const xs = scaled(values).map((share) => left + share * (right - left));
  const [at] = figure.blend("=now", [figure.position(axis)]);
  // What is written is that of the new value at once, as everywhere in the picture.
  const near = figure.place[axis];
  return {
    ...{ axis, width, wide, lines, strong, left, right, top, base, xs, yOf, at, near },
    below: base + (wide ? 40 : 36),
    ticks: [least, (least + most) / 2, most],
    now: placeAt(xs, at),
    held: titles[near],
    courseOf: ({ shares }) => xs.map((x, i) => [x, yOf(shares[i])]),
    heightOf: ({ shares }) => yOf(placeAt(shares, at)),
  };
};

// Shares that are all far from 0 or from 1 have a part of the axis.
const gaugeRange = (figure) => {
  const all = figure.gauges[1].flatMap(([key]) => [...figure.allOf(key)]);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return [low < 0.4 ? 0 : Math.floor(10 * low) / 10, high > 0.7 ? 1 : Math.ceil(10 * high) / 10];
};

// Values as shares of the way from the first to the last, on a scale that has equal steps for equal factors if the
// factor between them is large.
const scaled = (values) => {
  const measure = values[0] > 0 && values.at(-1) >= 16 * values[0] ? Math.log : (value) => value;
  const first = measure(values[0]);
  const all = measure(values.at(-1)) - first;
  return values.map((value) => (measure(value) - first) / all);
};

const gaugeAxes = (figure, { axis, width, left, top, base, xs, yOf, ticks, now, held }) => {
  const [heading] = figure.gauges;
  let end = -Infinity;
  const valueLabel = (text, k) => {
    const half = textWidth(text) / 2 + 6;
    if (xs[k] - half < end) return false; // no room
    end = xs[k] + half;
    return Math.abs(xs[k] - now) > half + gripHalf(held) && label(text, xs[k], base + 24, { class: "middle quiet" });
  };
  return [
    heading && label(heading, 0, 14, { class: "name" }),
    ticks.map((share) => [
      line(left, yOf(share), width - 8, yOf(share), { class: "grid" }),
      label(percent(share), left - 7, yOf(share) + 4, { class: "end quiet" }),
    ]),
    figure.controls[axis].labels.map(valueLabel),
    line(now, top - 8, now, base + 9, { class: "rule" }),
  ];
};

// Of marks at the values of the axis those that the reader has been to, and those that a page hides.
const parted = (figure, { axis, xs, at }, seen, draw) => {
  const last = xs.length - 1;
  const end = seen === undefined ? last : seen === figure.place[axis] ? Math.floor(at) : seen;
  return [group({}, draw(0, end + 1)), group({ class: "later" }, end < last && draw(end, last + 1))];
};

const gaugeCurves = (figure, layout) => {
  const { lines, strong, at, now, courseOf, heightOf } = layout;
  return [
    lines.map((each) => {
      const style = { class: `course ${each.style}`.trim() };
      return parted(figure, layout, each.seen, (from, to) => polyline(courseOf(each).slice(from, to), style));
    }),
    strong.map((each) => {
      const before = courseOf(each).filter((_, i) => i <= at);
      return polyline([...before, [now, heightOf(each)]], { class: `course done ${each.style}`.trim() });
    }),
  ];
};

// Where the chosen word looks right, and where elsewhere.
const signsAlong =
  (figure, layout) =>
  ({ shares, verdicts, seen }) => {
    const { xs, yOf } = layout;
    const sign = (right, x, y) =>
      right
        ? circle(x, y, 3.5, { class: "weight" })
        : path(`M${round(x - 3)},${round(y - 3)}l6,6m0,-6l-6,6`, { class: "sign" });
    return parted(figure, layout, seen, (from, to) =>
      verdicts.slice(from, to).map((right, k) => sign(right, xs[from + k], yOf(shares[from + k]))),
    );
  };

const dotNow =
  ({ now, near, heightOf }) =>
  (each) => {
    const y = heightOf(each);
    if (each.verdicts[near] === false) return group({}, circle(now, y, 7, { class: "paper" }), cross(now, y));
    return group({}, circle(now, y, 5, { class: each.style === "second" ? "score outlined" : "weight outlined" }));
  };

// Names and numbers stand beside the dots, those of rivals at the ends of their curves.
const gaugeNames = ({ width, wide, lines, strong, top, base, xs, yOf, near, now, courseOf, heightOf }) => {
  const texts = strong.map(({ name, shares }) => `${name} ${percent(shares[near])}`.trim());
  const reach = 16 + BOLD * widest(texts);
  const fits = now + reach < width;
  const dots = strong.map(heightOf);
  const clear = fits ? dots : besideCurves(dots, strong.map(courseOf), [now - reach, now], top, base);
  const beside = apart(clear, 15, base - (fits ? 0 : 3));
  const ended = (wide ? lines : [])
    .filter(({ weak }) => weak)
    .map(({ name, shares, seen }) => ({
      text: `${name} ${percent(shares[seen])}`,
      x: xs[seen] + 10,
      y: yOf(shares[seen]),
    }));
  const meet = ended.some(({ x }) => Math.abs(x - now) < reach);
  const ends = apart([...ended.map(({ y }) => y), ...(meet ? beside : [])], 15, base);
  const heights = meet ? ends.slice(ended.length) : beside;
  const x = fits ? now + 10 : now - 10;
  return [
    ended.map(({ text, x: end }, k) => label(text, end, ends[k] + 4, { class: "quiet halo" })),
    texts.map((text, k) => label(text, x, heights[k] + 4, { class: `${fits ? "" : "end "}name halo` })),
  ];
};

// Where the names of dots stand that have no room on their right: above the dot, that of the lowest of several below
// it, and clear of all curves from `from` to `to`.
const besideCurves = (dots, courses, [from, to], top, base) => {
  const lowest = dots.length > 1 ? argmax(dots) : -1;
  const highest = argmin(dots);
  const near = courses.map((course, k) => [dots[k], ...course.filter(([x]) => x >= from && x <= to).map(([, y]) => y)]);
  return dots.map((y, k) => {
    const around = k === lowest || k === highest ? near.flat() : near[k];
    const [high, low] = [Math.min(...around), Math.max(...around)];
    if (k === lowest) return low - y < 24 && base - low > 16 ? low + 12 : y + 13;
    return y - high < 34 ? Math.max(top - 14, high - 13) : y - 13;
  });
};

const gaugeGrip = (figure, { axis, left, right, top, base, xs, now, held }) => {
  const follow = (x) => among(x, xs);
  const area = [left - 16, top - 8, right - left + 32, base - top + 40];
  return [grip(now, base + 9, held), gripMoved(figure, axis, { x: now, y: base + 9, text: held }, follow, area)];
};
