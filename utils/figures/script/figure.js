// A figure in a page or a notebook: its controls, and its picture, drawn anew at each change. anywidget calls
// render({ model, el }) in a notebook, and page.js calls it with a model of its own.

const NARROWEST = 288;
const WIDEST = 760;
const SLOW_FRAME = 40; // milliseconds

// Calls the function once no request has come for `wait` milliseconds.
const debounce = (wait, call) => {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, wait);
  };
};

const svgNode = ({ tag, attributes, children, text }) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const key in attributes) if (attributes[key] !== undefined) node.setAttribute(key, attributes[key]);
  if (text === undefined) children.forEach((child) => node.append(svgNode(child)));
  else node.textContent = text;
  return node;
};

// Makes the children of a node the marks that a picture consists of now, and changes only what is different.
const patch = (node, marks, before) => {
  marks.forEach((now, i) => {
    const old = before[i];
    const child = node.childNodes[i];
    if (!old) return node.append(svgNode(now));
    if (old.tag !== now.tag) return child.replaceWith(svgNode(now));
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

// A figure in a page: its numbers, the model that holds the values of its controls, and what its parts share. `render`
// adds the parts: player, symbols, picture, words, table and rows.
const makeView = (model) => {
  const figure = makeFigure(model.get("spec"));
  const { controls } = figure;
  const position = (name) => controls[name].values.indexOf(model.get(name));
  const save = (key, value) => {
    view.saving = true;
    model.set(key, value);
    view.saving = false;
    model.save_changes();
  };
  const view = {
    figure,
    // A notebook shows several views of one figure, each from a script of its own.
    uid: `xp-${figure.name}-${Math.random().toString(36).slice(2)}-`,
    width: 0,
    untouched: true, // what is played, since the page was opened or the figure reset
    dragging: null, // what the mouse or a finger holds
    saving: false, // whether a change of the model comes from this view
    refresh: [], // functions that make the controls show their positions
    position,
    positions: () => Object.fromEntries(Object.keys(controls).map((name) => [name, position(name)])),
    put: (name, at) => view.hold(name, at, null),
    // The same while the grip of a control is held beside the value.
    hold: (name, at, between) => {
      figure.between = between;
      if (figure.play.includes(name)) view.untouched = false;
      const { values } = controls[name];
      const value = values[Math.max(0, Math.min(values.length - 1, at))];
      if (model.get(name) !== value) save(name, value);
    },
    putAll: (places) => {
      for (const [name, at] of Object.entries(places)) if (controls[name]) view.put(name, at);
    },
    choose: (places) => {
      view.player.stop();
      view.putAll(places);
    },
    move: (points) => save("points", points),
    change: () => changed(view, model),
  };
  view.opening = view.positions(); // where the controls are at first
  return view;
};

// Shows what is under the mouse, or else what is chosen.
const look = (view) => {
  const { figure } = view;
  figure.settled = view.positions();
  const [played] = figure.play;
  const rival = figure.settled[figure.rival] ?? 0;
  if (played) figure.reached[rival] = Math.max(figure.settled[played], figure.reached[rival] ?? 0);
  figure.put({ ...figure.settled, ...chosenUnder(figure) });
  view.words.speak();
};

// What the mark under the mouse would choose.
const chosenUnder = ({ hover, controls }) =>
  Object.fromEntries(Object.entries(hover).filter(([name]) => name in controls));

// The model has new values: from this view, or because a link was followed or Python has changed one.
const changed = (view, model) => {
  const { figure } = view;
  if (!view.saving) {
    view.player.stop();
    figure.between = null;
  }
  figure.hover = {};
  figure.moved = model.get("points") ?? {};
  for (const update of view.refresh) update();
  look(view);
  view.picture.glide();
};

// The numbers on their way from those of the last picture to the new ones.
const makeTransition = (figure, paint) => {
  const duration = kinds[figure.kind].glide ?? 200;
  let origin = {};
  let last = {};
  let progress = 1;
  let begun = 0;
  figure.blend = (name, numbers) => {
    const from = origin[name];
    const moves = progress < 1 && from?.length === numbers.length;
    last[name] = moves ? numbers.map((number, i) => from[i] + (number - from[i]) * progress) : numbers;
    return last[name];
  };
  const start = () => {
    // A second change before the next frame goes on from the same picture.
    if (Object.keys(last).length) [origin, last] = [last, {}];
    const running = progress < 1;
    let before = Infinity;
    const step = (time) => {
      // Where a frame takes too long, the new numbers come at once.
      progress = time - before > SLOW_FRAME ? 1 : Math.min(1, Math.max(0, (time - begun) / duration));
      before = time;
      paint();
      if (progress < 1) requestAnimationFrame(step);
    };
    begun = performance.now();
    progress = 0;
    if (!running) requestAnimationFrame(step);
  };
  return start;
};

// The drawing reckons with about the width of a usual font. A text that the reader's font makes wider is squeezed into
// the room that it has, so that it does not leave the picture or lie on its neighbour.
const makeSqueeze = (svg) => {
  const rooms = new Map(); // of each text that was measured: its room if it is too wide, else undefined
  const textsIn = (marks) => marks.flatMap((mark) => (mark.text === undefined ? textsIn(mark.children) : [mark]));
  const measured = ({ text, attributes }) => label(text.replace(/\d/g, "0"), 0, 0, { class: attributes.class });
  const keyOf = (mark) => `${mark.attributes.class} ${measured(mark).text}`;
  const measure = (marks) => {
    const nodes = marks.map((mark) => svgNode(measured(mark)));
    svg.append(...nodes);
    nodes.forEach((node, i) => {
      const { fontSize, fontWeight } = getComputedStyle(node);
      // Of capitals and percent signs the drawing reckons with less than a usual font takes.
      const usual = textWidth(node.textContent.replace(/[A-Z%]/g, "m"), parseFloat(fontSize));
      const room = usual * (fontWeight > 500 ? BOLD : 1);
      rooms.set(keyOf(marks[i]), node.getComputedTextLength() > room ? round(room) : undefined);
    });
    for (const node of nodes) node.remove();
  };
  const squeeze = (marks) => {
    const texts = textsIn(marks);
    measure(texts.filter((mark) => !rooms.has(keyOf(mark))));
    for (const mark of texts) {
      const room = rooms.get(keyOf(mark));
      if (room) Object.assign(mark.attributes, { textLength: room, lengthAdjust: "spacingAndGlyphs" });
    }
  };
  return { squeeze, forget: () => rooms.clear() };
};

// The names of the controls that can be chosen in the picture, or have a grip in place of a slider.
const controlsInside = (svg) => [
  ...[...svg.querySelectorAll("[data-pick]")].flatMap((area) => Object.keys(JSON.parse(area.dataset.pick))),
  ...[...svg.querySelectorAll(".instead")].map((area) => area.dataset.drag),
];

// In a shadow tree only its own style rules apply.
const makePicture = (view) => {
  const { figure } = view;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", "true"); // the controls, the sentence and the table have the same content
  const holder = element("div", { class: "xp-picture", role: "img", "aria-label": figure.alt });
  holder.attachShadow({ mode: "open" }).append(element("style", {}, PICTURE_STYLE), svg);
  const { squeeze, forget } = makeSqueeze(svg);
  let drawn = [];
  let waiting = 0;
  const fitBox = (height) => {
    const box = `0 0 ${view.width} ${height}`;
    if (svg.getAttribute("viewBox") === box) return;
    svg.setAttribute("viewBox", box);
    holder.style.aspectRatio = `${view.width} / ${height}`;
    // What can be moved in the picture has a row below it only for readers who use the keyboard.
    const inside = controlsInside(svg);
    for (const name in view.rows) view.rows[name].classList.toggle("xp-spare", inside.includes(name));
  };
  const paint = () => {
    waiting = 0;
    const { height, marks } = figure.draw(view.width);
    svg.dataset.reached = JSON.stringify(figure.reached);
    const now = marks.flat(Infinity).filter(Boolean);
    squeeze(now);
    patch(svg, now, drawn);
    drawn = now;
    view.words.write();
    fitBox(Math.round(height));
  };
  // When the font or the width is another one, or the figure can be seen at last.
  const refit = () => {
    forget();
    view.words.holdLines();
    paint();
  };
  const paintSoon = () => {
    waiting ||= requestAnimationFrame(paint);
  };
  const startGlide = makeTransition(figure, paint);
  // A change by a control is drawn in steps; a drag, and a reader who wants no motion, get the new numbers at once.
  const glide = () => {
    if (reducedMotion.matches || view.dragging || !drawn.length) paintSoon();
    else startGlide();
  };
  // The mark of a node: its place among the children, level by level, is that of the mark.
  const markOf = (node) => {
    const way = [];
    for (let at = node; at !== svg; at = at.parentNode) way.unshift([...at.parentNode.childNodes].indexOf(at));
    return way.reduce((found, i) => (found.children ?? found)[i], drawn);
  };
  return { svg, holder, paint, paintSoon, refit, glide, markOf };
};

// The sentence below the picture, and the same for a screen reader.
const makeWords = (view) => {
  const { figure } = view;
  const say = element("p", { class: "xp-say", "aria-hidden": "true" }, "");
  const spoken = element("p", { class: "xp-spoken", role: "status" }, "");
  const write = () => {
    const words = figure.sentence();
    if (words !== say.textContent) say.firstChild.data = words;
  };
  const speakNow = () => {
    spoken.firstChild.data = figure.sentence(); // what is shown may come later, where no frame is drawn
  };
  // Delayed, so that a screen reader speaks only the last one, not each step of a run, and nothing that only the mouse
  // shows.
  const speak = debounce(400, () => {
    view.table?.fill(); // writing two hundred numbers would delay the picture
    const settled = !view.player.playing() && !Object.keys(figure.hover).length;
    if (settled && spoken.textContent !== figure.sentence()) speakNow();
  });
  // Room for the longest sentence, so that the page does not move under the mouse when another word is pointed at. A
  // line loses about half a word where it is broken.
  const longestSentence = figure.longestSentence();
  const pen = document.createElement("canvas").getContext("2d");
  const holdLines = () => {
    pen.font = getComputedStyle(say).font;
    say.style.minHeight = `${Math.ceil(pen.measureText(longestSentence).width / (view.width - 24))}lh`;
  };
  return { say, spoken, write, speak, speakNow, holdLines };
};

const makeTable = (figure) => {
  const [arrays, rows, columns, pick] = figure.table;
  const title = "the numbers as a table";
  const holds = element("div", { class: "xp-scroll", tabindex: "0", role: "group", "aria-label": title });
  const details = element("details", { class: "xp-table" }, element("summary", {}, title), holds);
  const cells = []; // made when the table is first opened, then reused, so that a screen reader keeps its place
  const head = (scope, text) => element("th", { scope }, text);
  const make = ([, caption]) => {
    const table = element(
      "table",
      {},
      ...(caption ? [element("caption", {}, caption)] : []),
      element("tr", {}, element("td"), ...figure.labels[columns].map((text) => head("col", text))),
    );
    for (const text of figure.labels[rows]) {
      const numbers = figure.labels[columns].map(() => element("td", {}, ""));
      table.append(element("tr", {}, head("row", text), ...numbers));
      cells.push(...numbers);
    }
    holds.append(table);
  };
  const fill = () => {
    if (!details.open) return;
    if (!cells.length) arrays.forEach(make);
    const numbers = arrays.flatMap(([array]) => [
      ...(pick ? figure.rowAt(array, figure.place[pick]) : figure.array(array)),
    ]);
    cells.forEach((cell, i) => {
      cell.firstChild.data = signed(numbers[i], 3);
    });
  };
  details.addEventListener("toggle", fill);
  return { details, fill };
};

// All parts, from top to bottom.
const pageBody = (view) => {
  const { figure, picture, words, table, rows } = view;
  const panel = controlPanel(view);
  // The axis of a causal mask or of a window, or the one that goes from curve to curve, stands above the picture.
  const above = figure.options.causal?.[0] ?? figure.options.window ?? figure.rival;
  return element(
    "div",
    { class: "xp-body", style: `--room: ${roomForValues(figure)}` },
    ...(figure.invite ? [element("p", { class: "xp-invite" }, figure.invite)] : []),
    toolRow(view),
    ...(above ? [element("div", { class: "xp-controls" }, rows[above])] : []),
    picture.holder,
    words.say,
    words.spoken,
    panel,
    ...(table ? [table.details] : []),
  );
};

const listenToKeys = (body, el) => {
  // JupyterLab binds single keys in command mode, letters among them, so it must not see what is typed in a figure.
  body.addEventListener("keydown", (event) => {
    if (!event.ctrlKey && !event.metaKey && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
  });
  body.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible")) el.classList.add("xp-keyboard");
  });
};

// The width of a picture where it stands; 0 while it cannot be seen, and a text has no width that could be measured.
const roomIn = ({ clientWidth }) => clientWidth && Math.max(NARROWEST, Math.min(WIDEST, clientWidth));

function render({ model, el }) {
  const view = makeView(model);
  view.player = makePlayer(view);
  view.symbols = makeSymbols(view);
  view.picture = makePicture(view);
  view.words = makeWords(view);
  view.table = view.figure.table && makeTable(view.figure);
  view.rows = controlRows(view);
  const { player, picture, words } = view;
  const { holder } = picture;
  hoverShows(view);
  clickChooses(view);
  const gestures = dragMoves(view);
  const body = pageBody(view);
  listenToKeys(body, el);
  el.classList.add("xp-live");
  el.replaceChildren(body);
  // With a fixed height the browser can lay out this box without the rest of the page.
  const height = new ResizeObserver(([{ borderBoxSize }]) => {
    el.style.height = `${borderBoxSize[0].blockSize}px`;
  });
  height.observe(body);
  addEventListener("hashchange", player.stop); // also where the link leads to another figure
  for (const key of [...Object.keys(view.rows), "points"]) model.on(`change:${key}`, view.change);
  let room = roomIn(holder);
  view.width = room || 640;
  view.change();
  picture.refit();
  words.speakNow(); // at once: when a page opens, nothing has changed that must be spoken
  const width = new ResizeObserver(() => {
    if (room === roomIn(holder)) return;
    room = roomIn(holder);
    if (!room) return;
    gestures.release(); // what is held would be dragged by the old scale
    view.width = room;
    picture.refit();
  });
  width.observe(holder);
  document.fonts.addEventListener("loadingdone", picture.refit); // a page may get its font after it was drawn
  return () => {
    player.stop();
    removeEventListener("hashchange", player.stop);
    document.fonts.removeEventListener("loadingdone", picture.refit);
    width.disconnect();
    height.disconnect();
  };
}

export default { render };
