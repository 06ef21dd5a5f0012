// The part for web pages: finds the figures, gives each a model without Python, and keeps its state in the address.
(() => {
  const { around, debounce } = elements;
  const { render } = figure;

  // "#name?d=64&query=2&points=3:0.5:-1": the figure, the values of its controls, and the points that the reader has
  // moved, each with its number and its place.
  const address = () => {
    const [name, state] = location.hash.slice(1).split("?");
    return { name, state: new URLSearchParams(state) }; // which decodes, and takes an address that was cut off
  };

  // The page must not see the keys that move a control: the theme's listeners would search for menus at each of them.
  for (const type of ["keydown", "keyup"]) {
    addEventListener(
      type,
      (event) => {
        const moves = event instanceof KeyboardEvent && /^(Arrow|Page|Home|End)/.test(event.key);
        if (moves && around(event, ".xp-live input")) event.stopImmediatePropagation();
      },
      true,
    );
  }

  // The query of an address in which the figure is as the model holds it.
  /** @param {string[]} names @param {Record<string, any>} values */
  const queryOf = (names, { points, ...values }) => {
    const query = names.map((name) => `${name}=${encodeURIComponent(values[name])}`);
    /** @type {[string, Place][]} */
    const places = Object.entries(points ?? {});
    const moved = places.map(([i, place]) => [i, ...place.map((x) => +x.toFixed(3))].join(":"));
    if (moved.length) query.push(`points=${moved}`);
    return query.join("&");
  };

  // The points of an address, as far as the figure has them, within its bounds.
  /** @param {string} text @param {Movable} movable */
  const pointsIn = (text, { places, bounds }) => {
    /** @type {Record<string, Place>} */
    const moved = {};
    for (const [i, ...place] of text.split(",").map((point) => point.split(":").map(Number))) {
      if (!places[i] || place.length !== 2 || !place.every(Number.isFinite)) continue;
      moved[i] = bounds.map(([low, high], side) => Math.min(high, Math.max(low, place[side])));
    }
    return moved;
  };

  // What a notebook gets from Python: the values by name, and calls of the one listener that each of them has.
  /** @param {string} id @param {Spec} spec @param {Record<string, unknown>} state */
  const modelOf = (id, spec, state) => {
    /** @type {Record<string, unknown>} */
    const store = { ...state, spec };
    /** @type {Record<string, () => void>} */
    const listeners = {};
    let unsaved = false;
    // Browsers refuse more than a hundred or so changes of the address in half a minute.
    const record = debounce(250, () => {
      if (unsaved) history.replaceState(null, "", `#${id}?${queryOf(Object.keys(state), store)}`);
    });
    return {
      /** @param {string} key */
      get: (key) => store[key],
      /** @param {string} key @param {unknown} value */
      set: (key, value) => {
        store[key] = value;
        listeners[key]?.();
      },
      /** @param {string} event @param {() => void} listener */
      on: (event, listener) => {
        listeners[event.slice("change:".length)] = listener;
      },
      save_changes: () => {
        unsaved = true;
        record();
      },
      // A link that is followed meanwhile keeps its address.
      keepAddress: () => {
        unsaved = false;
      },
    };
  };

  // Puts what the address asks for into the model, as far as the figure has it.
  /** @param {Model} model @param {Spec} spec @param {URLSearchParams} requested */
  const restore = (model, spec, requested) => {
    if (spec.movable) model.set("points", pointsIn(requested.get("points") ?? "", spec.movable));
    for (const [key, text] of requested) {
      const axis = spec.axes.find(({ name }) => name === key);
      const values = axis ? axis.values : spec.labels[spec.picks[key]]?.map((_, i) => i);
      const value = values?.find((v) => String(v) === text);
      if (value !== undefined) model.set(key, value);
    }
  };

  /** @param {HTMLElement} figure */
  const enliven = (figure) => {
    const { spec, state } = JSON.parse(figure.querySelector("script[type='application/json']")?.textContent ?? "");
    spec.alt = figure.querySelector("img")?.alt;
    spec.sound = figure.querySelector("audio")?.src;
    const model = modelOf(figure.id, spec, state);
    const live = document.createElement("div");
    figure.replaceChildren(live);
    render({ model, el: live });
    const arrive = () => {
      model.keepAddress();
      const { name, state: requested } = address();
      if (name !== figure.id) return;
      restore(model, spec, requested);
      figure.scrollIntoView();
    };
    arrive();
    addEventListener("hashchange", arrive);
  };

  /** @type {NodeListOf<HTMLElement>} */
  const found = document.querySelectorAll("figure.xp:not([data-ready])");
  for (const figure of found) {
    figure.dataset.ready = "";
    const still = [...figure.childNodes];
    try {
      enliven(figure);
    } catch (error) {
      // the still picture stays, and so do the other figures
      figure.replaceChildren(...still);
      console.error(error);
    }
  }

  // On paper a figure stands with its numbers. The event that fills a table would come after the page has been printed.
  /** @type {HTMLDetailsElement[]} */
  let unfoldedTables = [];
  addEventListener("beforeprint", () => {
    /** @type {NodeListOf<HTMLDetailsElement>} */
    const folded = document.querySelectorAll(".xp-table:not([open])");
    unfoldedTables = [...folded];
    for (const table of unfoldedTables) {
      table.open = true;
      table.dispatchEvent(new Event("toggle"));
    }
  });
  addEventListener("afterprint", () => {
    for (const table of unfoldedTables) table.open = false;
  });
})();
