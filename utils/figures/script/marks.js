// The marks that pictures are made of: plain objects, which figure.js puts into the page and Python writes as text.

const round = (number) => Math.round(100 * number) / 100;

// Marks in lists of lists, without those that are not there, as one list. The key of each is its way through the lists,
// "2.0" for example, so that it is the same mark in the next picture, whichever of the others are there.
const keyed = (marks, way = "") =>
  marks.flatMap((each, i) => {
    if (!each) return [];
    return Array.isArray(each) ? keyed(each, `${way}${i}.`) : [{ ...each, key: `${way}${i}` }];
  });

const mark = (tag, attributes = {}, ...children) => ({ tag, attributes, children: keyed(children) });
// Placed by a transform, which a style sheet can let glide to another place; x and y it cannot.
const label = (text, x, y, attributes = {}) => ({
  tag: "text",
  attributes: { transform: `translate(${round(x)} ${round(y)})`, ...attributes },
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
// A mark that can be dragged: `drag` gets the pointer's place in the picture and returns the new positions of controls,
// or under `points` the new places of points.
const dragged = (what, drag, marked) => ({ ...marked, drag, attributes: { ...marked.attributes, "data-drag": what } });

// Whether a picture has the room of a desk; a phone has less.
const isWide = (width) => width >= 560;

// How a control is called: "top_p" is top-p, and "valid_length" valid length.
const titled = (name) => name.replace(/_(?=.$)/, "-").replaceAll("_", " ");

// About how wide a text is drawn; text of 13 pixels unless told.
const textWidth = (text, size = 13) =>
  [...("" + text)].reduce(
    (sum, c) => sum + (c > "\u2e7f" ? 1 : /[fijlrt.,;:!'() |]/.test(c) ? 0.34 : /[mwMW@]/.test(c) ? 0.86 : 0.57),
    0,
  ) * size;
const BOLD = 1.08; // how much wider a bold text is
const widest = (texts) => Math.max(...texts.map((text) => textWidth(text)));

// The position of `x` among places that rise: between two of them, 1.4 for example.
const among = (x, places) => {
  const next = places.findIndex((place) => place > x);
  if (next <= 0) return next ? places.length - 1 : 0;
  return next - 1 + (x - places[next - 1]) / (places[next] - places[next - 1]);
};

// A number of an axis, with as many decimals as the step from one to the next has.
const tickText = (value, step) =>
  signed(value, [0, 1, 2, 3, 4].find((digits) => Math.abs(+step.toFixed(digits) - step) < 0.01 * step) ?? 4);


// Two curves differ in tone, more of them in their dashes.
const courseStyle = (k, count) => (count === 2 && k ? "second" : `dash${k}`);

const polyline = (points, attributes) =>
  path(points.map(([x, y], i) => `${i ? "L" : "M"}${round(x)},${round(y)}`).join(""), attributes);

// Diagonal lines that fill a rectangle: what is forbidden. They lie where x + y is a multiple of the step, so that
// those of neighbours meet.
const hatch = (x, y, width, height, step = 6) => {
  let d = "";
  for (let sum = step * Math.floor((x + y) / step + 1); sum < x + width + y + height; sum += step) {
    const from = Math.max(x, sum - y - height);
    const to = Math.min(x + width, sum - y);
    d += `M${round(from)},${round(sum - from)}L${round(to)},${round(sum - to)}`;
  }
  return path(d, { class: "hatch" });
};

// Lines and numbers at 0, 0.5 and 1 of an axis of weights.
const weightAxis = (left, right, base, height) =>
  [0, 0.5, 1].map((value) => [
    line(left, base - height * value, right, base - height * value, { class: "grid" }),
    label(value, left - 5, base - height * value + 4, { class: "end quiet" }),
  ]);

// A number between 0 and 1 as it fits: whole, without its first 0, or not at all.
const fitted = (text, step) =>
  [text, text.replace(/^0\./, ".").replace(/^1\.0+$/, "1")].find((form) => textWidth(form, 12) < step);

// A number above a bar, upright where the bars stand too close for it. A 0 is pale, or not written where there is
// little room.
const numberAbove = (text, x, y, step) => {
  const form = fitted(text, step);
  if (!+text && form !== text) return false;
  return form !== undefined
    ? label(form, x, y, { class: +text ? "middle number halo" : "middle number halo pale" })
    : label(text, 0, 0, { transform: `translate(${round(x + 4)} ${round(y)}) rotate(-90)`, class: "number" });
};

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

// A heat map of rows by columns: the larger a number, the darker its cell. `allowed` has of each row the
// number of allowed columns; all behind them are hatched.
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
  const forbidden = allowed.map((number, i) => {
    const x = left + number * step;
    return number < columns && hatch(x, top + i * height, (columns - number) * step, height, 8);
  });
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

// A table in one path for each of its values: stretches of equal values in its rows are one rectangle.
const pathsByValue = (values, columns, { left = 0, top = 0, step, height }, attributesOf) => {
  const paths = new Map();
  let from = 0;
  values.forEach((value, at) => {
    if (at + 1 < values.length && values[at + 1] === value && (at + 1) % columns) return;
    const corner = `M${round(left + (from % columns) * step)},${round(top + Math.floor(from / columns) * height)}`;
    const wide = round((at + 1 - from) * step);
    paths.set(value, `${paths.get(value) ?? ""}${corner}h${wide}v${round(height)}h${-wide}z`);
    from = at + 1;
  });
  return [...paths].map(([value, d]) => path(d, attributesOf(value)));
};

// A map as small as a stamp, in eight shades: one path for each. Its gold cells have thin frames.
const stamp = (numbers, columns, { x: left, y: top, width, height }, gold = []) => {
  const step = width / columns;
  const row = (height * columns) / numbers.length;
  const shades = Array(9).fill("");
  const cell = (at) => {
    const [x, y] = [left + (at % columns) * step, top + Math.floor(at / columns) * row];
    return `M${round(x)},${round(y)}h${round(step)}v${round(row)}h${round(-step)}z`;
  };
  numbers.forEach((number, at) => {
    shades[Math.round(8 * number)] += cell(at);
  });
  return group(
    {},
    rect(left, top, width, height, { class: "ground" }),
    shades.slice(1).map((d, i) => path(d, { class: "weight", "fill-opacity": (i + 1) / 8 })),
    gold.length > 0 &&
      path([...gold].map((is, at) => (is ? cell(at) : "")).join(""), { class: "mini", "stroke-dasharray": "2 1.5" }),
    rect(left, top, width, height, { class: "grid" }),
  );
};

// The class of a number on a cell of this weight: the colour of the paper on a dark cell, and black in both themes on
// one between.
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
const gripHalf = (text) => (BOLD / 2) * textWidth(text) + 15;
const grip = (x, y, text, role = "handle") => {
  const half = gripHalf(text);
  return group(
    {},
    rect(x - half, y, 2 * half, 22, { class: role, rx: 11 }),
    path(`M${round(x - half + 10)},${y + 7}v8l-5,-4zM${round(x + half - 10)},${y + 7}v8l5,-4z`, { class: "paper" }),
    text && label(text, x, y + 15.5, { class: "middle name inverse" }),
  );
};

// What a grip says: on a desk also the name of its control.
const gripText = (name, text, wide) => (wide ? `${titled(name)} ${text}` : text);

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

// How a grip is moved: by a drag in an area around it, and by its arrows.
const gripMoved = (figure, name, { x, y, text }, follow, area) => [
  dragged(name, (at) => ({ [name]: follow(at) }), rect(...area, { class: "drag instead" })),
  arrows(figure, name, x, y, text, follow),
];

// Where boxes of these widths stand one behind the other, in as many lines as it takes from `left` to `right`.
const flow = (widths, left, right, pitch) => {
  let [x, y] = [left, 0];
  return widths.map((width) => {
    if (x > left && x + width > right) [x, y] = [left, y + pitch];
    x += width;
    return { x: x - width, y };
  });
};

// The picture as SVG text.
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeText = (text) => `${text}`.replace(/[&<>"]/g, (c) => ESCAPES[c]);
const markText = ({ tag, attributes, children, text }) => {
  const set = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeText(value)}"`)
    .join("");
  return `<${tag}${set}>${text === undefined ? children.map(markText).join("") : escapeText(text)}</${tag}>`;
};
const svgText = ({ width, height, marks }) => {
  const [wide, high] = [round(width), round(height)];
  const drawn = keyed(marks).map(markText).join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">` +
    `<style></style><rect width="100%" height="100%" class="paper"></rect>${drawn}</svg>`
  );
};
