// A figure in a page or a notebook: its controls, and its picture, drawn anew at each change. anywidget calls
// render({ model, el }) in a notebook, and page.js calls it with a model of its own.
const figure = (() => {
  const { makeFigure } = numbers;
  const { controlPanel, controlRows, makePlayer, roomForValues, toolRow } = controls;
  const { around, element } = elements;
  const { makePicture, makeTable, makeWords } = parts;
  const { hoverShows, pressActs } = gestures;
  const { makeSound } = sounds;

  const NARROWEST = 288;
  const WIDEST = 760;

  // A figure in a page: its numbers, the model that holds the values of its controls, and what its parts share. `render`
  // adds the parts: player, picture, words, table, sound and rows.
  /** @param {Model} model */
  const makeView = (model) => {
    const figure = makeFigure(model.get("spec"));
    const { controls } = figure;
    /** @param {string} name */
    const position = (name) => controls[name].values.indexOf(model.get(name));
    /** @param {string} key @param {unknown} value */
    const save = (key, value) => {
      view.saving = true;
      model.set(key, value);
      view.saving = false;
      model.save_changes();
    };
    /** @type {Omit<View, "opening" | "player" | "picture" | "words" | "table" | "sound" | "rows">} */
    const begun = {
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
      /** @param {string} name @param {number} at */
      put: (name, at) => {
        if (figure.play.includes(name)) view.untouched = false;
        const { values } = controls[name];
        const value = values[Math.max(0, Math.min(values.length - 1, at))];
        if (model.get(name) !== value) save(name, value);
      },
      /** @param {Positions} places */
      putAll: (places) => {
        for (const [name, at] of Object.entries(places)) if (controls[name]) view.put(name, at);
      },
      /** @param {Positions} places */
      choose: (places) => {
        view.player.stop();
        view.putAll(places);
      },
      /** @param {Record<string, Place>} points */
      move: (points) => save("points", points),
      look: () => look(view),
      change: () => changed(view, model),
    };
    const view = /** @type {View} */ (begun);
    view.opening = view.positions(); // where the controls are at first
    return view;
  };

  // Shows what is under the mouse, or else what is chosen.
  /** @param {View} view */
  const look = (view) => {
    const { figure } = view;
    figure.settled = view.positions();
    figure.put({ ...figure.settled, ...chosenUnder(figure) });
    view.words.speak();
  };

  // What the mark under the mouse would choose.
  /** @param {Figure} figure */
  const chosenUnder = ({ hover, controls }) =>
    Object.fromEntries(Object.entries(hover).filter(([name]) => name in controls));

  // The model has new values: from this view, or because a link was followed or Python has changed one.
  /** @param {View} view @param {Model} model */
  const changed = (view, model) => {
    const { figure } = view;
    if (!view.saving) view.player.stop();
    figure.hover = {};
    figure.moved = model.get("points") ?? {};
    for (const update of view.refresh) update();
    view.look();
    view.picture.paintSoon();
  };

  // All parts, from top to bottom.
  /** @param {View} view */
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

  /** @param {HTMLElement} body @param {HTMLElement} el */
  const listenToKeys = (body, el) => {
    // JupyterLab binds single keys in command mode, letters among them, so it must not see what is typed in a figure.
    body.addEventListener("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && event.key !== "Tab" && event.key !== "Escape") event.stopPropagation();
    });
    body.addEventListener("focusin", (event) => {
      if (around(event, ":focus-visible") === event.target) el.classList.add("xp-keyboard");
    });
  };

  // The width of a picture where it stands; 0 while it cannot be seen.
  /** @param {HTMLElement} holder */
  const roomIn = ({ clientWidth }) => clientWidth && Math.max(NARROWEST, Math.min(WIDEST, clientWidth));

  /** @param {{ model: Model, el: HTMLElement }} widget */
  const render = ({ model, el }) => {
    const view = makeView(model);
    view.player = makePlayer(view);
    view.picture = makePicture(view);
    view.words = makeWords(view);
    view.table = view.figure.table ? makeTable(view.figure, view.figure.table) : null;
    view.sound = view.figure.sound ? makeSound(view) : null;
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
      view.sound?.stop();
      removeEventListener("hashchange", player.stop);
      width.disconnect();
    };
  };

  return { render };
})();
