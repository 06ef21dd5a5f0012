// The controls of a figure in a page: native inputs, so that keyboard, touch and screen readers work as everywhere.
// `view` is the figure in a page, from figure.js.
const controls = (() => {
  const { element, setText, textButton } = elements;
  const { titled } = texts;

  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

  // A row with a name, a slider and its value, which the slider also speaks.
  /** @param {string} id @param {string} name @param {{ min: number, max: number, step: number }} range */
  const sliderRow = (id, name, range) => {
    const input = element("input", { type: "range", id, ...range });
    const value = element("span", { class: "xp-value", "aria-hidden": "true" }, "");
    const row = element("div", { class: "xp-row" }, element("label", { for: id }, name), input, value);
    /** @param {number} at @param {string} text @param {string} spoken */
    const show = (at, text, spoken) => {
      if (+input.value === at && input.getAttribute("aria-valuetext") === spoken) return;
      input.value = `${at}`;
      input.setAttribute("aria-valuetext", spoken);
      setText(value, text);
    };
    return { row, input, show };
  };

  /** @param {View} view @param {Control} control */
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

  /** @param {View} view @param {Control} control */
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
  /** @param {View} view @param {Movable} movable */
  const pointMover = (view, { labels, names, bounds, places }) => {
    const options = labels.map((text, i) => element("option", { value: i }, text));
    const point = element("select", { id: `${view.uid}-point` }, ...options);
    /** @param {number} i */
    const placeOf = (i) => view.figure.moved[i] ?? places[i];
    /** @param {Place} bounds @param {number} side */
    const sideSlider = ([low, high], side) => {
      const range = { min: low, max: high, step: (high - low) / 100 };
      const { row, input, show } = sliderRow(`${view.uid}-side${side}`, names[side], range);
      input.addEventListener("input", () => {
        const place = [...placeOf(+point.value)];
        place[side] = +input.value;
        view.player.stop();
        view.move({ ...view.figure.moved, [point.value]: place });
      });
      const follow = () => {
        const at = placeOf(+point.value)[side];
        show(at, at.toFixed(2), `${labels[+point.value]}, ${names[side]} ${at.toFixed(2)}`);
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

  // The rows of the controls by name. Where there is a single value, there is nothing to choose.
  /** @param {View} view */
  const controlRows = (view) =>
    Object.fromEntries(
      Object.entries(view.figure.controls)
        .filter(([, { labels }]) => labels.length > 1)
        .map(([name, control]) => [
          name,
          control.buttons ? controlButtons(view, control) : controlSlider(view, control),
        ]),
    );

  // The rows below the picture.
  /** @param {View} view */
  const controlPanel = (view) => {
    const panel = element("div", { class: "xp-controls" }, ...Object.values(view.rows));
    if (view.figure.movable) panel.append(pointMover(view, view.figure.movable));
    return panel;
  };

  // The room for the values of sliders, which is the same in all rows.
  /** @param {Figure} figure */
  const roomForValues = ({ controls }) => {
    const texts = Object.values(controls).flatMap((control) => (control.buttons ? [] : control.labels));
    return `${Math.min(6.5, Math.max(3, ...texts.map((text) => 0.62 * text.length)))}em`;
  };

  // Several controls play like the digits of a counter: the first moves, and at its end the next one. Whoever has not
  // moved any of them yet sees the whole run; at the end it starts again.
  /** @param {View} view */
  const makePlayer = (view) => {
    const { figure } = view;
    const moving = figure.play;
    const button = textButton("play", () => (clock ? stop() : start()));
    button.className = "xp-play";
    let clock = 0;
    const show = () => {
      const action = clock ? "pause" : "play";
      setText(button, action);
      button.setAttribute("aria-label", `${action} ${moving.map(titled).join(" and ")}`);
      button.classList.toggle("xp-plays", clock > 0);
    };
    /** @param {string} name */
    const atEnd = (name) => view.position(name) === figure.controls[name].values.length - 1;
    const isOver = () => moving.every(atEnd);
    const step = () => {
      const turn = moving.findIndex((name) => !atEnd(name));
      moving.slice(0, turn).forEach((name) => view.put(name, 0));
      view.put(moving[turn], view.position(moving[turn]) + 1);
    };
    // True if a control was away from the beginning, to which all go.
    const rewind = () => {
      if (!view.untouched && !isOver()) return false;
      const away = moving.some((name) => view.position(name) > 0);
      moving.forEach((name) => view.put(name, 0));
      view.untouched = false;
      return away;
    };
    const start = () => {
      const rewound = rewind();
      if (reducedMotion.matches) {
        if (!rewound) step(); // one step per press
        return;
      }
      clock = setInterval(() => {
        if (!button.isConnected || isOver()) return stop();
        step();
        if (isOver()) stop();
      }, figure.pace ?? 700);
      show();
    };
    const stop = () => {
      if (!clock) return;
      clearInterval(clock);
      clock = 0;
      show();
      view.words.speak();
    };
    show();
    return { button, stop, playing: () => clock > 0 };
  };

  /** @param {View} view */
  const resetView = (view) => {
    view.player.stop();
    view.putAll(view.opening);
    if (Object.keys(view.figure.moved).length) view.move({});
    else view.change(); // without a new address
    view.untouched = true;
  };

  // The row above the picture: play, next, the buttons of a sound, and reset.
  /** @param {View} view */
  const toolRow = (view) => {
    const { figure, player } = view;
    const onward = kinds[figure.kind].next;
    return element(
      "div",
      { class: "xp-tools" },
      ...(figure.play.length ? [player.button] : []),
      ...(onward ? [textButton("next", () => view.choose(onward(figure)))] : []),
      ...(view.sound?.buttons ?? []),
      textButton("reset", () => resetView(view)),
      ...(view.sound ? [view.sound.note] : []),
    );
  };

  return { controlRows, controlPanel, roomForValues, makePlayer, toolRow };
})();
