// A figure in a page or a notebook: its controls, and its picture, drawn anew at each change. anywidget calls
// render({ model, el }) in a notebook, and page.js calls it with a model of its own.

const NARROWEST = 288;
const WIDEST = 760;

// Calls the function once no request has come for `wait` milliseconds.
const debounce = (wait, call) => {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(call, wait);
  };
};

const svgNode = ({ tag, attributes, children, text, drag }) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const key in attributes) if (attributes[key] !== undefined) node.setAttribute(key, attributes[key]);
  if (text === undefined) node.append(...children.map(svgNode));
  else node.textContent = text;
  node.drag = drag;
  return node;
};

const refresh = (node, now, old) => {
  for (const key in { ...old.attributes, ...now.attributes }) {
    const value = now.attributes[key];
    if (value === undefined) node.removeAttribute(key);
    else if (value !== old.attributes[key]) node.setAttribute(key, value);
  }
  node.drag = now.drag;
  if (now.text === undefined) patch(node, now.children, old.children);
  else if (now.text !== old.text) node.textContent = now.text;
};

// Makes the children of a node the keyed marks that a picture consists of now. A mark that was there before keeps its
// node.
const patch = (node, marks, before) => {
  const kept = new Map(before.map((old, i) => [`${old.tag} ${old.key}`, { old, child: node.childNodes[i] }]));
  const children = marks.map((now) => {
    const { old, child } = kept.get(`${now.tag} ${now.key}`) ?? {};
    if (!old) return svgNode(now);
    refresh(child, now, old);
    kept.delete(`${now.tag} ${now.key}`);
    return child;
  });
  for (const { child } of kept.values()) child.remove();
  children.forEach((child, i) => {
    if (node.childNodes[i] !== child) node.insertBefore(child, node.childNodes[i] ?? null);
  });
};

// A figure in a page: its numbers, the model that holds the values of its controls, and what its parts share. `render`
// adds the parts: player, picture, words, table and rows.
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
    width: 640,
    untouched: true, // what is played, since the page was opened or the figure reset
    held: null, // what the mouse or a finger has pressed
    saving: false, // whether a change of the model comes from this view
    refresh: [], // functions that make the controls show their positions
    position,
    positions: () => Object.fromEntries(Object.keys(controls).map((name) => [name, position(name)])),
    put: (name, at) => {
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
  figure.put({ ...figure.settled, ...chosenUnder(figure) });
  view.words.speak();
};

// What the mark under the mouse would choose.
const chosenUnder = ({ hover, controls }) =>
  Object.fromEntries(Object.entries(hover).filter(([name]) => name in controls));

// The model has new values: from this view, or because a link was followed or Python has changed one.
const changed = (view, model) => {
  const { figure } = view;
  if (!view.saving) view.player.stop();
  figure.hover = {};
  figure.moved = model.get("points") ?? {};
  for (const update of view.refresh) update();
  look(view);
  view.picture.paintSoon();
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
    const now = keyed(marks);
    patch(svg, now, drawn);
    drawn = now;
    view.words.write();
    fitBox(Math.round(height));
  };
  const paintSoon = () => {
    waiting ||= requestAnimationFrame(paint);
  };
  return { svg, holder, paint, paintSoon };
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
  const holdLines = () => {
    const size = parseFloat(getComputedStyle(say).fontSize);
    say.style.minHeight = `${Math.ceil(textWidth(longestSentence, size) / (view.width - 24))}lh`;
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
  // The axis of a causal mask stands above the picture.
  const above = figure.options.causal?.[0];
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

// The width of a picture where it stands; 0 while it cannot be seen.
const roomIn = ({ clientWidth }) => clientWidth && Math.max(NARROWEST, Math.min(WIDEST, clientWidth));

function render({ model, el }) {
  const view = makeView(model);
  view.player = makePlayer(view);
  view.picture = makePicture(view);
  view.words = makeWords(view);
  view.table = view.figure.table && makeTable(view.figure);
  view.rows = controlRows(view);
  const { player, picture, words } = view;
  const { holder } = picture;
  hoverShows(view);
  pressActs(view);
  const body = pageBody(view);
  listenToKeys(body, el);
  el.classList.add("xp-live");
  el.replaceChildren(body);
  addEventListener("hashchange", player.stop); // also where the link leads to another figure
  for (const key of [...Object.keys(view.rows), "points"]) model.on(`change:${key}`, view.change);
  const fit = () => {
    view.width = roomIn(holder) || view.width;
    words.holdLines();
    picture.paint();
  };
  view.change();
  fit();
  words.speakNow(); // at once: when a page opens, nothing has changed that must be spoken
  const width = new ResizeObserver(() => {
    if (view.width !== roomIn(holder)) fit();
  });
  width.observe(holder);
  return () => {
    player.stop();
    removeEventListener("hashchange", player.stop);
    width.disconnect();
  };
}

export default { render };
