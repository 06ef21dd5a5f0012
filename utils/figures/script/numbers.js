// A figure's numbers and words in one of its states. Nothing here or in the drawing functions needs a browser, so
// Python runs the same code for still pictures.
const numbers = (() => {
  const { last, rowOf } = mathematics;
  const { longest, percent, signed } = texts;
  const { withGauges } = gauges;

  // The numbers of the words that are written where the play begins: a word that is wrong there is not lost later.
  /** @param {Figure} figure */
  const writtenFirst = (figure) =>
    figure.play.length ? figure.arrayAt("written", { ...figure.place, [figure.play[0]]: 0 }) : [];

  const VIEWS = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array };

  const FIELD = /\{(\w+)(?:\[(\w+)\])?(?::(\d+)([%g]?))?(?:\|(\w+))?\}/g;

  /** @param {string} base64 */
  const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

  // The numbers of a packed array; Python, which has no atob, gives the stored integers as a list.
  /** @param {PackedArray} packed */
  const unpack = ({ data, dtype, step }) =>
    Float64Array.from(
      typeof data === "string" ? new VIEWS[dtype](bytes(data).buffer) : data,
      (stored) => stored * step,
    );

  /** @param {Spec} spec */
  const controlsOf = ({ axes, picks, labels }) => {
    const choices = Object.entries(picks).map(([name, key]) => ({
      name,
      labels: labels[key],
      values: [...labels[key].keys()],
    }));
    return Object.fromEntries([...axes, ...choices].map((control) => [control.name, control]));
  };

  /** @param {Record<string, PackedArray>} arrays */
  const unpackedArrays = (arrays) =>
    Object.fromEntries(
      Object.entries(arrays).map(([key, packed]) => {
        const shape = packed.shape.slice(packed.over.length);
        return [key, { all: unpack(packed), over: packed.over, shape, size: shape.reduce((a, b) => a * b, 1) }];
      }),
    );

  // Where the controls are.
  /** @param {Figure} figure */
  const positionsIn = (figure) => ({
    /** @param {string} name */
    value: (name) => figure.controls[name].values[figure.place[name]],
    // A frame around what is chosen; around what is only under the mouse it is thin.
    /** @param {string} name */
    pointed: (name) => name in figure.hover && figure.hover[name] !== figure.settled[name],
    /** @param {string} pick */
    frame: (pick) => (figure.pointed(pick) ? "query frame thin" : "query frame"),
    // Puts the controls at these positions; where points were moved, computes what depends on them.
    /** @param {Positions} place */
    put: (place) => {
      Object.assign(figure.place, place);
      figure.computed = kinds[figure.kind].compute?.(figure) ?? {};
    },
  });

  /** @param {Figure} figure */
  const numbersIn = (figure) => ({
    /** @param {string} key */
    has: (key) => key in figure.unpacked || key in figure.computed,
    /** @param {string} key */
    shape: (key) => figure.unpacked[key].shape,
    /** @param {string} key */
    allOf: (key) => figure.unpacked[key].all,
    /** @param {string} key */
    array: (key) => figure.computed[key] ?? figure.arrayAt(key, figure.place),
    // The numbers at other positions of the controls.
    /** @param {string} key @param {Positions} place */
    arrayAt: (key, place) => {
      const { all, over, size } = figure.unpacked[key];
      const first = size * over.reduce((sum, name) => sum * figure.controls[name].values.length + place[name], 0);
      return all.subarray(first, first + size);
    },
    /** @param {string} key @param {number} at */
    rowAt: (key, at) => rowOf(figure.array(key), at, last(figure.shape(key))),
    // The row of what is chosen.
    /** @param {string} key @param {string} pick */
    chosen: (key, pick) => figure.rowAt(key, figure.place[pick]),
  });

  // What stands in a sentence for a field, `{key[pick]:digits form|labels}`.
  /** @param {Figure} figure @param {string[]} field */
  const fieldText = (figure, [key, pick, digits, form, labels]) => {
    /** @param {string} name */
    const isKnown = (name) => name in figure.controls || figure.has(name);
    const unknown =
      [key, pick].find((name) => name && !isKnown(name)) ?? (labels in figure.labels ? undefined : labels);
    if (unknown) throw new Error(`the sentence names '${unknown}', which is not an axis, a pick, an array or labels`);
    if (figure.controls[key]) return figure.controls[key].labels[figure.place[key]];
    const value = figure.array(key)[pick ? figure.place[pick] : 0];
    const places = +(digits ?? 0);
    if (labels) return figure.labels[labels][value];
    if (form === "g") return value.toPrecision(places).replace(/^-/, "\u2212");
    return form ? percent(value, places) : signed(value, places);
  };

  /** @param {Figure} figure */
  const wordsIn = (figure) => ({
    sentence: () => {
      // A sentence for each setting or, where there is a case for each choice in the picture, for each choice.
      const cases = figure.has("case") ? figure.array("case") : [0];
      const [pick] = Object.keys(figure.picks);
      return figure.say[cases[cases.length > 1 ? figure.place[pick] : 0]]
        .replace(FIELD, (_, ...field) => fieldText(figure, field))
        .replace(/(^|\. )“[.。]”/g, "$1The full stop")
        .replace(/“[.。]”/g, "the full stop");
    },
    // About the longest sentence that there is, with the longest label in place of each name.
    longestSentence: () =>
      longest(
        figure.say.map((sentence) =>
          sentence.replace(FIELD, (_, key, _pick, digits, _form, labels) =>
            longest(figure.controls[key]?.labels ?? figure.labels[labels] ?? ["0".repeat(3 + (+digits || 0))]),
          ),
        ),
      ),
  });

  // What a figure is: its controls by name, its numbers, and in `place` the position of each control.
  /** @param {Spec} spec */
  const makeFigure = (spec) => {
    if (!kinds[spec.kind]) throw new Error(`no script draws the kind '${spec.kind}': it has no kinds.${spec.kind}`);
    const figure = /** @type {Figure} */ ({
      ...spec,
      controls: controlsOf(spec),
      unpacked: unpackedArrays(spec.arrays),
      place: {},
      settled: {}, // where the controls are, whatever is under the mouse
      hover: {}, // the mark under the mouse: what it picks, and its column
      moved: {}, // where the reader has put points: number of the point to [x, y]
      computed: {}, // numbers that the page computes itself, because a point was moved
      sounding: null, // the second of its sound that is played now
      /** @param {number} width */
      draw: (width) => withGauges(kinds[spec.kind].draw(figure, width), figure),
    });
    return Object.assign(figure, positionsIn(figure), numbersIn(figure), wordsIn(figure));
  };

  return { writtenFirst, makeFigure };
})();
