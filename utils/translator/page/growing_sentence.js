// What the reader sees and does: a sentence that grows, its two translations with their wrong words marked, and a plot
// that collects a point for each length. Both translators run here; `translating` is forward.js.

const find = (selector) => document.querySelector(selector);
const facts = JSON.parse(find("#facts").textContent);
const { stories, tokens } = facts;

// What the reader has chosen, and how far each sentence has grown.
const state = { story: 0, step: 0 };
const reached = stories.map(() => -1);

// -- the address

const saveAddress = debounce(250, () => history.replaceState(null, "", addressOf(state)));
const addressOf = ({ story, step }) => `#sentence=${story + 1}&length=${step + 1}`;

// Without an address a sentence is short at first; in the printed book it is as long as it can be.
const readAddress = () => {
  const query = new URLSearchParams(location.hash.slice(1));
  const among = (list, name, otherwise = 1) =>
    Math.min(list.length, Math.max(1, Math.trunc(query.get(name)) || otherwise)) - 1;
  state.story = among(stories, "sentence");
  const { steps } = stories[state.story];
  state.step = among(steps, "length", matchMedia("print").matches ? steps.length : 1);
};

// -- the translators

const { buffer } = bytes(find("#weights").textContent.trim());
const weights = Object.entries(translating.unpackWeights(facts.layout, buffer));
const translatorOf = (name) => {
  const own = weights.filter(([key]) => key.startsWith(`${name}.`));
  return translating.makeModel(Object.fromEntries(own.map(([key, matrix]) => [key.slice(name.length + 1), matrix])));
};
const translators = facts.translators.map(translatorOf);

