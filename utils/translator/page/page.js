// What the reader sees and does: the text to type in, the translation with its bands, and the opened step. The worker
// computes all of it; the drawing is that of the course's figure `alignment`.

const REST = 350; // milliseconds without a key until the beam search begins
const BEAM = 5;
const PLAY = 1200; // milliseconds for each word of the example that plays in a frame
const WIDEST_PICTURE = 760;

const find = (selector) => document.querySelector(selector);
const facts = JSON.parse(find("#facts").textContent);

// What the reader has chosen: a text, the number of the target word that is looked at, and the first words of the
// translation, where the last of them is not the search's own.
const state = { text: "", chosen: 0, prefix: [] };
let shown = null; // the worker's last answer; null before the first one and after an error
let number = 0; // of the last request
// In a frame the first example plays; in a page of its own the reader begins.
let playing = parent !== window && !matchMedia("(prefers-reduced-motion: reduce)").matches;

// -- the address

const saveAddress = debounce(250, () => {
  if (location.protocol === "about:") return; // within `srcdoc` the address is that of the page around it
  const { text, chosen, prefix } = state;
  const cut = [...text].slice(0, facts.maxCharacters).join("");
  const query = new URLSearchParams({ text: cut, word: chosen, ...(prefix.length && { prefix }) });
  history.replaceState(null, "", `#${query}`);
});

const readAddress = () => {
  const query = new URLSearchParams(location.hash.slice(1));
  const whole = (digits) => (/^\d{1,7}$/.test(digits) ? +digits : 0);
  state.text = query.get("text") ?? facts.examples[0];
  state.chosen = whole(query.get("word"));
  state.prefix = (query.get("prefix") ?? "").split(",").filter(Boolean).slice(0, 500).map(whole);
};

// -- words

const BYTE = /^<0x(..)>$/;

// A token as the page writes it after another one. A dot stands before a token that continues a word, in a language
// that has blanks between words.
const written = (token, { blanks, subwords }, before = "") => {
  if (token === "<eos>") return "end";
  if (!subwords) return token;
  const plain = token.replace("▁", "").replace(BYTE, "byte $1");
  const continues = blanks && /[\p{L}\p{N}\p{M}]$/u.test(before) && /^[\p{L}\p{N}\p{M}]/u.test(token);
  return continues ? `·${plain}` : plain || "␣";
};

const percentOf = (share) => (share < 0.005 ? "< 1%" : share > 0.995 && share < 1 ? "> 99%" : percent(share));
const [source, target] = Object.values(facts.names).map(([lang, name]) => ({ lang, name }));
// A text of one of the languages within an English one: it has its own direction, and no program translates it.
const foreign = ({ lang }, text) => element("bdi", { lang, translate: "no" }, text);
const quoted = (nodes) => nodes.flatMap((node, i) => [i ? ", “" : "“", node, "”"]);

// -- the picture

