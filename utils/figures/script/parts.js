// The parts of a figure in a page besides its controls: the picture, the sentence and the table. `view` is the figure in a
// page, from figure.js.
const parts = (() => {
  const { debounce, element, setText } = elements;
  const { keyed } = marks;
  const { patch } = nodes;
  const { signed, textWidth } = texts;

  // The names of the controls that can be chosen in the picture, or have a grip in place of a slider.
  /** @param {SVGSVGElement} svg */
  const controlsInside = (svg) => [
    ...[...svg.querySelectorAll("[data-pick]")].flatMap((area) =>
      Object.keys(JSON.parse(area.getAttribute("data-pick") ?? "{}")),
    ),
    ...[...svg.querySelectorAll(".instead")].map((area) => area.getAttribute("data-drag")),
  ];

  // In a shadow tree only its own style rules apply.
  /** @param {View} view */
  const makePicture = (view) => {
    const { figure } = view;
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("aria-hidden", "true"); // the controls, the sentence and the table have the same content
    const holder = element("div", { class: "xp-picture", role: "img", "aria-label": figure.alt });
    holder.attachShadow({ mode: "open" }).append(element("style", {}, PICTURE_STYLE), svg);
    /** @type {KeyedMark[]} */
    let drawn = [];
    let waiting = 0;
    /** @param {number} height */
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
  /** @param {View} view */
  const makeWords = (view) => {
    const { figure } = view;
    const say = element("p", { class: "xp-say", "aria-hidden": "true" }, "");
    const spoken = element("p", { class: "xp-spoken", role: "status" }, "");
    const write = () => {
      const words = figure.sentence();
      if (words !== say.textContent) setText(say, words);
    };
    const speakNow = () => {
      setText(spoken, figure.sentence()); // what is shown may come later, where no frame is drawn
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

  /** @param {Figure} figure @param {NonNullable<Spec["table"]>} table */
  const makeTable = (figure, [arrays, rows, columns, pick]) => {
    const title = "the numbers as a table";
    const holds = element("div", { class: "xp-scroll", tabindex: "0", role: "group", "aria-label": title });
    const details = element("details", { class: "xp-table" }, element("summary", {}, title), holds);
    /** @type {HTMLElement[]} */
    const cells = []; // made when the table is first opened, then reused, so that a screen reader keeps its place
    /** @param {string} scope @param {string} text */
    const head = (scope, text) => element("th", { scope }, text);
    /** @param {[string, string]} array */
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
        setText(cell, signed(numbers[i], 3));
      });
    };
    details.addEventListener("toggle", fill);
    return { details, fill };
  };

  return { makePicture, makeWords, makeTable };
})();
