// The marks that pictures are made of: plain objects, which figure.js puts into the page and Python writes as text.

const round = (number) => Math.round(100 * number) / 100;

const mark = (tag, attributes = {}, ...children) => ({
  tag,
  attributes,
  children: children.flat(Infinity).filter(Boolean),
});
const label = (text, x, y, attributes = {}) => ({
  tag: "text",
  attributes: { x: round(x), y: round(y), ...attributes },
  text: `${text}`,
});
const rect = (x, y, width, height, attributes = {}) =>
  mark("rect", {
    x: round(x),
    y: round(y),
    width: round(Math.max(width, 0)),
    height: round(Math.max(height, 0)),
    ...attributes,
  });
const line = (x1, y1, x2, y2, attributes = {}) =>
  mark("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), ...attributes });
const circle = (cx, cy, r, attributes = {}) =>
  mark("circle", { cx: round(cx), cy: round(cy), r: round(r), ...attributes });
const path = (d, attributes = {}) => mark("path", { d, ...attributes });
const group = (attributes, ...children) => mark("g", attributes, ...children);

// An invisible area: a click on it makes these choices, for example { word: 3 }; a mouse above it already shows them,
// except where only a click counts.
const picks = (choices, onlyClick = false) => ({
  class: "pick",
  "data-pick": JSON.stringify(choices),
  "data-click": onlyClick ? "" : undefined,
});
// The class of a word that can be chosen; under a full stop a line would hide it.
const choice = (word) => (/[\p{L}\p{N}]/u.test(word) ? "choice" : "");
// The position of the word that looks most at a column.
const looking = (figure, words, column) => {
  const all = figure.labels[words].map((_, i) => figure.rowAt("weights", i)[column]);
  return all.indexOf(Math.max(...all));
};
// A mark that can be dragged: `drag` gets the pointer's place in the picture and returns the new positions of controls,
// or under `points` the new places of points.
const dragged = (what, drag, marked) => ({ ...marked, drag, attributes: { ...marked.attributes, "data-drag": what } });

// How a control is called: "top_p" is top-p, and "valid_length" valid length.
const titled = (name) => name.replace(/_(?=.$)/, "-").replaceAll("_", " ");

// About how wide a text is drawn; text of 13 pixels unless told.
const textWidth = (text, size = 13) =>
  [...("" + text)].reduce(
    (sum, c) => sum + (c > "\u2e7f" ? 1 : /[fijlrt.,;:!'() |]/.test(c) ? 0.34 : /[mwMW@]/.test(c) ? 0.86 : 0.57),
    0,
  ) * size;
const widest = (texts) => Math.max(...texts.map((text) => textWidth(text)));

// The position of `x` among `count` values that are spread evenly from `low` to `high`: between two of them, 1.4 for example.
const evenly = (x, low, high, count) => Math.max(0, Math.min(count - 1, ((x - low) / (high - low)) * (count - 1)));

// The same among places that rise.
const among = (x, places) => {
  const next = places.findIndex((place) => place > x);
  if (next <= 0) return next ? places.length - 1 : 0;
  return next - 1 + (x - places[next - 1]) / (places[next] - places[next - 1]);
};

// The place at a position between two of several places.
const placeAt = (places, at) => {
  const before = Math.floor(at);
  const here = places[before];
  return here + (at - before) * ((places[before + 1] ?? here) - here);
};

// Of each number its place among all, the largest first; of equal ones the first comes first.
const ranksOf = (numbers) =>
  numbers.map((number, i) => numbers.filter((other, k) => other > number || (other === number && k < i)).length);

// Two curves differ in tone, more of them in their dashes.
const courseStyle = (k, count) => (count === 2 && k ? "second" : `dash${k}`);

const polyline = (points, attributes) =>
  path(points.map(([x, y], i) => `${i ? "L" : "M"}${round(x)},${round(y)}`).join(""), attributes);

// Diagonal lines that fill a rectangle: what is forbidden. They lie where x + y is a multiple of the step, so that those of
// neighbours meet.
const hatch = (x, y, width, height, step = 6) => {
  let d = "";
  for (let sum = step * Math.floor((x + y) / step + 1); sum < x + width + y + height; sum += step) {
    const from = Math.max(x, sum - y - height);
    const to = Math.min(x + width, sum - y);
    d += `M${round(from)},${round(sum - from)}L${round(to)},${round(sum - to)}`;
  }
  return path(d, { class: "hatch" });
};

// Hatches the columns that are not allowed.
const hatchBeside = ([from, to], columns, left, top, step, height) =>
  [
    [0, from],
    [to, columns],
  ].map(([a, b]) => a < b && hatch(left + a * step, top, (b - a) * step, height, 8));

// Lines and numbers at 0, 0.5 and 1 of an axis of weights.
const weightAxis = (left, right, base, height, ticks = [0, 0.5, 1]) =>
  ticks.map((value) => [
    line(left, base - height * value, right, base - height * value, { class: "grid" }),
    label(value, left - 5, base - height * value + 4, { class: "end quiet" }),
  ]);

// A number between 0 and 1 as it fits: whole, without its first 0, or not at all.
const fitted = (text, step) =>
  [text, text.replace(/^0\./, ".").replace(/^1\.0+$/, "1")].find((form) => textWidth(form, 12) < step);

// A number above a bar, upright where the bars stand too close for it. A 0 is pale, or not written where there is little
// room.
const numberAbove = (text, x, y, step) => {
  const form = fitted(text, step);
  if (!+text && form !== text) return false;
  return form !== undefined
    ? label(form, x, y, { class: +text ? "middle number halo" : "middle number halo pale" })
    : label(text, 0, 0, { transform: `translate(${round(x + 4)} ${round(y)}) rotate(-90)`, class: "number" });
};

// The end of an axis for these weights: the first of a few round numbers that none of them exceeds.
const roundTop = (weights) => [0.02, 0.05, 0.1, 0.2, 0.5].find((top) => Math.max(...weights) <= 1.001 * top) ?? 1; // stored numbers are rounded

// The numbers of the words that are written where the play begins: a word that is wrong there is not lost later.
const writtenFirst = (figure) =>
  figure.play.length ? figure.arrayAt("written", { ...figure.place, [figure.play[0]]: 0 }) : [];

// A lone full stop can hardly be seen.
const spelled = (word) => (/^[.。]$/.test(word) ? "full stop" : word);

// Labels under columns: straight if they fit, else turned. `labelsHeight` says how much room they take.
const turns = (labels, step) => widest(labels.map(spelled)) > step - 2;
const labelsHeight = (labels, step) => (turns(labels, step) ? 10 + 0.72 * widest(labels.map(spelled)) : 20);
const columnLabels = (words, left, step, top) => {
  const turned = turns(words, step);
  return words.map(spelled).map((text, j) => {
    const x = left + (j + 0.5) * step;
    return turned
      ? label(text, 0, 0, { transform: `translate(${round(x + 3)} ${round(top + 12)}) rotate(-45)`, class: "end" })
      : label(text, x, top + 15, { class: "middle" });
  });
};

// A heat map of rows by columns: the larger a number, the darker its cell. `allowed` has of each row the first allowed
// column and the first one behind the last; all others are hatched.
const cells = (numbers, columns, { left, top, step, height, allowed = [] }) => {
  const rows = numbers.length / columns;
  const filled = [...numbers].map((number, at) => {
    const i = Math.floor(at / columns);
    const j = at % columns;
    const x = left + j * step;
    const y = top + i * height;
    return rect(x + 0.5, y + 0.5, step - 1, height - 1, {
      class: "weight cell",
      rx: 2,
      "fill-opacity": number < 0.015 ? 0 : Math.min(1, round(number)),
    });
  });
  const forbidden = allowed.map((ends, i) => hatchBeside(ends, columns, left, top + i * height, step, height));
  const lattice = [
    ...Array.from(
      { length: columns + 1 },
      (_, j) => `M${round(left + j * step)},${round(top)}v${round(rows * height)}`,
    ),
    ...Array.from(
      { length: rows + 1 },
      (_, i) => `M${round(left)},${round(top + i * height)}h${round(columns * step)}`,
    ),
  ].join("");
  return group(
    {},
    rect(left, top, columns * step, rows * height, { class: "ground" }),
    path(lattice, { class: "lattice" }),
    filled,
    forbidden,
  );
};

// The class of a number on a cell of this weight: the colour of the paper on a dark cell, and black in both themes on one
// between.
const onCell = (weight) => (weight > 0.85 ? "inverse" : weight > 0.65 ? "between" : "");
const numberInCell = (number, x, y, step) =>
  label(fitted(number.toFixed(2), step + 0.5) ?? "", x, y, { class: `middle number ${onCell(number)}` });

// A dashed frame inside a cell that should have the weight.
const goldFrame = (left, top, width, height, weight) => {
  const inside = width < 40 ? 1.5 : 3;
  return rect(left + inside, top + inside, width - 2 * inside, height - 2 * inside, {
    class: weight > 0.5 ? "gold inverse" : "gold",
    rx: 2,
  });
};

// What the shades of a heat map mean; it ends at `right`.
const scale = (right) => [
  label(0, right - 82, 14, { class: "end quiet" }),
  label(1, right, 14, { class: "end quiet" }),
  [0, 0.25, 0.5, 0.75, 1].map((share, i) =>
    rect(right - 77 + 13 * i, 4, 13, 11, { class: "weight swatch", "fill-opacity": share }),
  ),
  rect(right - 77, 4, 65, 11, { class: "grid" }),
];

// What marks something wrong, and something right, around a middle.
const cross = (x, y, style = "") =>
  path(`M${round(x - 4)},${round(y - 4)}l8,8m0,-8l-8,8`, { class: `sign ${style}`.trim() });
const tick = (x, y) => path(`M${round(x - 5)},${round(y)}l4,4l6,-8`, { class: "sign" });

// A grip that says that it can be dragged, to the left and to the right, and what it is at now.
const gripHalf = (text) => (text ? 0.54 * textWidth(text) + 15 : 12);
const grip = (x, y, text = "", role = "handle") => {
  const half = gripHalf(text);
  return group(
    { class: "through" },
    rect(x - half, y, 2 * half, 22, { class: role, rx: 11 }),
    path(`M${round(x - half + 10)},${y + 7}v8l-5,-4zM${round(x + half - 10)},${y + 7}v8l5,-4z`, { class: "paper" }),
    text && label(text, x, y + 15.5, { class: "middle name inverse" }),
  );
};

// What the arrows of a grip do: a click goes one value on or back, and whoever drags one of them holds the grip there.
const arrows = (figure, name, x, y, text, follow) =>
  group(
    {},
    [-1, 1].map((side) => {
      const next = figure.place[name] + side;
      const aside = side * (gripHalf(text) - 10);
      const reachable = next >= 0 && next < figure.controls[name].values.length;
      return (
        reachable &&
        dragged(
          name,
          (at) => ({ [name]: follow(at - aside) }),
          rect(x + aside - 13, y - 2, 26, 26, { ...picks({ [name]: next }, true), class: "drag" }),
        )
      );
    }),
  );

// A button that makes these choices; it ends at `right`.
const button = (text, right, top, choices) => {
  const width = Math.max(74, 1.08 * textWidth(text) + 26);
  const left = right - width;
  return group(
    { class: "button" },
    rect(left, top, width, 24, { class: "outset", rx: 12 }),
    label(text, left + width / 2, top + 16, { class: "middle name" }),
    rect(left, top, width, 24, picks(choices, true)),
  );
};

// A text on a card of its own, around a middle.
const tip = (text, x, y) => {
  const half = textWidth(text) / 2 + 8;
  return group(
    { class: "through" },
    rect(x - half, y - 15, 2 * half, 22, { class: "tip", rx: 4 }),
    label(text, x, y, { class: "middle" }),
  );
};

// Heights at least `gap` apart, and none below `limit`, as near to these as may be.
const apart = (heights, gap, limit) => {
  const order = [...heights.keys()].sort((a, b) => heights[a] - heights[b]);
  const spread = [...heights];
  const last = order.length - 1;
  order.forEach((k, i) => {
    if (i) spread[k] = Math.max(spread[k], spread[order[i - 1]] + gap);
  });
  order.forEach((k, i) => {
    spread[k] = Math.min(spread[k], limit - gap * (last - i));
  });
  return spread;
};

// The curves above a picture: of each share its name, and its number at each value of the axis that is played. A share with
// a number for each choice in the picture is that of the choice. Of rivals, there is one of each that the reader has played.
const gaugeLines = (figure, axis) => {
  const [, curves] = figure.gauges;
  const [pick] = Object.keys(figure.picks);
  const { rival } = figure;
  const sharesOf = (key, place) =>
    figure.controls[axis].values.map(
      (_, i) => figure.arrayAt(key, { ...place, [axis]: i })[figure.shape(key).length ? place[pick] : 0],
    );
  if (rival) {
    return figure.controls[rival].labels
      .map((name, k) => ({
        name,
        shares: sharesOf(curves[0][0], { ...figure.place, [rival]: k }),
        style: "",
        weak: k !== figure.place[rival],
        verdicts: [],
        seen: figure.reached[k],
      }))
      .filter(({ weak, seen }) => !weak || seen !== undefined);
  }
  return curves
    .map(([key, text], k) => {
      const own = figure.shape(key).length ? spelled(figure.labels[figure.picks[pick]][figure.place[pick]]) : "";
      const verdicts = own && kinds[figure.kind].verdicts ? kinds[figure.kind].verdicts(figure, axis) : [];
      return (
        verdicts && {
          name: text || own,
          shares: sharesOf(key, figure.place),
          style: courseStyle(k, curves.length),
          weak: false,
          verdicts,
          seen: figure.reached[0],
        }
      );
    })
    .filter(Boolean);
};

// Where the names of dots stand that have no room on their right: above the dot, that of the lowest of several below it, and
// clear of all curves from `from` to `to`.
const besideCurves = (dots, courses, [from, to], top, base) => {
  const lowest = dots.length > 1 ? dots.indexOf(Math.max(...dots)) : -1;
  const highest = dots.indexOf(Math.min(...dots));
  const near = courses.map((course, k) => [dots[k], ...course.filter(([x]) => x >= from && x <= to).map(([, y]) => y)]);
  return dots.map((y, k) => {
    const around = k === lowest || k === highest ? near.flat() : near[k];
    const [high, low] = [Math.min(...around), Math.max(...around)];
    if (k === lowest) return low - y < 24 && base - low > 16 ? low + 12 : y + 13;
    return y - high < 34 ? Math.max(top - 14, high - 13) : y - 13;
  });
};

// A picture below its gauges: the curve of each share while the figure plays, strong up to where it is now, and there a dot
// with its name and its number. A grip under them is dragged along. What comes later than the reader has been is hidden in
// a page.
const withGauges = (picture, figure) => {
  const {
    gauges: [heading, { length: count }],
    play: [axis],
  } = figure;
  const { width } = picture;
  if (!count) return picture;
  const { labels, values } = figure.controls[axis];
  const wide = width >= 560;
  const lines = gaugeLines(figure, axis);
  const [at] = figure.blend("now", [figure.position(axis)]);
  // What is written is that of the value that the grip is nearest to.
  const near = Math.round(at);
  const strong = lines.filter(({ weak }) => !weak);
  const named = wide ? lines.filter(({ weak, seen }) => !weak || seen >= near) : strong;
  const texts = named.map(({ name, shares }) => `${name} ${percent(shares[near])}`.trim());
  // Shares that are all far from 0 or from 1 have a part of the axis.
  const ofAll = figure.gauges[1].flatMap(([key]) => [...figure.allOf(key)]);
  const low = Math.min(...ofAll);
  const high = Math.max(...ofAll);
  const [least, most] = [low < 0.4 ? 0 : Math.floor(10 * low) / 10, high > 0.7 ? 1 : Math.ceil(10 * high) / 10];
  // On a desk there is room for the names on the right of the last value.
  const titles = labels.map((text) => `${titled(axis)} ${text}`);
  const room = wide ? 24 + 1.08 * widest(named.map(({ name }) => `${name} 100%`)) : 0;
  const tall = wide ? 100 : strong.length > 1 ? 60 : 48;
  const left = Math.max(44, gripHalf(titles[0]));
  const right = width - Math.max(12, room, gripHalf(titles.at(-1)));
  const top = wide ? 32 : lines.length > 1 ? 44 : 40;
  const base = top + tall;
  const below = base + (wide ? 40 : 36);
  // Values stand where they are on a scale, which has equal steps for equal factors if the factor of all is large.
  const measure = values[0] > 0 && values.at(-1) >= 16 * values[0] ? Math.log : (value) => value;
  const first = measure(values[0]);
  const all = measure(values.at(-1)) - first;
  const xs = values.map((value) => left + ((measure(value) - first) / all) * (right - left));
  const yOf = (share) => base - ((share - least) / (most - least)) * tall;
  const now = placeAt(xs, at);
  const held = titles[near];
  const half = gripHalf(held);
  const courseOf = ({ shares }) => xs.map((x, i) => [x, yOf(shares[i])]);
  const dotOf = ({ shares }) => yOf(placeAt(shares, at));
  const reach = 16 + 1.08 * widest(texts);
  const fits = now + reach < width;
  const dots = named.map(dotOf);
  const spots = apart(
    fits ? dots : besideCurves(dots, named.map(courseOf), [now - reach, now], top, base),
    15,
    base - (fits ? 0 : 3),
  );
  const follow = (x) => among(x, xs);
  let written = -Infinity;
  // Of marks at the values of the axis those that the reader has been to, and those that a page hides.
  const parted = (seen, draw) => {
    const last = xs.length - 1;
    const end = seen === undefined ? last : seen === figure.place[axis] ? Math.floor(at) : seen;
    return [group({}, draw(0, end + 1)), group({ class: "later" }, end < last && draw(end, last + 1))];
  };
  return {
    width,
    height: below + picture.height,
    marks: [
      heading && label(heading, 0, 14, { class: "name" }),
      [least, (least + most) / 2, most].map((share) => [
        line(left, yOf(share), width - 8, yOf(share), { class: "grid" }),
        label(percent(share), left - 7, yOf(share) + 4, { class: "end quiet" }),
      ]),
      labels.map((text, k) => {
        const beside = textWidth(text) / 2 + 6;
        if (xs[k] - beside < written) return false; // no room
        written = xs[k] + beside;
        return Math.abs(xs[k] - now) > beside + half && label(text, xs[k], base + 24, { class: "middle quiet" });
      }),
      line(now, top - 8, now, base + 9, { class: "rule" }),
      lines.map((each) =>
        parted(each.seen, (from, to) =>
          polyline(courseOf(each).slice(from, to), { class: `course ${each.style}`.trim() }),
        ),
      ),
      strong.map((each) =>
        polyline([...courseOf(each).filter((_, i) => i <= at), [now, dotOf(each)]], {
          class: `course done ${each.style}`.trim(),
        }),
      ),
      // Where the chosen word looks right, and where elsewhere.
      strong.map(({ shares, verdicts, seen }) =>
        parted(seen, (from, to) =>
          verdicts.slice(from, to).map((right, k) => {
            const [x, y] = [xs[from + k], yOf(shares[from + k])];
            return right
              ? circle(x, y, 3.5, { class: "weight" })
              : path(`M${round(x - 3)},${round(y - 3)}l6,6m0,-6l-6,6`, { class: "sign" });
          }),
        ),
      ),
      [...strong]
        .reverse()
        .map((each) =>
          each.verdicts[near] === false
            ? group({}, circle(now, dotOf(each), 7, { class: "paper" }), cross(now, dotOf(each)))
            : group(
                {},
                circle(now, dotOf(each), 5, { class: each.style === "second" ? "score outlined" : "weight outlined" }),
              ),
        ),
      texts.map((text, k) =>
        label(text, fits ? now + 10 : now - 10, spots[k] + 4, {
          class: `${fits ? "" : "end "}${named[k].weak ? "quiet" : "name"} halo`,
        }),
      ),
      grip(now, base + 9, held),
      dragged(
        axis,
        (x) => ({ [axis]: follow(x) }),
        rect(left - 16, top - 8, right - left + 32, tall + 40, { class: "drag instead" }),
      ),
      arrows(figure, axis, now, base + 9, held, follow),
      group({ transform: `translate(0 ${below})` }, picture.marks),
    ],
  };
};

// The picture as SVG text.
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeText = (text) => `${text}`.replace(/[&<>"]/g, (c) => ESCAPES[c]);
const written = ({ tag, attributes, children, text }) => {
  const set = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeText(value)}"`)
    .join("");
  return `<${tag}${set}>${text === undefined ? children.map(written).join("") : escapeText(text)}</${tag}>`;
};
const svgText = ({ width, height, marks }, style) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${round(height)}" width="${round(width)}" height="${round(height)}">` +
  `<style>${escapeText(style)}</style><rect width="100%" height="100%" class="paper"></rect>${marks.flat(Infinity).filter(Boolean).map(written).join("")}</svg>`;