// The places of the words of a translation that are also, in the same order, in the right one: as many as there can be.
const rightPlaces = (words, reference) => {
  const common = [...words, ""].map(() => new Uint16Array(reference.length + 1));
  for (let i = words.length - 1; i >= 0; i--)
    for (let j = reference.length - 1; j >= 0; j--)
      common[i][j] =
        words[i] === reference[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
  const places = [];
  let [i, j] = [0, 0];
  while (i < words.length && j < reference.length) {
    if (words[i] === reference[j]) {
      places.push(i++);
      j++;
    } else if (common[i + 1][j] >= common[i][j + 1]) i++;
    else j++;
  }
  return places;
};

// The translation of a step by each translator, and which of its words are right; computed once.
const translationsOf = (step) =>
  (step.translations ??= translators.map((translator) => {
    const { ids } = translating.greedy(translator, step.ids, { maxLen: 2 * step.ids.length + 10 });
    const words = ids.filter((id) => id > translating.EOS).map((id) => tokens[id]);
    return { words, right: rightPlaces(words, step.french) };
  }));

// -- words

const capital = (word) => word[0].toUpperCase() + word.slice(1);
const isJoined = (word, before) => !before || before.endsWith("'") || /^[,.]$/.test(word);

// Words as people write them; `wrap` may put something around neighbours that belong together.
const written = (words, isMarked, wrap) => {
  const nodes = [];
  words.forEach((word, i) => {
    const text = (isJoined(word, words[i - 1]) ? "" : " ") + (i ? word : capital(word));
    if (!isMarked(i)) nodes.push(text);
    else if (i && isMarked(i - 1)) nodes.at(-1).append(text);
    else nodes.push(/^ /.test(text) ? " " : "", wrap(text.trimStart()));
  });
  return nodes;
};
const plain = (words) => written(words, () => false).join("");

const wrongWords = (text) => element("mark", {}, element("span", { class: "spoken" }, "wrong: "), text);
const newWords = (text) => element("b", {}, text);

// -- the plot

const [MOST_WORDS, LEFT, HEIGHT] = [50, 44, 140];

// The points of a sentence up to where it has grown.
const pointsOf = (story, k) =>
  stories[story].steps.slice(0, reached[story] + 1).map((step) => {
    const { right } = translationsOf(step)[k];
    return { words: step.english.length, share: right.length / step.french.length };
  });

// A circle or a square, so that the two differ in more than their colour.
const spot = (k, x, y, size) =>
  k
    ? rect(x - size, y - size, 2 * size, 2 * size, { class: "spot" })
    : circle(x, y, 1.15 * size, { class: "spot" });
const coloured = (k, ...marks) => group({ style: `color:var(--${facts.colours[k]})` }, ...marks);

const courseOf = (k, points, xOf, yOf) => {
  const places = points.map(({ words, share }) => [xOf(words), yOf(share)]);
  return coloured(
    k,
    polyline(places, { class: "run", "stroke-dasharray": k ? "6 4" : undefined }),
    places.map(([x, y], step) => spot(k, x, y, step === state.step ? 7 : 4)),
  );
};

// The name of each curve and its share now: on a phone one below the other.
const legend = (points, wide) =>
  points.map(({ share }, k) => {
    const [x, y] = wide ? [220 + 230 * k, 14] : [0, 34 + 18 * k];
    const text = `${facts.labels[k]} ${percent(share)}`;
    return coloured(k, spot(k, x + 6, y - 4, 5), label(text, x + 17, y, { class: "name" }));
  });

const plotMarks = (width) => {
  const wide = isWide(width);
  const top = wide ? 32 : 70;
  const xOf = (words) => LEFT + (words / MOST_WORDS) * (width - LEFT - 12);
  const yOf = (share) => top + (1 - share) * HEIGHT;
  const all = facts.translators.map((_, k) => pointsOf(state.story, k));
  const now = all.map((points) => points[state.step]);
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
  const told = facts.labels.map((name, k) => {
    const points = pointsOf(state.story, k).map(({ words, share }) => `${percent(share)} of ${words} words`);
    return `${name}: ${points.join(", ")}`;
  });
  plot.setAttribute("aria-label", `The share of right words as the sentence grows. ${capital(told.join("; "))}.`);
};

// -- what the reader sees

const showSentence = ({ steps }) => {
  const { english } = steps[state.step];
  const before = state.step ? steps[state.step - 1].english : english;
  // The words before the new clause are those of the shorter sentence, but for its full stop.
  const isLonger = before.slice(0, -1).every((word, i) => word === english[i]);
  const isNew = (i) => isLonger && state.step > 0 && i >= before.length - 1 && i < english.length - 1;
  find(".english").replaceChildren(...written(english, isNew, newWords));
  find(".length").textContent = `${english.length} words`;
};

const showTranslation = ({ words, right }, reference, k) => {
  const card = document.querySelectorAll(".card")[k];
  card.querySelector(".french").replaceChildren(...written(words, (i) => !right.includes(i), wrongWords));
  card.querySelector(".count").textContent = `${right.length} of ${reference.length} words right`;
  card.style.setProperty("--share", right.length / reference.length);
};

const show = () => {
  const story = stories[state.story];
  const step = story.steps[state.step];
  reached[state.story] = Math.max(reached[state.story], state.step);
  showSentence(story);
  translationsOf(step).forEach((translation, k) => showTranslation(translation, step.french, k));
  find(".reference .french").textContent = plain(step.french);
  find("#shorter").setAttribute("aria-disabled", state.step === 0);
  find("#longer").setAttribute("aria-disabled", state.step === story.steps.length - 1);
  find(`#story-${state.story}`).checked = true;
  find(".alone a").href = addressOf(state);
  showPlot();
};

const say = () => {
  const counts = [...document.querySelectorAll(".count")].map((count, k) => `${facts.labels[k]}: ${count.textContent}`);
  find("output").value = `${plain(stories[state.story].steps[state.step].english)} ${capital(counts.join("; "))}.`;
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

stories.forEach(({ name }, story) => {
  const input = element("input", { type: "radio", name: "story", id: `story-${story}` });
  input.addEventListener("change", () => go({ story, step: Math.max(0, reached[story]) }));
  find(".stories").append(element("label", {}, input, name));
});
find("#shorter").addEventListener("click", () => grow(-1));
find("#longer").addEventListener("click", () => grow(1));
addEventListener("hashchange", arrive);
new ResizeObserver(showPlot).observe(plot);
arrive();
for (const part of document.querySelectorAll("[hidden]")) part.hidden = false;
