// The controls of a figure in a page: native inputs, so that keyboard, touch and screen readers work as everywhere.
// `view` is the figure in a page, from figure.js.

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...children);
  return node;
};

const textButton = (text, press) => {
  const node = element("button", { type: "button" }, text);
  node.addEventListener("click", press);
  return node;
};

// A row with a name, a slider and its value, which the slider also speaks.
const sliderRow = (id, name, range) => {
  const input = element("input", { type: "range", id, ...range });
  const value = element("span", { class: "xp-value", "aria-hidden": "true" }, "");
  const row = element("div", { class: "xp-row" }, element("label", { for: id }, name), input, value);
  const show = (at, text, spoken) => {
    if (+input.value === at && input.getAttribute("aria-valuetext") === spoken) return;
    input.value = at;
    input.setAttribute("aria-valuetext", spoken);
    value.firstChild.data = text;
  };
  return { row, input, show };
};

const controlSlider = (view, { name, labels }) => {
  const range = { min: 0, max: labels.length - 1, step: 1 };
  const { row, input, show } = sliderRow(view.uid + name, titled(name), range);
  input.addEventListener("input", () => view.choose({ [name]: +input.value }));
  view.refresh.push(() => {
    const at = view.position(name);
    show(at, labels[at], `${titled(name)} ${labels[at]}`);
  });
  return row;
};

const controlButtons = (view, { name, labels }) => {
  const inputs = labels.map((_, at) => {
    const input = element("input", { type: "radio", name: view.uid + name, id: `${view.uid}${name}-${at}` });
    input.addEventListener("change", () => view.choose({ [name]: at }));
    return input;
  });
  const choices = inputs.map((input, at) => element("label", { for: input.id }, input, labels[at]));
  view.refresh.push(() => {
    inputs[view.position(name)].checked = true;
  });
  return element(
    "div",
    { class: "xp-row", role: "radiogroup", "aria-label": titled(name) },
    element("span", { "aria-hidden": "true" }, titled(name)),
    element("div", { class: "xp-choices" }, ...choices),
  );
};

// What the mouse drags, the keyboard moves with these: which point, and its place.
const pointMover = (view) => {
  const { labels, names, bounds, places } = view.figure.movable;
  const options = labels.map((text, i) => element("option", { value: i }, text));
  const point = element("select", { id: `${view.uid}-point` }, ...options);
  const placeOf = (i) => view.figure.moved[i] ?? places[i];
  const sideSlider = ([low, high], side) => {
    const range = { min: low, max: high, step: (high - low) / 100 };
    const { row, input, show } = sliderRow(`${view.uid}-side${side}`, names[side], range);
    input.addEventListener("input", () => {
      const place = [...placeOf(point.value)];
      place[side] = +input.value;
      view.player.stop();
      view.move({ ...view.figure.moved, [point.value]: place });
    });
    const follow = () => {
      const at = placeOf(point.value)[side];
      show(at, at.toFixed(2), `${labels[point.value]}, ${names[side]} ${at.toFixed(2)}`);
    };
    point.addEventListener("change", follow);
    view.refresh.push(follow);
    return row;
  };
  return element(
    "details",
    { class: "xp-mover" },
    element("summary", {}, "move a point with the keyboard"),
    element("div", { class: "xp-row" }, element("label", { for: point.id }, "point"), point),
    ...bounds.map(sideSlider),
  );
};

// The rows of the controls by name.
const controlRows = (view) =>
  Object.fromEntries(
    Object.entries(view.figure.controls).map(([name, control]) => [
      name,
      control.buttons ? controlButtons(view, control) : controlSlider(view, control),
    ]),
  );

// The rows below the picture.
const controlPanel = (view) => {
  const panel = element("div", { class: "xp-controls" }, ...Object.values(view.rows));
  if (view.figure.movable) panel.append(pointMover(view));
  return panel;
};

// The room for the values of sliders, which is the same in all rows.
const roomForValues = ({ controls }) => {
  const texts = Object.values(controls).flatMap((control) => (control.buttons ? [] : control.labels));
  return `${Math.min(6.5, Math.max(3, ...texts.map((text) => 0.62 * text.length)))}em`;
};

