// One script for notebooks and pages: anywidget calls render({ model, el }) in a notebook, and page.js calls it with a
// model of its own. The script looks numbers up in the arrays that torch computed. shapes.js, which draws whole arrays,
// comes before it.

const VIEWS = { u1: Uint8Array, u2: Uint16Array, i4: Int32Array, f4: Float32Array };
const FIELD = /\{(\w+)(?:\[(\w+)\])?(?::(\d+)([%g]?))?(?:\|(\w+))?\}/g;
let serial = 0;

const element = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...children);
  return node;
};

// Text that changes is written into its node: after a new node the browser would match the page's `:has()` rules again.
const write = (node, text) => { node.firstChild.data = text; };

// Calls the function once no request has come for `wait` milliseconds. Setting a new timer at each request would cost
// more than checking the time.
const debounce = (wait, call) => {
  let due = 0;
  let timer = 0;
  const check = () => {
    const left = due - performance.now();
    timer = left > 0 ? setTimeout(check, left) : 0;
    if (!timer) call();
  };
  return () => { due = performance.now() + wait; timer ||= setTimeout(check, wait); };
};

const bytes = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

// Packed numbers as a function of the flat index; the same as packing.unpack.
const reader = ({ data, dtype, step }) => {
  const stored = new VIEWS[dtype](bytes(data).buffer);
  return (i) => stored[i] * step;
};

// In a shadow tree only the picture's own style rules apply. The page has many, and the browser would try each of them on
// everything that a key changes.
const picture = (spec) => {
  const source = new TextDecoder().decode(bytes(spec.svg));
  const svg = document.importNode(new DOMParser().parseFromString(source, "image/svg+xml").documentElement, true);
  svg.setAttribute("aria-hidden", "true"); // the controls, the sentence and the table have the same content
  const holder = element("div", { class: "xp-picture", role: "img", "aria-label": spec.alt });
  holder.attachShadow({ mode: "open" }).append(svg);
  return { holder, svg };
};

// Reads "attribute array index pick stride scale offset digits", which drawing.Bind writes.
const bindings = (svg) =>
  [...svg.querySelectorAll("[data-bind]")].flatMap((node) =>
    node.dataset.bind.split(";").map((text) => {
      const [attribute, array, index, pick, stride, scale, offset, digits] = text.split(" ");
      return { node, attribute, array, pick, index: +index, stride: +stride, scale: +scale, offset: +offset, digits: +digits };
    }));

