// The mouse and the finger on a picture: hovering shows, only a click, a tap or a drag chooses. `view` is the figure in
// a page, from figure.js.
const gestures = (() => {
  const { around } = elements;

  // What a mark chooses, as JSON.
  /** @param {HTMLElement | SVGElement | null} area */
  const pickOf = (area) => area?.dataset.pick ?? "{}";

  // What the mark under the pointer chooses.
  /** @type {(event: Event) => Positions} */
  const picked = (event) => JSON.parse(pickOf(around(event, "[data-pick]")));

  /** @param {View} view */
  const hoverShows = (view) => {
    const { figure, picture } = view;
    /** @param {Positions} hover */
    const show = (hover) => {
      if (JSON.stringify(hover) === JSON.stringify(figure.hover)) return;
      figure.hover = hover;
      view.look();
      picture.paintSoon();
    };
    /** @param {PointerEvent} event */
    const previewed = (event) => (around(event, "[data-click]") ? {} : picked(event));
    // A mouse that rests shows nothing anew when the picture moves under it.
    let rest = "";
    picture.svg.addEventListener("pointerover", (event) => {
      const at = `${event.clientX},${event.clientY}`;
      if (event.pointerType !== "touch" && !view.held && at !== rest) show(previewed(event));
      rest = at;
    });
    picture.svg.addEventListener("pointerleave", () => !view.held && show({}));
  };

  // Whether a press has become a drag. A finger that moves up or down scrolls the page, unless it pulls a point.
  /** @param {PointerEvent} event @param {Held} held */
  const movedFar = ({ pointerType, clientX, clientY }, { start: [x, y], area }) => {
    const [across, down] = [clientX - x, clientY - y];
    if (pointerType !== "touch") return Math.hypot(across, down) >= 3;
    return (area?.matches(":not(.pull)") ? Math.abs(across) : Math.hypot(across, down)) >= 8;
  };

  // From a press to its release. What is chosen, or dragged, is the mark that was under the pointer when it was pressed,
  // wherever that mark has moved since.
  /** @param {View} view */
  const pressActs = (view) => {
    const { figure, picture } = view;
    const { svg } = picture;
    /** @param {PointerEvent} event @param {Dragged} area */
    const drag = ({ clientX, clientY }, area) => {
      const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM()?.inverse());
      const { points, ...positions } = area.drag(x, y);
      for (const [name, at] of Object.entries(positions)) view.put(name, Math.round(at));
      if (points) view.move({ ...figure.moved, ...points });
    };
    /**
     * @param {"pointermove" | "pointerup" | "lostpointercapture"} type
     * @param {(event: PointerEvent, held: Held) => void} react
     */
    const whileHeld = (type, react) =>
      svg.addEventListener(type, (event) => {
        if (event.pointerId === view.held?.id) react(event, view.held);
      });
    const release = () => {
      view.held = null;
      svg.classList.remove("pulled");
    };
    // The focus stays on a control: the page is laid out anew when it leaves the figure, between press and release.
    svg.addEventListener("mousedown", (event) => event.preventDefault());
    svg.addEventListener("pointerdown", (event) => {
      if (event.button || view.held) return; // a second finger does nothing
      const { pointerId, clientX, clientY } = event;
      const area = /** @type {Dragged | null} */ (around(event, "[data-drag]"));
      const pick = pickOf(around(event, "[data-pick]"));
      view.held = { id: pointerId, pick, area, start: [clientX, clientY], moved: false };
      svg.setPointerCapture(pointerId);
      if (!area) return;
      view.player.stop();
      svg.classList.toggle("pulled", area.matches(".pull"));
      // Where there is nothing to choose, a grip jumps to the mouse. A finger may want to scroll.
      if (event.pointerType === "touch" || area.matches(".pull, [data-pick]")) return;
      view.held.moved = true;
      drag(event, area);
    });
    whileHeld("pointermove", (event, held) => {
      if (!event.buttons) return release(); // released where the page could not see it, for instance over a menu
      held.moved ||= movedFar(event, held);
      if (held.area && held.moved) drag(event, held.area);
    });
    whileHeld("pointerup", (event, held) => {
      release();
      const root = /** @type {ShadowRoot} */ (svg.getRootNode());
      const under = () => root.elementFromPoint(event.clientX, event.clientY)?.closest("[data-pick]");
      const isOn = () => pickOf(/** @type {SVGElement | null} */ (under() ?? null)) === held.pick;
      if (held.pick !== "{}" && (!held.moved || (!held.area && isOn()))) {
        view.choose(JSON.parse(held.pick));
        view.sound?.playPiece();
      } else if (held.area && !held.moved) drag(event, held.area);
    });
    whileHeld("lostpointercapture", release);
    // A finger that pulls a point does not scroll the page.
    /** @param {TouchEvent} event */
    const holdPage = (event) => view.held?.area?.matches(".pull") && event.preventDefault();
    svg.addEventListener("touchmove", holdPage, { passive: false });
  };

  return { picked, hoverShows, pressActs };
})();
