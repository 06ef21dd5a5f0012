// The marks that pictures are made of: plain objects, which nodes.js puts into the page and Python writes as text.
const marks = (() => {
  const { fitted, spelled, widest } = texts;

  /** @param {number} number */
  const round = (number) => Math.round(100 * number) / 100;

  // Marks in lists of lists, without those that are not there, as one list. The key of each is its way through the lists,
  // "2.0" for example, so that it is the same mark in the next picture, whichever of the others are there.
  /** @type {(list: Marks[], way?: string) => KeyedMark[]} */
  const keyed = (list, way = "") =>
    list.flatMap((each, i) => {
      if (!each) return [];
      return Array.isArray(each) ? keyed(each, `${way}${i}.`) : [{ ...each, key: `${way}${i}` }];
    });

  /** @type {(tag: string, attributes?: Attributes, ...children: Marks[]) => Mark} */
  const mark = (tag, attributes = {}, ...children) => ({ tag, attributes, children: keyed(children) });

  // Placed by a transform, which a style sheet can let glide to another place; x and y it cannot.
  /** @type {(text: string | number, x: number, y: number, attributes?: Attributes) => Mark} */
  const label = (text, x, y, attributes = {}) => ({
    tag: "text",
    attributes: { transform: `translate(${round(x)} ${round(y)})`, ...attributes },
    children: [],
    text: `${text}`,
  });

  /**
   * @param {number} x
   * @param {number} y
   * @param {number} width
   * @param {number} height
   * @param {Attributes} [attributes]
   */
  const rect = (x, y, width, height, attributes = {}) =>
    mark("rect", {
      x: round(x),
      y: round(y),
      width: round(Math.max(width, 0)),
      height: round(Math.max(height, 0)),
      ...attributes,
    });

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {Attributes} [attributes] */
  const line = (x1, y1, x2, y2, attributes = {}) =>
    mark("line", { x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2), ...attributes });

  /** @param {number} cx @param {number} cy @param {number} r @param {Attributes} [attributes] */
  const circle = (cx, cy, r, attributes = {}) =>
    mark("circle", { cx: round(cx), cy: round(cy), r: round(r), ...attributes });

  /** @param {string} d @param {Attributes} [attributes] */
  const path = (d, attributes = {}) => mark("path", { d, ...attributes });

  /** @param {Attributes} attributes @param {...Marks} children */
  const group = (attributes, ...children) => mark("g", attributes, ...children);

  /** @param {number[][]} points @param {Attributes} attributes */
  const polyline = (points, attributes) =>
    path(points.map(([x, y], i) => `${i ? "L" : "M"}${round(x)},${round(y)}`).join(""), attributes);

  // An invisible area: a click on it makes these choices, for example { word: 3 }; a mouse above it already shows them,
  // except where only a click counts.
  /** @param {Positions} choices @param {boolean} [onlyClick] */
  const picks = (choices, onlyClick = false) => ({
    class: "pick",
    "data-pick": JSON.stringify(choices),
    "data-click": onlyClick ? "" : undefined,
  });

  // The class of a word that can be chosen; under a full stop a line would hide it.
  /** @param {string} word */
  const choice = (word) => (/[\p{L}\p{N}]/u.test(word) ? "choice" : "");

  // A mark that can be dragged: `drag` gets the pointer's place in the picture and returns the new positions of controls,
  // or under `points` the new places of points.
  /** @param {string} what @param {Drag} drag @param {Mark} marked */
  const dragged = (what, drag, marked) => ({
    ...marked,
    drag,
    attributes: { ...marked.attributes, "data-drag": what },
  });

  // Whether a picture has the room of a desk; a phone has less.
  /** @param {number} width */
  const isWide = (width) => width >= 560;

  // Two curves differ in tone, more of them in their dashes.
  /** @param {number} k @param {number} count */
  const courseStyle = (k, count) => (count === 2 && k ? "second" : `dash${k}`);

  // Diagonal lines that fill a rectangle: what is forbidden. They lie where x + y is a multiple of the step, so that
  // those of neighbours meet.
  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} [step] */
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
  /** @param {number} left @param {number} right @param {number} base @param {number} height */
  const weightAxis = (left, right, base, height) =>
    [0, 0.5, 1].map((value) => [
      line(left, base - height * value, right, base - height * value, { class: "grid" }),
      label(value, left - 5, base - height * value + 4, { class: "end quiet" }),
    ]);

  // A number above a bar, upright where the bars stand too close for it. A 0 is pale, or not written where there is
  // little room.
  /** @param {string} text @param {number} x @param {number} y @param {number} step */
  const numberAbove = (text, x, y, step) => {
    const form = fitted(text, step);
    if (!+text && form !== text) return false;
    return form !== undefined
      ? label(form, x, y, { class: +text ? "middle number halo" : "middle number halo pale" })
      : label(text, 0, 0, { transform: `translate(${round(x + 4)} ${round(y)}) rotate(-90)`, class: "number" });
  };

  const UPRIGHT = 18; // under narrower columns, slanted words would touch

  // Labels under columns: straight if they fit. Of many numbers that do not fit, each fifth is written; words are turned.
  /** @param {string[]} words @param {number} left @param {number} step @param {number} top */
  const columnLabels = (words, left, step, top) => {
    const turned = turns(words, step);
    const each = isSparse(words, step) ? 5 : 1;
    return words.map(spelled).map((text, j) => {
      if (j % each) return false;
      const x = left + (j + 0.5) * step;
      if (!turned) return label(text, x, top + 15, { class: "middle" });
      const [place, angle] =
        step < UPRIGHT ? [`${round(x + 4)} ${round(top + 7)}`, -90] : [`${round(x + 3)} ${round(top + 12)}`, -45];
      return label(text, 0, 0, { transform: `translate(${place}) rotate(${angle})`, class: "end" });
    });
  };

  /** @param {string[]} labels @param {number} step */
  const fits = (labels, step) => widest(labels.map(spelled)) <= step - 2;

  /** @param {string[]} labels @param {number} step */
  const isSparse = (labels, step) => labels.length > 20 && !fits(labels, step) && labels.every((text) => +text >= 0);

  /** @param {string[]} labels @param {number} step */
  const turns = (labels, step) => !fits(labels, step) && !isSparse(labels, step);

  // How much room they take.
  /** @param {string[]} labels @param {number} step */
  const labelsHeight = (labels, step) =>
    turns(labels, step) ? 10 + (step < UPRIGHT ? 1 : 0.72) * widest(labels.map(spelled)) : 20;

  // A table in one path for each of its values: stretches of equal values in its rows are one rectangle.
  /**
   * @template {string | number} T
   * @param {T[]} values
   * @param {number} columns
   * @param {{ left?: number, top?: number, step: number, height: number }} lattice
   * @param {(value: T) => Attributes} attributesOf
   */
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

  // What marks something wrong, and something right, around a middle.
  /** @param {number} x @param {number} y @param {string} [style] */
  const cross = (x, y, style = "") =>
    path(`M${round(x - 4)},${round(y - 4)}l8,8m0,-8l-8,8`, { class: `sign ${style}`.trim() });

  /** @param {number} x @param {number} y */
  const tick = (x, y) => path(`M${round(x - 5)},${round(y)}l4,4l6,-8`, { class: "sign" });

  // Where boxes of these widths stand one behind the other, in as many lines as it takes from `left` to `right`.
  /** @param {number[]} widths @param {number} left @param {number} right @param {number} pitch */
  const flow = (widths, left, right, pitch) => {
    let [x, y] = [left, 0];
    return widths.map((width) => {
      if (x > left && x + width > right) [x, y] = [left, y + pitch];
      x += width;
      return { x: x - width, y };
    });
  };

  // The picture as SVG text.
  /** @type {Record<string, string>} */
  const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

  /** @param {unknown} text */
  const escapeText = (text) => `${text}`.replace(/[&<>"]/g, (c) => ESCAPES[c]);

  /** @type {(mark: Mark) => string} */
  const markText = ({ tag, attributes, children, text }) => {
    const set = Object.entries(attributes)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => ` ${key}="${escapeText(value)}"`)
      .join("");
    return `<${tag}${set}>${text === undefined ? children.map(markText).join("") : escapeText(text)}</${tag}>`;
  };

  /** @param {Picture} picture */
  const svgText = ({ width, height, marks }) => {
    const [wide, high] = [round(width), round(height)];
    const drawn = keyed(marks).map(markText).join("");
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}">` +
      `<style></style><rect width="100%" height="100%" class="paper"></rect>${drawn}</svg>`
    );
  };

  return {
    round,
    keyed,
    mark,
    label,
    rect,
    line,
    circle,
    path,
    group,
    polyline,
    picks,
    choice,
    dragged,
    isWide,
    courseStyle,
    hatch,
    weightAxis,
    numberAbove,
    columnLabels,
    labelsHeight,
    pathsByValue,
    cross,
    tick,
    flow,
    svgText,
  };
})();