export function render({ model, el }) {
  const spec = model.get("spec");
  const picks = Object.entries(spec.picks).map(([name, key]) => ({ name, labels: spec.labels[key], values: [...spec.labels[key].keys()] }));
  const { axes } = spec;
  const controls = Object.fromEntries([...axes, ...picks].map((control) => [control.name, control]));
  const opening = Object.fromEntries(Object.keys(controls).map((name) => [name, model.get(name)]));
  const position = (name) => controls[name].values.indexOf(model.get(name));
  const put = (name, at) => {
    const { values } = controls[name];
    const value = values[Math.max(0, Math.min(values.length - 1, at))];
    if (model.get(name) === value) return;
    model.set(name, value);
    model.save_changes();
  };

  // -- looking up -----------------------------------------------------------------------------------------------
  const place = {}; // the position of each control, or of the mark under the pointer where that shows another
  let preview = {};
  const arrays = Object.fromEntries(Object.entries(spec.arrays).map(([key, packed]) => {
    const size = packed.shape.slice(packed.over.length).reduce((a, b) => a * b, 1);
    return [key, { read: reader(packed), over: packed.over, size, first: 0 }]; // first: index of the first number of its frame
  }));
  const locate = () => {
    for (const name in controls) place[name] = preview[name] ?? position(name);
    for (const key in arrays) {
      const { over, size } = arrays[key];
      arrays[key].first = size * over.reduce((sum, name) => sum * controls[name].values.length + place[name], 0);
    }
  };
  const number = (key, index) => arrays[key].read(arrays[key].first + index);
  const sentence = () =>
    spec.say[arrays.case ? number("case", 0) : 0].replace(FIELD, (_, key, pick, digits, form, labels) => {
      if (controls[key]) return controls[key].labels[place[key]];
      const value = number(key, pick ? place[pick] : 0);
      if (labels) return spec.labels[labels][value];
      if (form === "g") return value.toPrecision(digits);
      return form ? `${(100 * value).toFixed(digits)}%` : value.toFixed(digits ?? 0);
    });

  // -- controls: native inputs, so that keyboard, touch and screen readers work as everywhere ----------------
  const uid = `xp${++serial}`;
  const panel = element("div", { class: "xp-controls" });
  // JupyterLab binds single keys in command mode, so it must not see the keys that are for a control.
  panel.addEventListener("keydown", (e) => { if (/^(Arrow|Page|Home|End| |Enter)/.test(e.key)) e.stopPropagation(); });
  const refresh = [];
  const title = (name) => name.replaceAll("_", " ");

  const slider = (control) => {
    const { name, labels } = control;
    const id = uid + name;
    const input = element("input", { type: "range", id, min: 0, max: labels.length - 1, step: 1 });
    const value = element("span", { class: "xp-value", "aria-hidden": "true" }, ""); // the slider speaks its own value
    input.addEventListener("input", () => { stop(); put(name, +input.value); });
    let current;
    refresh.push(() => {
      const at = position(name);
      if (at === current) return;
      current = input.value = at;
      input.setAttribute("aria-valuetext", `${title(name)} ${labels[at]}`);
      write(value, labels[at]);
    });
    return element("div", { class: "xp-row" }, element("label", { for: id }, title(name)), input, value);
  };

  const buttons = ({ name, labels }) => {
    const row = element("div", { class: "xp-row", role: "radiogroup", "aria-label": title(name) }, element("span", {}, title(name)));
    const box = element("div", { class: "xp-choices" });
    const inputs = labels.map((label, at) => {
      const input = element("input", { type: "radio", name: uid + name, id: `${uid}${name}-${at}` });
      input.addEventListener("change", () => { stop(); put(name, at); });
      box.append(element("label", { for: input.id }, input, label));
      return input;
    });
    refresh.push(() => { inputs[position(name)].checked = true; });
    row.append(box);
    return row;
  };

  // -- play -----------------------------------------------------------------------------------------------------
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let clock = 0;
  let play = null;
  const stop = () => {
    if (!clock) return;
    clearInterval(clock);
    clock = 0;
    play.setAttribute("aria-pressed", "false");
  };
  // Several controls play like the digits of a counter: the first moves, and at its end the next one.
  const player = (names) => {
    play = element("button", { type: "button", class: "xp-play", "aria-pressed": "false" }, `play ${names.map(title).join(" and ")}`);
    const last = (name) => position(name) === controls[name].values.length - 1;
    const next = () => {
      const moving = names.findIndex((name) => !last(name));
      names.slice(0, moving).forEach((name) => put(name, 0));
      put(names[moving], position(names[moving]) + 1);
    };
    play.addEventListener("click", () => {
      if (clock) return stop();
      if (names.every(last)) names.forEach((name) => put(name, 0));
      if (still.matches) return next(); // reduced motion: one step per press
      play.setAttribute("aria-pressed", "true");
      clock = setInterval(() => { next(); if (names.every(last)) stop(); }, spec.pace ?? 500);
    });
    return play;
  };

  for (const axis of axes) panel.append(axis.buttons ? buttons(axis) : slider(axis));
  for (const pick of picks) panel.append(slider(pick));
  const tools = element("div", { class: "xp-tools" });
  for (const { name, play } of axes.filter((a) => a.play)) tools.append(player([name, ...(play.length ? play : [])]));
  const reset = element("button", { type: "button" }, "reset");
  reset.addEventListener("click", () => { stop(); for (const name in opening) put(name, controls[name].values.indexOf(opening[name])); });
  tools.append(reset);
  panel.append(tools);

  // -- picture --------------------------------------------------------------------------------------------------
  const { holder, svg } = picture(spec);
  const bound = bindings(svg);
  const drawings = [...svg.querySelectorAll("[data-shape]")].map((node) => {
    const polygons = [node, ...node.querySelectorAll("*")].filter((part) => part.points);
    return { spec: JSON.parse(node.dataset.shape), polygons, current: [] };
  });
  const pointed = (event) => {
    const target = event.target.closest?.("[data-pick]");
    if (!target) return {};
    const [name, at] = target.dataset.pick.split("=");
    return { [name]: +at };
  };
  // A mouse over a mark shows what a click would choose; leaving it shows the choice again. A finger only chooses.
  const show = (event, marks) => {
    if (event.pointerType === "touch" || JSON.stringify(marks) === JSON.stringify(preview)) return;
    preview = marks;
    draw();
  };
  svg.addEventListener("pointerover", (event) => show(event, pointed(event)));
  svg.addEventListener("pointerleave", (event) => show(event, {}));
  // The focus stays on a control: the page is laid out anew when it leaves the figure, between press and release.
  svg.addEventListener("mousedown", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => {
    stop();
    for (const [name, at] of Object.entries(pointed(event))) put(name, at);
  });
  for (const area of svg.querySelectorAll("[data-drag]")) {
    const [name, from, to] = area.dataset.drag.split(" "); // the picture's x of the first and the last value
    const drag = (event) => {
      const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
      put(name, Math.round(((x - from) / (to - from)) * (controls[name].values.length - 1)));
    };
    // A finger that moves up or down scrolls the page, so it drags only once it has moved sideways.
    let start = null;
    area.addEventListener("pointerdown", (e) => {
      stop();
      area.setPointerCapture(e.pointerId);
      start = e.pointerType === "touch" ? e.clientX : null;
      if (start === null) drag(e);
    });
    area.addEventListener("pointermove", (e) => {
      if (!area.hasPointerCapture(e.pointerId) || (start !== null && Math.abs(e.clientX - start) < 8)) return;
      start = null;
      drag(e);
    });
    area.addEventListener("click", drag);
  }
  // An attribute that has its value already, to a hundredth, is not set again: a slow phone must answer a key within one or
  // two frames.
  const paint = () => {
    for (const mark of bound) {
      const { node, attribute, array, index, pick, stride, scale, offset, digits } = mark;
      const value = array[0] === "#" ? place[array.slice(1)] : number(array, index + (stride ? place[pick] * stride : 0));
      const setting = attribute === "text" ? value.toFixed(digits) : hundredth(offset + scale * value);
      if (setting === mark.current) continue;
      mark.current = setting;
      if (attribute === "text") write(node, setting);
      else node.setAttribute(attribute, attribute === "visibility" ? (setting ? "visible" : "hidden") : setting);
    }
    for (const drawing of drawings) {
      const { spec: outline, polygons, current } = drawing;
      const { shape, array, known, pick } = outline;
      const picked = place[pick];
      const frame = `${arrays[array].first} ${arrays[known]?.first} ${picked}`;
      if (frame === drawing.frame) continue;
      drawing.frame = frame;
      const row = pick ? (picked * arrays[array].size) / controls[pick].values.length : 0;
      const outlines = shapes[shape](outline, (i) => number(array, row + i), picked, (i) => !known || number(known, i));
      polygons.forEach((polygon, i) => {
        const points = outlines[i] ?? "";
        if (points !== current[i]) polygon.setAttribute("points", current[i] = points);
      });
    }
  };

  // -- words and numbers ----------------------------------------------------------------------------------------
  const say = element("p", { class: "xp-say", "aria-hidden": "true" }, "");
  const spoken = element("p", { class: "xp-spoken", role: "status" }, "");
  const parts = [panel, holder, say, spoken];
  let fillLater = () => {};
  if (spec.table) {
    const [array, rows, columns] = spec.table;
    const table = element("table");
    const details = element("details", { class: "xp-table" }, element("summary", {}, "the numbers as a table"),
      element("div", { class: "xp-scroll", tabindex: "0", role: "group", "aria-label": "the numbers as a table" }, table));
    const head = (scope, label) => element("th", { scope }, label);
    const cells = []; // row by row; made when the table is first opened, then reused, so that a screen reader keeps its place
    const make = () => {
      table.append(element("tr", {}, element("td"), ...spec.labels[columns].map((label) => head("col", label))));
      for (const label of spec.labels[rows]) {
        const numbers = spec.labels[columns].map(() => element("td", {}, ""));
        table.append(element("tr", {}, head("row", label), ...numbers));
        cells.push(...numbers);
      }
    };
    const fill = () => {
      if (!details.open) return;
      if (!cells.length) make();
      cells.forEach((cell, i) => {
        const digits = number(array, i).toFixed(3);
        if (digits !== cell.textContent) write(cell, digits);
      });
    };
    details.addEventListener("toggle", fill);
    fillLater = debounce(100, fill); // writing two hundred numbers would delay the picture
    parts.push(details);
  }
  el.classList.add("xp-live");
  const body = element("div", { class: "xp-body" }, ...parts);
  el.replaceChildren(body);
  // With a fixed height the browser can lay out this box without the rest of the page.
  const fit = new ResizeObserver(([{ borderBoxSize }]) => { el.style.height = `${borderBoxSize[0].blockSize}px`; });
  fit.observe(body);

  // Delayed, so that a screen reader speaks only the last one, and nothing that only the mouse shows.
  const speak = debounce(400, () => { if (!Object.keys(preview).length) write(spoken, say.textContent); });
  const draw = () => {
    locate();
    for (const update of refresh) update();
    paint();
    write(say, sentence());
    speak();
    fillLater();
  };
  for (const name in controls) model.on(`change:${name}`, () => { preview = {}; draw(); });
  draw();
  return () => { stop(); fit.disconnect(); };
}

export default { render };