// Several controls play like the digits of a counter: the first moves, and at its end the next one. Whoever has not
// moved any of them yet sees the whole run; where the first has reached its end, it starts again, or the kind goes on
// after a play that came to its end.
const makePlayer = (view) => {
  const { figure } = view;
  const moving = figure.play;
  const onward = kinds[figure.kind].next;
  const button = textButton("play", () => (clock ? stop() : start()));
  button.className = "xp-play";
  let clock = 0;
  let ended = false; // whether nothing was chosen since the play came to its end
  const show = () => {
    button.firstChild.data = clock ? "pause" : "play";
    button.setAttribute("aria-label", `${button.firstChild.data} ${moving.map(titled).join(" and ")}`);
    button.classList.toggle("xp-plays", clock > 0);
  };
  const atEnd = (name) => view.position(name) === figure.controls[name].values.length - 1;
  const step = () => {
    const turn = moving.findIndex((name) => !atEnd(name));
    if (turn < 0) return; // Python has moved them to their ends
    moving.slice(0, turn).forEach((name) => view.put(name, 0));
    view.put(moving[turn], view.position(moving[turn]) + 1);
  };
  // Goes back to where a play begins, unless it goes on from here; true if a control was away from its beginning.
  const rewind = () => {
    const whole = view.untouched || moving.every(atEnd);
    if (!whole && !atEnd(moving[0])) return false;
    figure.reached[figure.settled[figure.rival] ?? 0] = 0;
    const away = moving.some((name) => view.position(name) > 0);
    if (onward && ended) view.putAll(onward(figure));
    else moving.slice(0, whole ? moving.length : 1).forEach((name) => view.put(name, 0));
    return away;
  };
  const start = () => {
    const rewound = rewind();
    if (reducedMotion.matches) {
      // one step per press
      if (!rewound) step();
      ended = moving.every(atEnd);
      return;
    }
    clock = setInterval(() => {
      if (!button.isConnected) return stop();
      step();
      if (!moving.every(atEnd)) return;
      stop();
      ended = true;
    }, figure.pace ?? 700);
    show();
  };
  const stop = () => {
    ended = false;
    if (!clock) return;
    clearInterval(clock);
    clock = 0;
    show();
    view.words.speak();
  };
  show();
  return { button, stop, playing: () => clock > 0 };
};

// How MathJax names the glyph of a symbol's first letter, which formulas set in italics: the blocks of italic letters
// begin with A, a and α, and Unicode has h elsewhere.
const glyphOf = (sign) => {
  const code = sign.codePointAt(0);
  const italic =
    code === 0x68
      ? 0x210e
      : code < 0x61
        ? 0x1d434 + code - 0x41
        : code < 0x80
          ? 0x1d44e + code - 0x61
          : 0x1d6fc + code - 0x3b1;
  return `mjx-c.mjx-c${italic.toString(16).toUpperCase()}`;
};

// A symbol lights the marks of its role in the picture, and itself in the formulas of the page: while one points at it,
// or from one click to the next.
const makeSymbols = (view) => {
  let kept = null;
  const symbolsOf = ({ dataset }) => {
    const glyphs = document.querySelectorAll(`mjx-container[display] ${dataset.letter}`);
    return [...glyphs].map((glyph) => glyph.parentNode);
  };
  const light = (lit) => {
    const { dataset } = view.picture.svg;
    if (lit) dataset.lit = lit.dataset.role;
    else delete dataset.lit;
    for (const chip of chips) {
      chip.setAttribute("aria-pressed", chip === kept);
      for (const symbol of symbolsOf(chip)) symbol.classList.remove("xp-lit");
    }
    // Two roles may have the same letter.
    for (const symbol of lit ? symbolsOf(lit) : []) symbol.classList.add("xp-lit");
  };
  const keep = (chip) => {
    kept = chip;
    light(chip);
  };
  const chips = Object.entries(view.figure.symbols).map(([role, sign]) => {
    const style = `--own: var(--${role === "context" ? "value" : role})`;
    const look = { class: "xp-symbol", "data-role": role, "data-letter": glyphOf(sign), style };
    const chip = element(
      "button",
      { type: "button", ...look, title: `shows the ${role} in the picture` },
      element("i", {}, sign),
      ` ${role}`,
    );
    for (const on of ["pointerenter", "focus"]) chip.addEventListener(on, () => light(chip));
    for (const off of ["pointerleave", "blur"]) chip.addEventListener(off, () => light(kept));
    chip.addEventListener("click", () => keep(kept === chip ? null : chip));
    return chip;
  });
  return { chips, release: () => keep(null) };
};

const resetView = (view) => {
  const { figure } = view;
  view.player.stop();
  view.symbols.release();
  view.putAll(view.opening);
  figure.reached = {};
  if (Object.keys(figure.moved).length) view.move({});
  else view.change(); // without a new address
  view.untouched = true;
};

// The row above the picture: play, next, reset, and the symbols of the roles.
const toolRow = (view) => {
  const { figure, player, symbols } = view;
  const onward = kinds[figure.kind].next;
  return element(
    "div",
    { class: "xp-tools" },
    ...(figure.play.length ? [player.button] : []),
    ...(onward ? [textButton("next", () => view.choose(onward(figure)))] : []),
    textButton("reset", () => resetView(view)),
    element("span", { class: "xp-symbols" }, ...symbols.chips),
  );
};
