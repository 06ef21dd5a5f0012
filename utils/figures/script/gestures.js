// The mouse and the finger on a picture: hovering shows, only a click, a tap or a drag chooses. `view` is the figure in
// a page, from figure.js.

const pickOf = (node) => node?.closest?.("[data-pick]")?.dataset.pick ?? "{}";
const picked = (event) => JSON.parse(pickOf(event.target));

const hoverShows = (view) => {
  const { figure, picture } = view;
  const show = (hover) => {
    if (JSON.stringify(hover) === JSON.stringify(figure.hover)) return;
    figure.hover = hover;
    look(view);
    picture.paintSoon();
  };
  const previewed = (event) => (event.target.closest?.("[data-click]") ? {} : picked(event));
  // A mouse that rests shows nothing anew when the picture moves under it.
  let rest = "";
  picture.svg.addEventListener("pointerover", (event) => {
    const at = `${event.clientX},${event.clientY}`;
    if (event.pointerType !== "touch" && !view.dragging && at !== rest) show(previewed(event));
    rest = at;
  });
  picture.svg.addEventListener("pointerleave", () => show({}));
};

const clickChooses = (view) => {
  const { svg } = view.picture;
  // The focus stays on a control: the page is laid out anew when it leaves the figure, between press and release.
  svg.addEventListener("mousedown", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => view.choose(picked(event)));
  // Where the picture is drawn anew between press and release, and the pressed node is gone or another mark, no click
  // comes.
  let pressed = null;
  svg.addEventListener("pointerdown", ({ target }) => {
    pressed = { target, pick: pickOf(target) };
  });
  svg.addEventListener("pointerup", ({ clientX, clientY, button }) => {
    const gone = pressed && !(pressed.target.isConnected && pickOf(pressed.target) === pressed.pick) && !button;
    const under = gone && pickOf(svg.getRootNode().elementFromPoint(clientX, clientY));
    if (gone && under === pressed.pick) view.choose(JSON.parse(under));
    pressed = null;
  });
};

// What is held from a press at a mark that can be dragged until the release.
const heldBy = (event, target, { markOf }) => {
  const finger = event.pointerType === "touch";
  // A finger that moves up or down scrolls the page, unless it pulls a point.
  const pulled = target.classList.contains("pull");
  const step = target.matches("[data-click]") && picked(event);
  return {
    id: event.pointerId,
    drag: markOf(target).drag,
    start: finger !== pulled || step ? [event.clientX, event.clientY] : null, // until it has moved away from there
    step,
    follows: !pulled, // jumps to where it is pressed
    holds: pulled,
  };
};

const movedFar = ({ pointerType, clientX, clientY }, [x, y]) =>
  pointerType === "touch" ? Math.abs(clientX - x) >= 8 : Math.hypot(clientX - x, clientY - y) >= 3;

const dragMoves = (view) => {
  const { figure, picture } = view;
  const { svg } = picture;
  // A grip follows the hand between two values of its control, which has the nearer one.
  const drag = ({ clientX, clientY }) => {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    const { points, ...positions } = view.dragging.drag(x, y);
    for (const [name, at] of Object.entries(positions)) {
      const near = Math.round(at);
      const between = { name, to: near + Math.sign(at - near), share: Math.abs(at - near) };
      view.hold(name, near, at === near ? null : between);
      picture.paintSoon();
    }
    if (points) view.move({ ...figure.moved, ...points });
  };
  const release = () => {
    view.dragging = null;
    if (!figure.between) return picture.paintSoon();
    figure.between = null;
    picture.glide();
  };
  const whileHeld = (type, react) =>
    svg.addEventListener(type, (event) => {
      if (event.pointerId === view.dragging?.id) react(event, view.dragging);
    });
  svg.addEventListener("pointerdown", (event) => {
    const touched = event.target.closest?.("[data-drag]");
    if (!touched || event.button || view.dragging) return; // a second finger drags nothing
    view.player.stop();
    svg.setPointerCapture(event.pointerId);
    view.dragging = heldBy(event, touched, picture);
    if (!view.dragging.start && view.dragging.follows) drag(event);
  });
  whileHeld("pointermove", (event, held) => {
    if (!event.buttons) return release(); // released where the page could not see it, for instance over a menu
    if (held.start) {
      if (!movedFar(event, held.start)) return;
      held.start = null;
    }
    drag(event);
  });
  whileHeld("pointerup", (event, held) => {
    if (held.start && held.step)
      view.choose(held.step); // an arrow of a grip
    else if (held.start && event.pointerType === "touch") drag(event);
    release();
  });
  whileHeld("lostpointercapture", release);
  const holdPage = (event) => {
    if (view.dragging?.holds) event.preventDefault();
  };
  svg.addEventListener("touchmove", holdPage, { passive: false });
  return { release: () => view.dragging && release() };
};
