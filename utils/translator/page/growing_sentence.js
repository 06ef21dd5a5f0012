// What the reader sees and does: a sentence that grows, what two translators made of it, and a plot that collects a
// point for each length. Python has written every step into the page; this script shows one of them.

const find = (selector) => document.querySelector(selector);
const { stories, translators } = JSON.parse(find("#facts").textContent);

// What the reader has chosen, and how far each sentence has grown.
const state = { story: 0, step: 0 };
const reached = stories.map(() => -1);

// On paper a sentence is as long as it can be.
const paper = matchMedia("print");
const here = () => (paper.matches ? { ...state, step: stories[state.story].steps.length - 1 } : state);

// -- the address

const saveAddress = debounce(250, () => history.replaceState(null, "", addressOf(state)));
const addressOf = ({ story, step }) => `#sentence=${story + 1}&length=${step + 1}`;

// Without an address a sentence is short at first.
const readAddress = () => {
  const query = new URLSearchParams(location.hash.slice(1));
  const among = (list, name) => Math.min(list.length, Math.max(1, Math.trunc(query.get(name)) || 1)) - 1;
  state.story = among(stories, "sentence");
  state.step = among(stories[state.story].steps, "length");
};

// -- the plot

const [MOST_WORDS, LEFT, HEIGHT] = [50, 44, 140];

// The points of a sentence up to where it has grown.
const pointsOf = (story, k) =>
  stories[story].steps.slice(0, Math.max(reached[story], here().step) + 1).map(({ english, french, translations }) => ({
    words: english.length,
    share: translations[k].right.length / french.length,
  }));

// A circle or a square, so that the two differ in more than their colour.
const spot = (k, x, y, size) =>
  k ? rect(x - size, y - size, 2 * size, 2 * size, { class: "spot" }) : circle(x, y, 1.15 * size, { class: "spot" });
const coloured = (k, ...marks) => group({ style: `color:var(--${translators[k].colour})` }, ...marks);

const courseOf = (k, points, xOf, yOf) => {
  const places = points.map(({ words, share }) => [xOf(words), yOf(share)]);
  return coloured(
    k,
    polyline(places, { class: "run", "stroke-dasharray": k ? "6 4" : undefined }),
    places.map(([x, y], step) => spot(k, x, y, step === here().step ? 7 : 4)),
  );
};

// The name of each curve and its share now: on a phone one below the other.
const legend = (points, wide) =>
  points.map(({ share }, k) => {
    const [x, y] = wide ? [220 + 230 * k, 14] : [0, 34 + 18 * k];
    const text = `${translators[k].name} ${percent(share)}`;
    return coloured(k, spot(k, x + 6, y - 4, 5), label(text, x + 17, y, { class: "name" }));
  });

const plotMarks = (width) => {
  const wide = isWide(width);
  const top = wide ? 32 : 70;
  const xOf = (words) => LEFT + (words / MOST_WORDS) * (width - LEFT - 12);
  const yOf = (share) => top + (1 - share) * HEIGHT;
  const all = translators.map((_, k) => pointsOf(state.story, k));
  const now = all.map((points) => points[here().step]);
  const x = xOf(now[0].words);
  const marks = [
    label("share of right words", 0, 14, { class: "name" }),
    legend(now, wide),
    [0, 0.5, 1].map((share) => [
      line(LEFT, yOf(share), width - 12, yOf(share), { class: "grid" }),
      label(percent(share), LEFT - 7, yOf(share) + 4, { class: "end quiet" }),
    ]),
    [10, 20, 30, 40, 50].map((words) => label(words, xOf(words), yOf(0) + 18, { class: "middle quiet" })),
    label("English words", width - 12, yOf(0) + 34, { class: "end quiet" }),
    line(x, top - 8, x, yOf(0), { class: "rule" }),
    all.map((points, k) => courseOf(k, points, xOf, yOf)).reverse(),
  ];
  return { height: yOf(0) + 40, marks: marks.flat(Infinity).filter(Boolean) };
};

const PLOT_STYLE = ".run{fill:none;stroke:currentColor;stroke-width:2}.spot{fill:currentColor;stroke:var(--paper)}";
const plot = find(".plot");
const svg = svgNode(mark("svg", { "aria-hidden": "true" }));
plot.attachShadow({ mode: "open" }).append(element("style", {}, PICTURE_STYLE + PLOT_STYLE), svg);

const showPlot = () => {
  const width = plot.clientWidth;
  if (!width) return;
  const { height, marks } = plotMarks(width);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(...marks.map(svgNode));
  const told = translators.map(({ name }, k) => {
    const points = pointsOf(state.story, k).map(({ words, share }) => `${percent(share)} of ${words} words`);
    return `${name}: ${points.join(", ")}`;
  });
  plot.setAttribute("aria-label", `The share of right words as the sentence grows. ${capital(told.join("; "))}.`);
};

// -- what the reader sees

const capital = (text) => text[0].toUpperCase() + text.slice(1);

const show = () => {
  const { story, step } = here();
  const { steps } = stories[story];
  reached[story] = Math.max(reached[story], state.step);
  for (const part of document.querySelectorAll("[data-step]")) part.hidden = part.dataset.step !== `${story} ${step}`;
  find(".length").textContent = `${steps[step].english.length} words`;
  find("#shorter").setAttribute("aria-disabled", step === 0);
  find("#longer").setAttribute("aria-disabled", step === steps.length - 1);
  buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === story));
  find(".alone a").href = addressOf(state);
  showPlot();
};

const say = () => {
  const shown = (part) => [...document.querySelectorAll(`[data-step="${state.story} ${state.step}"]${part}`)];
  const counts = shown(" .count").map((count, k) => `${translators[k].name}: ${count.textContent}`);
  find("output").value = `${shown(".english")[0].textContent} ${capital(counts.join("; "))}.`;
};

// -- what the reader does

const go = (change) => {
  Object.assign(state, change);
  show();
  say();
  saveAddress();
};
const grow = (by) => {
  const step = state.step + by;
  if (stories[state.story].steps[step]) go({ step });
};
const arrive = () => {
  readAddress();
  show();
};

const buttons = stories.map(({ name }, story) =>
  textButton(name, () => go({ story, step: Math.max(0, reached[story]) })),
);
find(".examples").append(...buttons);
find("#shorter").addEventListener("click", () => grow(-1));
find("#longer").addEventListener("click", () => grow(1));
addEventListener("hashchange", arrive);
paper.addEventListener("change", show);
new ResizeObserver(showPlot).observe(plot);
arrive();
for (const part of document.querySelectorAll(".examples, .steps, .plot, .alone")) part.hidden = false;
find(".still").remove();
