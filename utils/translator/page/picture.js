// The picture of a translation: that of the course's figure `alignment`. A mouse shows a word, and a click chooses it.
const picture = (() => {
  const { makeFigure } = numbers;
  const { element } = elements;
  const { keyed } = marks;
  const { patch } = nodes;
  const { picked } = gestures;

  const WIDEST_PICTURE = 760;

  /** @param {{ source: string[], target: string[] }} labels @param {number[][]} weights */
  const figureOf = (labels, weights) =>
    makeFigure({
      name: "translation",
      kind: "alignment",
      arrays: {
        weights: {
          data: weights.flat(),
          dtype: "f4",
          step: 1,
          over: [],
          shape: [labels.target.length, labels.source.length],
        },
      },
      axes: [],
      gauges: ["", []],
      labels,
      options: { gold: [], compare: null },
      picks: { word: "target" },
      play: [],
      say: [""],
    });

  // Whether the mouse has moved: one that rests shows nothing anew when the page moves under it.
  let mouseAt = "";
  /** @param {PointerEvent} event */
  const mouseMoved = ({ clientX, clientY, pointerType }) => {
    const before = mouseAt;
    mouseAt = `${clientX},${clientY}`;
    return pointerType !== "touch" && mouseAt !== before;
  };

  // A place for pictures, in a shadow tree, where only its own style rules apply. `look` shows a word, and the chosen one
  // where none is given.
  const makePlace = () => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const holder = element("div", { class: "picture", "aria-hidden": "true", translate: "no" });
    holder.attachShadow({ mode: "open" }).append(element("style", {}, PICTURE_STYLE), svg);
    /** @type {{ figure: Figure, chosen: () => number, choose: (word: number) => void } | null} */
    let shown = null;
    /** @type {KeyedMark[]} */
    let drawn = [];
    const paint = () => {
      if (!shown) return;
      const width = Math.min(WIDEST_PICTURE, holder.clientWidth || 640);
      const { height, marks } = shown.figure.draw(width);
      const now = keyed(marks);
      patch(svg, now, drawn);
      drawn = now;
      svg.setAttribute("viewBox", `0 0 ${width} ${Math.round(height)}`);
    };
    /** @param {number} [word] */
    const look = (word) => {
      if (!shown) return;
      const { figure, chosen } = shown;
      const settled = chosen();
      const under = word ?? settled;
      figure.settled = { word: settled };
      figure.hover = under === settled ? {} : { word: under };
      figure.put({ word: under });
      paint();
    };
    // `chosen` returns the number of the chosen word, and `choose` chooses another one.
    /** @param {Figure} figure @param {() => number} chosen @param {(word: number) => void} choose */
    const draw = (figure, chosen, choose) => {
      shown = { figure, chosen, choose };
      look();
    };
    svg.addEventListener("pointerover", (event) => {
      const { word } = picked(event);
      if (mouseMoved(event) && word !== undefined) look(word);
    });
    svg.addEventListener("pointerleave", () => look());
    svg.addEventListener("click", (event) => {
      const { word } = picked(event);
      if (word !== undefined) shown?.choose(word);
    });
    new ResizeObserver(paint).observe(holder);
    return { holder, draw, look };
  };

  return { figureOf, mouseMoved, makePlace };
})();
