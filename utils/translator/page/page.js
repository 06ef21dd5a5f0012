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
let shown = null; // the worker's last answer
let number = 0; // of the last request

// -- the address

const saveAddress = debounce(250, () => {
  if (location.protocol === "about:") return; // within `srcdoc` the address is that of the page around it
  const { text, chosen, prefix } = state;
  const query = new URLSearchParams({ text: text.slice(0, 2000), word: chosen, ...(prefix.length && { prefix }) });
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
const quoted = (words) => words.map((word) => `“${word}”`).join(", ");

// -- the picture

const figureOf = (source, target, weights) =>
  makeFigure({
    kind: "alignment",
    arrays: {
      weights: { data: weights.flat(), dtype: "f4", step: 1, over: [], shape: [target.length, source.length] },
    },
    axes: [],
    gauges: ["", []],
    labels: { source, target },
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
  const holder = element("div", { class: "picture", "aria-hidden": "true" });
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
const place = makePlace();
const words = element("fieldset", { class: "words", lang: facts.names.tgt[0], dir: "auto" });
const spoken = element("output", { class: "spoken", lang: facts.names.tgt[0] });
const HELP = "The broader a band, the more the decoder looks there. Choose a word to see how it was written.";
const OF_DOTS = "A dot stands before a piece that continues a word.";
const nextWords = element("div", { class: "next", role: "group" });
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

// The words that may come next. The focus stays among them, so that a reader without a mouse goes on writing.
const showNext = ({ anew, choices }) => {
  const found = JSON.stringify(choices);
  if (found === nextWords.dataset.found) return;
  nextWords.dataset.found = found;
  const focused = nextWords.contains(document.activeElement);
  const name = anew ? "New sentence" : "Next word";
  const buttons = choices.map(({ word, text }) => textButton(word, () => writeInField(text)));
  nextWords.setAttribute("aria-label", name);
  nextWords.replaceChildren(element("span", { "aria-hidden": "true" }, `${name}:`), ...buttons);
  if (focused) (buttons[0] ?? field).focus();
};

// What the reader should know of this translation.
const warnings = ({ unknown = [], numTokens, finished, problem, ...counts }) => {
  const listed = quoted(unknown.slice(0, 8)) + (unknown.length > 8 ? " and others" : "");
  const kind = sourceForm.subwords
    ? "Such characters are read as bytes"
    : "Such words are all read as one unknown word";
  return [
    problem && PROBLEMS[problem](counts),
    unknown.length && `Not in the vocabulary: ${listed}. ${kind}.`,
    facts.maxTokens &&
      numTokens > facts.maxTokens &&
      `The sentence has ${numTokens} tokens; none in the training has more than ${facts.maxTokens}.`,
    finished === false && "The translation is cut off: it has reached the length limit without an end.",
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
    const ends = token === "<eos>" ? " end" : "";
    const shownWord = element("label", { class: `word${mine}${ends}` }, input, word.replace(/^·/, ""));
    shownWord.addEventListener("pointerenter", (event) => mouseMoved(event) && place.look(i, state.chosen));
    shownWord.addEventListener("pointerleave", () => place.look(state.chosen));
    return [blank ? " " : "", shownWord];
  });
  const search = shown.beam > 1 ? `a beam search of ${shown.beam}` : "greedy search";
  const duration = `${(shown.milliseconds / 1000).toFixed(2)} s`;
  const legend = element("legend", {}, `In ${facts.names.tgt[1]}, by ${search} in ${duration}`);
  const focused = words.contains(document.activeElement);
  words.replaceChildren(legend, element("div", { class: "line" }, ...inputs.flat()));
  if (focused) words.querySelectorAll("input")[state.chosen]?.focus();
};

// Where the decoder looked while it wrote the chosen word, in words.
const lookSentence = (source, word) => {
  const row = shown.weights[state.chosen];
  const strong = row
    .map((weight, j) => ({ weight, word: source[j] }))
    .sort((a, b) => b.weight - a.weight)
    .filter(({ weight }, k) => k === 0 || (k < 3 && weight >= 0.1));
  const list = strong.map(({ weight, word: there }) => `“${there}” (${percentOf(weight)})`).join(", ");
  return `While it writes “${word}”, the decoder looks most at ${list}.`;
};

const choiceButton = ({ id, token, share }, { isWritten }) => {
  const at = state.chosen;
  const word = written(token, targetForm, shown.target[at - 1]?.token);
  const button = element("button", { type: "button", "aria-pressed": isWritten });
  const bar = element("span", { class: "bar", style: `--share:${share.toFixed(4)}` });
  const name = element("span", { class: "name", lang: facts.names.tgt[0] }, word);
  button.append(name, element("span", { class: "share" }, percentOf(share)), bar);
  if (!isWritten) button.addEventListener("click", () => force(at, id));
  return element("li", {}, button);
};

const showStep = () => {
  const [source, target] = [sourceWords(), targetWords()];
  const at = state.chosen;
  const choices = shown.choices[at];
  const { id } = shown.target[at];
  const rank = choices.findIndex((choice) => choice.id === id);
  const isMine = at === state.prefix.length - 1;
  const why = rank && at >= state.prefix.length ? `With “${target[at]}” the whole sentence is likelier. ` : "";
  const advice = isMine
    ? `You have chosen “${target[at]}”. The rest is written anew.`
    : `${why}Choose another word, and the rest is written anew.`;
  const list = element("ol", {}, ...choices.map((choice) => choiceButton(choice, { isWritten: choice.id === id })));
  const back = textButton("Put back the translator’s own words", () => putBack());
  step.replaceChildren(
    element("h2", {}, `Step ${at + 1} of ${target.length}`),
    element("p", { class: "look" }, lookSentence(source, target[at])),
    element("p", {}, advice),
    list,
    ...(state.prefix.length ? [back] : []),
  );
};

const show = () => {
  notes.replaceChildren(...warnings(shown).map((text) => element("p", {}, text)));
  if (shown.problem) return result.replaceChildren();
  if (!result.contains(words)) result.replaceChildren(words, spoken, place.holder, caption, step);
  state.chosen = Math.min(state.chosen, shown.target.length - 1);
  state.prefix = shown.prefix;
  showWords();
  const [source, target] = [sourceWords(), targetWords()];
  place.draw(figureOf(source, target, shown.weights));
  const hasDots = [...source, ...target].some((word) => /^·./.test(word));
  caption.textContent = hasDots ? `${HELP} ${OF_DOTS}` : HELP;
  showStep();
  if (shown.beam > 1) spoken.value = shown.text; // a screen reader hears the final translation only
};

// -- what the reader does

const choose = (word) => {
  state.chosen = word;
  saveAddress();
  const input = words.querySelectorAll("input")[word];
  input.checked = true;
  place.look(word);
  showStep();
};

const worker = new Worker(URL.createObjectURL(new Blob([find("#worker").textContent], { type: "text/javascript" })));
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

worker.onmessage = ({ data }) => {
  if (data.number !== number) return;
  shown = data;
  result.dataset.beam = data.beam;
  result.dataset.milliseconds = Math.round(data.milliseconds);
  show();
  if (facts.followers) showNext(data.next ?? { choices: [] });
};
worker.onerror = () => {
  notes.replaceChildren(element("p", {}, "The translator does not run in this browser, so you see a stored example."));
};
worker.postMessage({ facts, weights: find("#weights").textContent.trim() });
find(".typing").hidden = false;
if (facts.followers) field.after(nextWords);
field.addEventListener("input", () => write(field.value));
for (const button of document.querySelectorAll(".examples button"))
  button.addEventListener("click", () => writeInField(button.textContent));
addEventListener("hashchange", arrive);
arrive();

// Shows where the decoder looked word by word, until the reader does something. The opened step stays as it is, so that
// the text below the frame does not move.
function playExample() {
  let at = 0;
  const timer = setInterval(() => {
    if (shown?.beam !== BEAM || shown.problem) return;
    if (at < shown.target.length) place.look(at++, state.chosen);
    else stop();
  }, PLAY);
  const stop = () => {
    clearInterval(timer);
    if (at) place.look(state.chosen);
  };
  for (const event of ["pointerdown", "keydown"]) addEventListener(event, stop, { once: true });
}

if (parent !== window && !matchMedia("(prefers-reduced-motion: reduce)").matches) playExample();