const figureOf = (labels, weights) =>
  makeFigure({
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
const mouseMoved = ({ clientX, clientY, pointerType }) => {
  const before = mouseAt;
  mouseAt = `${clientX},${clientY}`;
  return pointerType !== "touch" && mouseAt !== before;
};

// A place for pictures, in a shadow tree, where only its own style rules apply.
const makePlace = () => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const holder = element("div", { class: "picture", "aria-hidden": "true", translate: "no" });
  holder.attachShadow({ mode: "open" }).append(element("style", {}, PICTURE_STYLE), svg);
  let [figure, drawn] = [null, []];
  const paint = () => {
    if (!figure) return;
    const width = Math.min(WIDEST_PICTURE, holder.clientWidth || 640);
    const { height, marks } = figure.draw(width);
    const now = keyed(marks);
    patch(svg, now, drawn);
    drawn = now;
    svg.setAttribute("viewBox", `0 0 ${width} ${Math.round(height)}`);
  };
  // Shows a word: one that the mouse is on, or else the chosen one.
  const look = (word, settled = word) => {
    figure.settled = { word: settled };
    figure.hover = word === settled ? {} : { word };
    figure.put({ word });
    paint();
  };
  const draw = (newFigure) => {
    figure = newFigure;
    look(state.chosen);
  };
  svg.addEventListener("pointerover", (event) => {
    const { word } = picked(event);
    if (mouseMoved(event) && word !== undefined) look(word, state.chosen);
  });
  svg.addEventListener("pointerleave", () => figure && look(state.chosen));
  svg.addEventListener("click", (event) => {
    const { word } = picked(event);
    if (word !== undefined) choose(word);
  });
  new ResizeObserver(paint).observe(holder);
  return { holder, draw, look };
};

// -- the parts of the page

const notes = find("#notes");
const field = find("#text");
const result = find("#result");
const storedExample = [...result.childNodes];
const place = makePlace();
const words = element("fieldset", { class: "words" });
const spoken = element("output", { class: "spoken", lang: target.lang, translate: "no" });
const HELP = "The broader a band, the more the decoder looks there. Choose a word to see how it was written.";
const OF_DOTS = "A dot stands before a piece that continues a word.";
const caption = element("p", { class: "caption" });
const step = element("div", { class: "step" });

const sourceForm = { blanks: facts.language.words !== "characters", subwords: "merges" in facts.src };
const targetForm = { blanks: facts.targetHasBlanks, subwords: "merges" in facts.tgt };
const sourceWords = () => shown.source.map((token, j) => written(token, sourceForm, shown.source[j - 1]));
const targetWords = () => shown.target.map(({ token }, i) => written(token, targetForm, shown.target[i - 1]?.token));

const PROBLEMS = {
  empty: () => "Write a sentence above.",
  characters: ({ count, limit }) =>
    `This text has ${count} characters. The page translates at most ${limit}: shorten it.`,
  tokens: ({ count, limit }) => `This text has ${count} tokens. The page translates at most ${limit}: shorten it.`,
};

// What the reader should know of this translation: paragraphs.
const warnings = ({ unknown = [], numTokens, finished, problem, ...counts }) => {
  const listed = quoted(unknown.slice(0, 8).map((word) => foreign(source, word)));
  const others = unknown.length > 8 ? " and others" : "";
  const kind = sourceForm.subwords
    ? "Such characters are read as bytes"
    : "Such words are all read as one unknown word";
  return [
    problem && [PROBLEMS[problem](counts)],
    unknown.length && ["Not in the vocabulary: ", ...listed, `${others}. ${kind}.`],
    facts.longestInTraining &&
      numTokens > facts.longestInTraining && [
        `The sentence has ${numTokens} tokens; none in the training has more than ${facts.longestInTraining}.`,
      ],
    finished === false && ["The translation is cut off: it has reached the length limit without an end."],
  ].filter(Boolean);
};

const showWords = () => {
  const labels = targetWords();
  const inputs = labels.map((word, i) => {
    const input = element("input", { type: "radio", name: "word", id: `word-${i}` });
    input.checked = i === state.chosen;
    input.addEventListener("change", () => choose(i));
    const { token, blank } = shown.target[i];
    const mine = i === state.prefix.length - 1 ? " mine" : "";
    const ends = token === "<eos>";
    const text = ends ? element("bdi", { lang: "en" }, word) : word.replace(/^·/, "");
    const shownWord = element("label", { class: `word${mine}${ends ? " end" : ""}` }, input, text);
    shownWord.addEventListener("pointerenter", (event) => mouseMoved(event) && place.look(i, state.chosen));
    shownWord.addEventListener("pointerleave", () => place.look(state.chosen));
    return [blank ? " " : "", shownWord];
  });
  const search = shown.beam > 1 ? `a beam search of ${shown.beam}` : "greedy search";
  const duration = `${(shown.milliseconds / 1000).toFixed(2)} s`;
  const legend = element("legend", {}, `In ${target.name}, by ${search} in ${duration}`);
  const focused = words.contains(document.activeElement);
  const line = element("div", { class: "line", lang: target.lang, dir: "auto", translate: "no" }, ...inputs.flat());
  words.replaceChildren(legend, line);
  if (focused) words.querySelectorAll("input")[state.chosen]?.focus();
};

// Where the decoder looked while it wrote the chosen word, in words.
const lookSentence = (sourceWords, word) => {
  const strong = shown.weights[state.chosen]
    .map((weight, j) => ({ weight, word: sourceWords[j] }))
    .sort((a, b) => b.weight - a.weight)
    .filter(({ weight }, k) => k === 0 || (k < 3 && weight >= 0.1));
  const looks = strong.flatMap(({ weight, word: there }, k) => [
    k ? ", " : "",
    ...quoted([foreign(source, there)]),
    ` (${percentOf(weight)})`,
  ]);
  return ["While it writes ", ...quoted([foreign(target, word)]), ", the decoder looks most at ", ...looks, "."];
};

const choiceButton = ({ id, token, share }, { isWritten }) => {
  const at = state.chosen;
  const word = written(token, targetForm, shown.target[at - 1]?.token);
  const button = element("button", { type: "button", "aria-pressed": isWritten });
  const bar = element("span", { class: "bar", style: `--share:${share.toFixed(4)}` });
  const name = element("span", { class: "name" }, foreign(target, word));
  button.append(name, element("span", { class: "share" }, percentOf(share)), bar);
  if (!isWritten) button.addEventListener("click", () => force(at, id));
  return element("li", {}, button);
};

const showStep = () => {
  const labels = targetWords();
  const at = state.chosen;
  const word = foreign(target, labels[at]);
  const choices = shown.choices[at];
  const { id } = shown.target[at];
  const rank = choices.findIndex((choice) => choice.id === id);
  const isMine = at === state.prefix.length - 1;
  const why =
    rank && at >= state.prefix.length ? ["With ", ...quoted([word]), " the whole sentence is likelier. "] : [];
  const advice = isMine
    ? ["You have chosen ", ...quoted([word]), ". The rest is written anew."]
    : [...why, "Choose another word, and the rest is written anew."];
  const list = element("ol", {}, ...choices.map((choice) => choiceButton(choice, { isWritten: choice.id === id })));
  const back = textButton("Put back the translator’s own words", () => putBack());
  step.replaceChildren(
    element("h2", {}, `Step ${at + 1} of ${labels.length}`),
    element("p", { class: "look" }, ...lookSentence(sourceWords(), labels[at])),
    element("p", {}, ...advice),
    list,
    ...(state.prefix.length ? [back] : []),
  );
};

const show = () => {
  notes.replaceChildren(...warnings(shown).map((content) => element("p", {}, ...content)));
  if (shown.problem) return result.replaceChildren();
  if (!result.contains(words)) result.replaceChildren(words, spoken, place.holder, caption, step);
  state.chosen = Math.min(state.chosen, shown.target.length - 1);
  state.prefix = shown.prefix;
  showWords();
  const labels = { source: sourceWords(), target: targetWords() };
  place.draw(figureOf(labels, shown.weights));
  const hasDots = [...labels.source, ...labels.target].some((word) => /^·./.test(word));
  caption.textContent = hasDots ? `${HELP} ${OF_DOTS}` : HELP;
  step.style.minHeight = "";
  if (playing) holdHeight();
  showStep();
  if (shown.beam > 1) spoken.value = shown.text; // a screen reader hears the final translation only
};

// Whatever goes wrong: the stored example takes the place of an answer to an earlier text.
const fail = () => {
  find(".typing").hidden = !result.dataset.beam; // where there has never been an answer
  shown = null;
  notes.replaceChildren(element("p", {}, "The translator does not run in this browser."));
  result.replaceChildren(...storedExample);
};

// -- what the reader does

const showChosen = (word) => {
  state.chosen = word;
  words.querySelectorAll("input")[word].checked = true;
  place.look(word);
  showStep();
};

const choose = (word) => {
  showChosen(word);
  saveAddress();
};

let worker = null;
const ask = (beam) => worker.postMessage({ number: ++number, text: state.text, prefix: state.prefix, beam });
const askForTheBest = debounce(REST, () => ask(BEAM));
const translate = () => {
  ask(1);
  askForTheBest();
  saveAddress();
};

const force = (at, id) => {
  state.prefix = [...shown.target.slice(0, at).map((word) => word.id), id];
  translate();
  words.querySelectorAll("input")[at].focus();
};

const putBack = () => {
  state.prefix = [];
  translate();
  words.querySelectorAll("input")[state.chosen].focus();
};

const write = (text) => {
  Object.assign(state, { text, chosen: 0, prefix: [] });
  translate();
};

const writeInField = (text) => {
  field.value = text;
  write(text);
};

const arrive = () => {
  readAddress();
  field.value = state.text;
  translate();
};

const receive = ({ data }) => {
  if (data.number !== number) return;
  shown = data;
  result.dataset.beam = data.beam;
  result.dataset.milliseconds = Math.round(data.milliseconds);
  show();
};

const start = () => {
  const program = new Blob([find("#worker").textContent], { type: "text/javascript" });
  try {
    worker = new Worker(URL.createObjectURL(program));
  } catch {
    return fail();
  }
  Object.assign(worker, { onmessage: receive, onerror: fail });
  worker.postMessage({ facts, weights: find("#weights").textContent.trim() });
  find(".typing").hidden = false;
  field.addEventListener("input", () => write(field.value));
  document.querySelectorAll(".examples button").forEach((button, k) => {
    button.addEventListener("click", () => writeInField(facts.examples[k]));
  });
  addEventListener("hashchange", arrive);
  arrive();
};

// Goes through the translation word by word, until the reader does something.
const playExample = () => {
  const timer = setInterval(() => {
    if (shown?.beam !== BEAM || shown.problem) return;
    if (state.chosen + 1 < shown.target.length) return showChosen(state.chosen + 1);
    stop();
    showChosen(0);
  }, PLAY);
  const stop = () => {
    playing = false;
    clearInterval(timer);
  };
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, stop, { once: true });
};

// Makes the opened step as high as the highest one, so that the text below the frame does not move.
const holdHeight = () => {
  const { chosen } = state;
  const heights = shown.target.map((_, word) => {
    state.chosen = word;
    showStep();
    return step.offsetHeight;
  });
  step.style.minHeight = `${Math.max(...heights)}px`;
  state.chosen = chosen;
};

start();
if (playing) playExample();
