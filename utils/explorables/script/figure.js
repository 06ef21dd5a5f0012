// A figure in a page or a notebook: its controls, and its picture, drawn anew at each change. anywidget calls
// render({ model, el }) in a notebook, and page.js calls it with a model of its own.

const NARROWEST = 288;
const WIDEST = 760;
let serial = 0;

const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...children);
  return node;
};

// Calls the function once no request has come for `wait` milliseconds.
const debounce = (wait, call) => {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, wait);
  };
};

// Makes the children of a node the marks that a picture consists of now, and changes only what is different.
const create = ({ tag, attributes, children, text }) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const key in attributes) if (attributes[key] !== undefined) node.setAttribute(key, attributes[key]);
  if (text === undefined) children.forEach((child) => node.append(create(child)));
  else node.textContent = text;
  return node;
};
const patch = (node, marks, before) => {
  marks.forEach((now, i) => {
    const old = before[i];
    const child = node.childNodes[i];
    if (!old) return node.append(create(now));
    if (old.tag !== now.tag) return child.replaceWith(create(now));
    for (const key in now.attributes)
      if (now.attributes[key] !== old.attributes[key]) child.setAttribute(key, now.attributes[key]);
    for (const key in old.attributes) if (now.attributes[key] === undefined) child.removeAttribute(key);
    if (now.text === undefined) patch(child, now.children, old.children);
    else if (now.text !== old.text) {
      if (old.text)
        child.firstChild.data = now.text; // faster than a new text
      else child.textContent = now.text;
    }
  });
  for (let i = before.length; i > marks.length; i--) node.lastChild.remove();
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

function render({ model, el }) {
  const figure = makeFigure(model.get("spec"));
  const { controls, movable } = figure;
  const names = Object.keys(controls);
  const opening = Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const position = (name) => controls[name].values.indexOf(model.get(name));
  let untouched = true; // what is played, since the page was opened or the figure reset
  const put = (name, at) => {
    if (figure.play.includes(name)) untouched = false;
    const { values } = controls[name];
    const value = values[Math.max(0, Math.min(values.length - 1, at))];
    if (model.get(name) === value) return;
    model.set(name, value);
    model.save_changes();
  };
  const move = (moved) => {
    model.set("points", moved);
    model.save_changes();
  };

  // -- controls: native inputs, so that keyboard, touch and screen readers work as everywhere --------------------
  // A notebook shows several figures, each with a copy of this script, and several views of one figure.
  const uid = `xp-${figure.name}-${++serial}-`;
  const panel = element("div", { class: "xp-controls" });
  const refresh = [];
  const widestLabel = (labels) => Math.min(6.5, Math.max(...labels.map((text) => 0.62 * text.length)));

  const slider = ({ name, labels }) => {
    const id = uid + name;
    const input = element("input", { type: "range", id, min: 0, max: labels.length - 1, step: 1 });
    // The slider speaks its own value.
    const value = element("span", { class: "xp-value", "aria-hidden": "true" }, "");
    input.addEventListener("input", () => {
      stop();
      put(name, +input.value);
    });
    refresh.push(() => {
      const at = position(name);
      if (value.textContent === labels[at] && +input.value === at) return;
      input.value = at;
      input.setAttribute("aria-valuetext", `${titled(name)} ${labels[at]}`);
      value.firstChild.data = labels[at];
    });
    return element("div", { class: "xp-row" }, element("label", { for: id }, titled(name)), input, value);
  };

  const buttons = ({ name, labels }) => {
    const box = element("div", { class: "xp-choices" });
    const inputs = labels.map((text, at) => {
      const input = element("input", { type: "radio", name: uid + name, id: `${uid}${name}-${at}` });
      input.addEventListener("change", () => {
        stop();
        put(name, at);
      });
      box.append(element("label", { for: input.id }, input, text));
      return input;
    });
    refresh.push(() => {
      inputs[position(name)].checked = true;
    });
    return element(
      "div",
      { class: "xp-row", role: "radiogroup", "aria-label": titled(name) },
      element("span", { "aria-hidden": "true" }, titled(name)),
      box,
    );
  };

  // What the mouse drags, the keyboard moves with these: which point, and its place.
  const mover = () => {
    const { labels, bounds } = movable;
    const choice = element(
      "select",
      { id: `${uid}-point` },
      ...labels.map((text, i) => element("option", { value: i }, text)),
    );
    const row = element("div", { class: "xp-row" }, element("label", { for: choice.id }, "point"), choice);
    const sliders = bounds
      .map((range, side) => {
        if (!range) return null;
        const id = `${uid}-side${side}`;
        const [low, high] = range;
        const input = element("input", { type: "range", id, min: low, max: high, step: (high - low) / 100 });
        input.addEventListener("input", () => {
          const place = [...placeOf(+choice.value)];
          place[side] = +input.value;
          move({ ...figure.moved, [choice.value]: place });
        });
        const value = element("span", { class: "xp-value", "aria-hidden": "true" });
        return {
          side,
          input,
          value,
          row: element("div", { class: "xp-row" }, element("label", { for: id }, movable.names[side]), input, value),
        };
      })
      .filter(Boolean);
    const placeOf = (i) => figure.moved[i] ?? movable.places[i];
    const follow = () =>
      sliders.forEach(({ side, input, value }) => {
        const at = placeOf(+choice.value)[side];
        input.value = at;
        value.textContent = at.toFixed(2);
        input.setAttribute("aria-valuetext", `${labels[+choice.value]}, ${movable.names[side]} ${at.toFixed(2)}`);
      });
    choice.addEventListener("change", follow);
    refresh.push(follow);
    return element(
      "details",
      { class: "xp-mover" },
      element("summary", {}, "move a point with the keyboard"),
      row,
      ...sliders.map((each) => each.row),
    );
  };

  // -- play ------------------------------------------------------------------------------------------------------
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let clock = 0;
  let play = null;
  let ended = false; // whether nothing was chosen since the play came to its end
  const showPlay = () => {
    play.firstChild.data = clock ? "pause" : "play";
    play.setAttribute("aria-label", `${play.firstChild.data} ${figure.play.map(titled).join(" and ")}`);
    play.classList.toggle("xp-plays", clock > 0);
  };
  const stop = () => {
    ended = false;
    if (!clock) return;
    clearInterval(clock);
    clock = 0;
    showPlay();
    speak();
  };
  // Several controls play like the digits of a counter: the first moves, and at its end the next one. Whoever has not
  // moved any of them yet sees the whole run; where the first has reached its end, it starts again, or the kind goes on after a play that came to its end.
  const onward = kinds[figure.kind].next;
  const player = (moving) => {
    play = element("button", { type: "button", class: "xp-play" }, "play");
    showPlay();
    const last = (name) => position(name) === controls[name].values.length - 1;
    const next = () => {
      const turn = moving.findIndex((name) => !last(name));
      if (turn < 0) return; // Python has moved them to their ends
      moving.slice(0, turn).forEach((name) => put(name, 0));
      put(moving[turn], position(moving[turn]) + 1);
    };
    play.addEventListener("click", () => {
      if (clock) return stop();
      const whole = untouched || moving.every(last);
      const rewound = whole || last(moving[0]);
      if (rewound) delete figure.reached[figure.settled[figure.rival] ?? 0];
      const moves = rewound && moving.some((name) => position(name) > 0);
      if (rewound && onward && ended) Object.entries(onward(figure)).forEach(([name, at]) => put(name, at));
      else if (rewound) moving.slice(0, whole ? moving.length : 1).forEach((name) => put(name, 0));
      if (still.matches) {
        // reduced motion: one step per press
        if (!moves) next();
        ended = moving.every(last);
        return;
      }
      clock = setInterval(() => {
        next();
        if (!moving.every(last)) return;
        stop();
        ended = true;
      }, figure.pace ?? 700);
      showPlay();
    });
    return play;
  };

  // -- roles: a symbol lights its marks in the picture, and itself in the formulas of the page: while one points at it,
  // or from one click to the next
  let kept = null;
  const light = (chip) => {
    if (chip) svg.dataset.lit = chip.dataset.role;
    else delete svg.dataset.lit;
    for (const each of tools.querySelectorAll(".xp-symbol")) {
      each.setAttribute("aria-pressed", each === kept);
      for (const glyph of document.querySelectorAll(`mjx-container[display] ${each.dataset.letter}`))
        glyph.parentNode.classList.toggle("xp-lit", each === chip);
    }
  };
  const symbol = ([role, sign]) => {
    const letter = glyphOf(sign);
    const chip = element(
      "button",
      {
        type: "button",
        class: "xp-symbol",
        "data-role": role,
        "data-letter": letter,
        title: `shows the ${role} in the picture`,
      },
      element("i", {}, sign),
      ` ${role}`,
    );
    for (const on of ["pointerenter", "focus"]) chip.addEventListener(on, () => light(chip));
    for (const off of ["pointerleave", "blur"]) chip.addEventListener(off, () => light(kept));
    chip.addEventListener("click", () => light((kept = kept === chip ? null : chip)));
    return chip;
  };

  const sliders = Object.values(controls).filter((control) => !control.buttons);
  panel.style.setProperty("--room", `${Math.max(3, ...sliders.map(({ labels }) => widestLabel(labels)))}em`);
  const rows = Object.fromEntries(
    names.map((name) => [name, controls[name].buttons ? buttons(controls[name]) : slider(controls[name])]),
  );
  panel.append(...Object.values(rows));
  const tools = element("div", { class: "xp-tools" });
  if (figure.play.length) tools.append(player(figure.play));
  if (onward) {
    const next = element("button", { type: "button" }, "next");
    next.addEventListener("click", () => choose(onward(figure)));
    tools.append(next);
  }
  const reset = element("button", { type: "button" }, "reset");
  reset.addEventListener("click", () => {
    stop();
    light((kept = null));
    figure.taken = undefined;
    for (const name in opening) put(name, controls[name].values.indexOf(opening[name]));
    figure.reached = {};
    if (Object.keys(figure.moved).length) move({});
    else change(); // without a new address
    untouched = true;
  });
  tools.append(reset, element("span", { class: "xp-symbols" }, ...Object.entries(figure.symbols).map(symbol)));
  if (movable) panel.append(mover());

  // -- picture: in a shadow tree only its own style rules apply ----------------------------------------------------
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true"); // the controls, the sentence and the table have the same content
  const holder = element("div", { class: "xp-picture", role: "img", "aria-label": figure.alt });
  holder.attachShadow({ mode: "open" }).append(element("style", {}, PICTURE_STYLE), svg);
  let drawn = [];
  let width = 0;
  let waiting = 0;
  const paint = () => {
    waiting = 0;
    const { height, marks } = figure.draw(width);
    svg.dataset.reached = JSON.stringify(figure.reached);
    const now = marks.flat(Infinity).filter(Boolean);
    patch(svg, now, drawn);
    drawn = now;
    if (progress >= 0.5 || !figure.gauges[1].length) write(); // the words change when the grip says the new value
    const box = `0 0 ${width} ${Math.round(height)}`;
    if (svg.getAttribute("viewBox") === box) return;
    svg.setAttribute("viewBox", box);
    holder.style.aspectRatio = `${width} / ${Math.round(height)}`;
    // What can be chosen in the picture, or has a grip in place of a slider, has a row below it only for readers who use the
    // keyboard.
    const offered = [...svg.querySelectorAll("[data-pick]")].flatMap((area) =>
      Object.keys(JSON.parse(area.dataset.pick)),
    );
    offered.push(...[...svg.querySelectorAll(".instead")].map((area) => area.dataset.drag));
    for (const name of names) rows[name].classList.toggle("xp-spare", offered.includes(name));
  };
  const paintSoon = () => {
    waiting ||= requestAnimationFrame(paint);
  };

  // A change by a control is drawn in steps; a drag, and a reader who wants no motion, get the new numbers at once.
  let origin = {};
  let last = {};
  let progress = 1;
  let begun = 0;
  let dragging = null;
  figure.blend = (name, numbers) => {
    const from = origin[name];
    const blended =
      progress < 1 && from?.length === numbers.length
        ? numbers.map((number, i) => from[i] + (number - from[i]) * progress)
        : numbers;
    return (last[name] = blended);
  };
  const STEPS = kinds[figure.kind].glide ?? 200;
  const SLOW = 40; // milliseconds
  const glide = () => {
    if (still.matches || dragging || !drawn.length) return paintSoon();
    origin = last;
    last = {};
    const running = progress < 1;
    let before = Infinity;
    const step = (time) => {
      // Where a frame takes too long, the new numbers come at once.
      progress = time - before > SLOW ? 1 : Math.min(1, Math.max(0, (time - begun) / STEPS));
      before = time;
      paint();
      if (progress < 1) requestAnimationFrame(step);
    };
    begun = performance.now();
    progress = 0;
    if (!running) requestAnimationFrame(step);
  };

  // -- the mouse and the finger: hovering shows, only a click, a tap or a drag chooses ----------------------------
  // The mark of a node: its place among the children, level by level, is that of the mark.
  const markOf = (node) => {
    const way = [];
    for (let at = node; at !== svg; at = at.parentNode) way.unshift([...at.parentNode.childNodes].indexOf(at));
    return way.reduce((found, i) => (found.children ?? found)[i], drawn);
  };
  const pickOf = (node) => node?.closest?.("[data-pick]")?.dataset.pick ?? "{}";
  const picked = (event) => JSON.parse(pickOf(event.target));
  const previewed = (event) => (event.target.closest?.("[data-click]") ? {} : picked(event));
  const place = (event) => {
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [x, y];
  };
  const show = (hover) => {
    if (JSON.stringify(hover) === JSON.stringify(figure.hover)) return;
    figure.hover = hover;
    look();
    paintSoon();
  };
  // A mouse that rests shows nothing anew when the picture moves under it.
  let rest = "";
  svg.addEventListener("pointerover", (event) => {
    const at = `${event.clientX},${event.clientY}`;
    if (event.pointerType !== "touch" && !dragging && at !== rest) show(previewed(event));
    rest = at;
  });
  svg.addEventListener("pointerleave", () => show({}));
  // The focus stays on a control: the page is laid out anew when it leaves the figure, between press and release.
  svg.addEventListener("mousedown", (event) => event.preventDefault());
  const choose = (choice) => {
    stop();
    for (const [name, at] of Object.entries(choice)) if (controls[name]) put(name, at);
  };
  svg.addEventListener("click", (event) => choose(picked(event)));
  // Where the picture is drawn anew between press and release, and the pressed node is gone or another mark, no click comes.
  let pressed = null;
  svg.addEventListener("pointerdown", ({ target }) => {
    pressed = { target, pick: pickOf(target) };
  });
  svg.addEventListener("pointerup", ({ clientX, clientY, button }) => {
    const gone = pressed && !(pressed.target.isConnected && pickOf(pressed.target) === pressed.pick) && !button;
    const under = gone && pickOf(svg.getRootNode().elementFromPoint(clientX, clientY));
    if (gone && under === pressed.pick) choose(JSON.parse(under));
    pressed = null;
  });
  // A grip follows the hand between two values of its control, which has the nearer one.
  const drag = (event) => {
    const { points, ...positions } = dragging.drag(...place(event));
    for (const [name, at] of Object.entries(positions)) {
      const near = Math.round(at);
      figure.between = at === near ? null : { name, to: near + Math.sign(at - near), share: Math.abs(at - near) };
      put(name, near);
      paintSoon();
    }
    if (points) move({ ...figure.moved, ...points });
  };
  svg.addEventListener("pointerdown", (event) => {
    const touched = event.target.closest?.("[data-drag]");
    const finger = event.pointerType === "touch";
    if (!touched || event.button || dragging) return; // a second finger drags nothing
    stop();
    svg.setPointerCapture(event.pointerId);
    // A finger that moves up or down scrolls the page, unless it pulls a point; one of many points it must tap first.
    const target = finger && touched.matches(".upright:not(.taken)") ? svg.querySelector(".drag") : touched;
    dragging = {
      id: event.pointerId,
      drag: markOf(target).drag,
      taken: finger ? picked(event).point : undefined,
      start: null,
      step: touched.matches("[data-click]") && picked(event),
      holds: target.matches(".pull:not(.upright), .taken"),
    };
    const pulled = target.classList.contains("pull");
    if (finger !== pulled || dragging.step) dragging.start = [event.clientX, event.clientY];
    else if (!pulled) drag(event);
  });
  const release = () => {
    dragging = null;
    if (!figure.between) return paintSoon();
    figure.between = null;
    glide();
  };
  svg.addEventListener("pointermove", (event) => {
    if (event.pointerId !== dragging?.id) return;
    if (!event.buttons)
      release(); // released where the page could not see it, for instance over a menu
    else if (
      !dragging.start ||
      (event.pointerType === "touch"
        ? Math.abs(event.clientX - dragging.start[0]) >= 8
        : Math.hypot(event.clientX - dragging.start[0], event.clientY - dragging.start[1]) >= 3)
    ) {
      dragging.start = null;
      drag(event);
    }
  });
  svg.addEventListener(
    "touchmove",
    (event) => {
      if (dragging?.holds) event.preventDefault();
    },
    { passive: false },
  );
  svg.addEventListener("pointerup", (event) => {
    if (event.pointerId !== dragging?.id) return;
    if (dragging.start && dragging.step)
      choose(dragging.step); // an arrow of a grip
    else if (dragging.start && event.pointerType === "touch" && dragging.taken === undefined) drag(event); // a tap
    figure.taken = dragging.taken;
    release();
  });
  svg.addEventListener("pointercancel", ({ pointerId }) => {
    if (pointerId === dragging?.id) release();
  });

  // -- words and numbers -------------------------------------------------------------------------------------------
  const say = element("p", { class: "xp-say", "aria-hidden": "true" }, "");
  const spoken = element("p", { class: "xp-spoken", role: "status" }, "");
  const parts = [tools, holder, say, spoken, panel];
  // The axis of a causal mask or of a window, or the one that goes from curve to curve, stands above the picture.
  const above = figure.options.causal?.[0] ?? figure.options.window ?? figure.rival;
  if (above) parts.splice(1, 0, element("div", { class: "xp-controls" }, rows[above]));
  if (figure.invite) parts.unshift(element("p", { class: "xp-invite" }, figure.invite));
  let fill = () => {};
  if (figure.table) {
    const [arrays, rows, columns, pick] = figure.table;
    const holds = element("div", {
      class: "xp-scroll",
      tabindex: "0",
      role: "group",
      "aria-label": "the numbers as a table",
    });
    const details = element("details", { class: "xp-table" }, element("summary", {}, "the numbers as a table"), holds);
    const cells = []; // made when the table is first opened, then reused, so that a screen reader keeps its place
    const head = (scope, text) => element("th", { scope }, text);
    const make = ([, title]) => {
      const table = element(
        "table",
        {},
        ...(title ? [element("caption", {}, title)] : []),
        element("tr", {}, element("td"), ...figure.labels[columns].map((text) => head("col", text))),
      );
      for (const text of figure.labels[rows]) {
        const numbers = figure.labels[columns].map(() => element("td", {}, ""));
        table.append(element("tr", {}, head("row", text), ...numbers));
        cells.push(...numbers);
      }
      holds.append(table);
    };
    fill = () => {
      if (!details.open) return;
      if (!cells.length) arrays.forEach(make);
      const numbers = arrays.flatMap(([array]) => [
        ...(pick ? figure.rowAt(array, figure.place[pick]) : figure.array(array)),
      ]);
      cells.forEach((cell, i) => {
        cell.firstChild.data = numbers[i].toFixed(3);
      });
    };
    details.addEventListener("toggle", fill);
    parts.push(details);
  }
  el.classList.add("xp-live");
  const body = element("div", { class: "xp-body" }, ...parts);
  // JupyterLab binds single keys in command mode, letters among them, so it must not see what is typed in a figure.
  body.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
  });
  body.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible")) el.classList.add("xp-keyboard");
  });
  el.replaceChildren(body);
  // With a fixed height the browser can lay out this box without the rest of the page.
  const hold = new ResizeObserver(([{ borderBoxSize }]) => {
    el.style.height = `${borderBoxSize[0].blockSize}px`;
  });
  hold.observe(body);

  // Delayed, so that a screen reader speaks only the last one, not each step of a run, and nothing that only the mouse shows.
  const speak = debounce(400, () => {
    fill(); // writing two hundred numbers would delay the picture
    if (!clock && !Object.keys(figure.hover).length && spoken.textContent !== say.textContent)
      spoken.firstChild.data = say.textContent;
  });
  const look = () => {
    for (const name of names) figure.settled[name] = position(name);
    const [played] = figure.play;
    const rival = figure.settled[figure.rival] ?? 0;
    if (played) figure.reached[rival] = Math.max(position(played), figure.reached[rival] ?? 0);
    figure.remember();
    figure.put(Object.fromEntries(names.map((name) => [name, figure.hover[name] ?? position(name)])));
    speak();
  };
  const write = () => {
    const words = figure.sentence();
    if (words !== say.textContent) say.firstChild.data = words;
  };
  const change = () => {
    figure.hover = {};
    figure.moved = model.get("points") ?? {};
    for (const update of refresh) update();
    look();
    glide();
  };
  for (const name of [...names, "points"]) model.on(`change:${name}`, change);
  // Room for the longest sentence, so that the page does not move under the mouse when another word is pointed at. A line
  // loses about half a word where it is broken.
  const sentence = figure.longestSentence();
  const pen = document.createElement("canvas").getContext("2d");
  const holdLines = () => {
    pen.font = getComputedStyle(say).font;
    say.style.minHeight = `${Math.ceil(pen.measureText(sentence).width / (width - 24))}lh`;
  };
  document.fonts.ready.then(holdLines);
  const fit = new ResizeObserver(() => {
    const room = Math.round(Math.max(NARROWEST, Math.min(WIDEST, holder.clientWidth)));
    if (!holder.clientWidth || room === width) return;
    width = room;
    holdLines();
    paint();
  });
  width = Math.round(Math.max(NARROWEST, Math.min(WIDEST, holder.clientWidth || 640)));
  change();
  paint();
  spoken.firstChild.data = say.textContent; // at once: when a page opens, nothing has changed that must be spoken
  fit.observe(holder);
  return () => {
    stop();
    fit.disconnect();
    hold.disconnect();
  };
}

export default { render };
