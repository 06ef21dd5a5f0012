// What the reader sees and does: the text to type in, the translation with its bands, and the opened step. The worker
// computes all of it.
(() => {
  const { foreign, languagesOf, lookSentence, percentOf, quoted, warnings, written, writtenAll } = wording;
  const { debounce, element, textButton } = elements;
  const { figureOf, makePlace, mouseMoved } = picture;

  const REST = 350; // milliseconds without a key until the beam search begins
  const BEAM = 5;
  const PLAY = 1200; // milliseconds for each word of the example that plays in a frame
  const HELP = "The broader a band, the more the decoder looks there. Choose a word to see how it was written.";
  const OF_DOTS = "A dot stands before a piece that continues a word.";

  /** @type {<T extends HTMLElement>(selector: string, type: new () => T) => T} */
  const find = (selector, type) => {
    const found = document.querySelector(selector);
    if (!(found instanceof type)) throw new Error(`the page has no ${selector}`);
    return found;
  };
  /** @param {string} id */
  const held = (id) => find(`#${id}`, HTMLElement).textContent.trim();

  /** @type {Facts} */
  const facts = JSON.parse(held("facts"));
  const { source, target } = languagesOf(facts);

  // What the reader has chosen: a text, the number of the target word that is looked at, and the first words of the
  // translation, where the last of them is not the search's own.
  /** @type {{ text: string, chosen: number, prefix: number[] }} */
  const state = { text: "", chosen: 0, prefix: [] };
  /** @type {Translation | null} */
  let shown = null; // the last translation; null before the first one, and after what is none
  let number = 0; // of the last request
  // In a frame the first example plays; in a page of its own the reader begins.
  let playing = parent !== window && !matchMedia("(prefers-reduced-motion: reduce)").matches;

  // -- the address

  const saveAddress = debounce(250, () => {
    if (location.protocol === "about:") return; // within `srcdoc` the address is that of the page around it
    const { text, chosen, prefix } = state;
    const query = new URLSearchParams({ text: [...text].slice(0, facts.maxCharacters).join(""), word: `${chosen}` });
    if (prefix.length) query.set("prefix", prefix.join());
    history.replaceState(null, "", `#${query}`);
  });

  const readAddress = () => {
    const query = new URLSearchParams(location.hash.slice(1));
    /** @param {string} digits */
    const whole = (digits) => (/^\d{1,7}$/.test(digits) ? +digits : 0);
    state.text = query.get("text") ?? facts.examples[0];
    state.chosen = whole(query.get("word") ?? "");
    state.prefix = (query.get("prefix") ?? "").split(",").filter(Boolean).slice(0, 500).map(whole);
  };

  // -- the parts of the page

  const notes = find("#notes", HTMLElement);
  const field = find("#text", HTMLTextAreaElement);
  const typing = find(".typing", HTMLElement);
  const result = find("#result", HTMLElement);
  const storedExample = [...result.childNodes];
  const place = makePlace();
  const words = element("fieldset", { class: "words" });
  const spoken = element("output", { class: "spoken", lang: target.lang, translate: "no" });
  const caption = element("p", { class: "caption" });
  const step = element("div", { class: "step" });

  /** @param {Translation} translation */
  const sourceWords = (translation) => writtenAll(translation.source, source);
  /** @param {Translation} translation */
  const targetWords = (translation) =>
    writtenAll(
      translation.target.map(({ token }) => token),
      target,
    );
  /** @param {number} word */
  const inputOf = (word) => words.querySelectorAll("input")[word];
  /** @param {Content[][]} paragraphs */
  const note = (paragraphs) => notes.replaceChildren(...paragraphs.map((content) => element("p", {}, ...content)));

  // A word of the translation as a button of a group, which the mouse previews in the picture.
  /** @param {Translation} translation @param {string} label @param {number} i */
  const wordButton = (translation, label, i) => {
    const input = element("input", { type: "radio", name: "word", id: `word-${i}` });
    input.checked = i === state.chosen;
    input.addEventListener("change", () => choose(translation, i));
    const mine = i === state.prefix.length - 1 ? " mine" : "";
    const ends = translation.target[i].token === "<eos>";
    const text = ends ? element("bdi", { lang: "en" }, label) : label.replace(/^·/, "");
    const word = element("label", { class: `word${mine}${ends ? " end" : ""}` }, input, text);
    word.addEventListener("pointerenter", (event) => mouseMoved(event) && place.look(i));
    word.addEventListener("pointerleave", () => place.look());
    return word;
  };

  /** @param {Translation} translation */
  const showWords = (translation) => {
    const { beam, milliseconds, target: written } = translation;
    const buttons = targetWords(translation).flatMap((label, i) => [
      written[i].blank ? " " : "",
      wordButton(translation, label, i),
    ]);
    const search = beam > 1 ? `a beam search of ${beam}` : "greedy search";
    const duration = `${(milliseconds / 1000).toFixed(2)} s`;
    const legend = element("legend", {}, `In ${target.name}, by ${search} in ${duration}`);
    const focused = words.contains(document.activeElement);
    const line = element("div", { class: "line", lang: target.lang, dir: "auto", translate: "no" }, ...buttons);
    words.replaceChildren(legend, line);
    if (focused) inputOf(state.chosen).focus();
  };

  /** @param {Translation} translation @param {Choice} choice @param {boolean} isWritten */
  const choiceButton = (translation, { id, token, share }, isWritten) => {
    const at = state.chosen;
    const word = written(token, target, translation.target[at - 1]?.token);
    const button = element("button", { type: "button", "aria-pressed": isWritten });
    const bar = element("span", { class: "bar", style: `--share:${share.toFixed(4)}` });
    const name = element("span", { class: "name" }, foreign(target, word));
    button.append(name, element("span", { class: "share" }, percentOf(share)), bar);
    if (!isWritten) button.addEventListener("click", () => force(translation, at, id));
    return element("li", {}, button);
  };

  // What a reader may do with the chosen word, and why a less likely one may have been written.
  /** @param {Translation} translation @param {string} label */
  const advice = (translation, label) => {
    const at = state.chosen;
    const word = quoted([foreign(target, label)]);
    if (at === state.prefix.length - 1) return ["You have chosen ", ...word, ". The rest is written anew."];
    const { id } = translation.target[at];
    const isFirst = translation.choices[at].findIndex((choice) => choice.id === id) === 0;
    const why = isFirst || at < state.prefix.length ? [] : ["With ", ...word, " the whole sentence is likelier. "];
    return [...why, "Choose another word, and the rest is written anew."];
  };

  /** @param {Translation} translation */
  const showStep = (translation) => {
    const at = state.chosen;
    const labels = targetWords(translation);
    const looks = lookSentence(translation.weights[at], sourceWords(translation), labels[at], { source, target });
    const { id } = translation.target[at];
    const choices = translation.choices[at].map((choice) => choiceButton(translation, choice, choice.id === id));
    step.replaceChildren(
      element("h2", {}, `Step ${at + 1} of ${labels.length}`),
      element("p", { class: "look" }, ...looks),
      element("p", {}, ...advice(translation, labels[at])),
      element("ol", {}, ...choices),
      ...(state.prefix.length ? [textButton("Put back the translator’s own words", putBack)] : []),
    );
  };

  // Makes the opened step as high as the highest one, so that the text below the frame does not move.
  /** @param {Translation} translation */
  const holdHeight = (translation) => {
    const { chosen } = state;
    const heights = translation.target.map((_, word) => {
      state.chosen = word;
      showStep(translation);
      return step.offsetHeight;
    });
    step.style.minHeight = `${Math.max(...heights)}px`;
    state.chosen = chosen;
  };

  /** @param {Translation} translation */
  const showTranslation = (translation) => {
    if (!result.contains(words)) result.replaceChildren(words, spoken, place.holder, caption, step);
    state.chosen = Math.min(state.chosen, translation.target.length - 1);
    state.prefix = translation.prefix;
    showWords(translation);
    const labels = { source: sourceWords(translation), target: targetWords(translation) };
    place.draw(
      figureOf(labels, translation.weights),
      () => state.chosen,
      (word) => choose(translation, word),
    );
    const hasDots = [...labels.source, ...labels.target].some((word) => /^·./.test(word));
    caption.textContent = hasDots ? `${HELP} ${OF_DOTS}` : HELP;
    step.style.minHeight = "";
    if (playing) holdHeight(translation);
    showStep(translation);
    if (translation.beam > 1) spoken.value = translation.text; // a screen reader hears the final translation only
  };

  // Whatever goes wrong: the stored example takes the place of an answer to an earlier text.
  const fail = () => {
    typing.hidden = !result.dataset.beam; // where there has never been an answer
    shown = null;
    note([["The translator does not run in this browser."]]);
    result.replaceChildren(...storedExample);
  };

  // -- what the reader does

  /** @param {Translation} translation @param {number} word */
  const showChosen = (translation, word) => {
    state.chosen = word;
    inputOf(word).checked = true;
    place.look();
    showStep(translation);
  };

  /** @param {Translation} translation @param {number} word */
  const choose = (translation, word) => {
    showChosen(translation, word);
    saveAddress();
  };

  /** @type {Worker | null} */
  let worker = null;
  /** @param {number} beam */
  const ask = (beam) => worker?.postMessage({ number: ++number, text: state.text, prefix: state.prefix, beam });
  const askForTheBest = debounce(REST, () => ask(BEAM));
  const translate = () => {
    ask(1);
    askForTheBest();
    saveAddress();
  };

  /** @param {Translation} translation @param {number} at @param {number} id */
  const force = (translation, at, id) => {
    state.prefix = [...translation.target.slice(0, at).map((word) => word.id), id];
    translate();
    inputOf(at).focus();
  };

  const putBack = () => {
    state.prefix = [];
    translate();
    inputOf(state.chosen).focus();
  };

  /** @param {string} text */
  const write = (text) => {
    Object.assign(state, { text, chosen: 0, prefix: [] });
    translate();
  };

  const arrive = () => {
    readAddress();
    field.value = state.text;
    translate();
  };

  /** @param {MessageEvent<Answer>} message */
  const receive = ({ data }) => {
    if (data.number !== number) return;
    result.dataset.beam = `${data.beam}`;
    result.dataset.milliseconds = `${Math.round(data.milliseconds)}`;
    note(warnings(data, source, facts.longestInTraining));
    shown = data.problem ? null : data;
    if (shown) showTranslation(shown);
    else result.replaceChildren();
  };

  const start = () => {
    const program = new Blob([held("worker")], { type: "text/javascript" });
    try {
      worker = new Worker(URL.createObjectURL(program));
    } catch {
      return fail();
    }
    Object.assign(worker, { onmessage: receive, onerror: fail });
    worker.postMessage({ facts, weights: held("weights") });
    typing.hidden = false;
    field.addEventListener("input", () => write(field.value));
    document.querySelectorAll(".examples button").forEach((button, k) => {
      button.addEventListener("click", () => {
        field.value = facts.examples[k];
        write(field.value);
      });
    });
    addEventListener("hashchange", arrive);
    arrive();
  };

  // Goes through the translation word by word, until the reader does something.
  const playExample = () => {
    const timer = setInterval(() => {
      if (shown?.beam !== BEAM) return;
      if (state.chosen + 1 < shown.target.length) return showChosen(shown, state.chosen + 1);
      stop();
      showChosen(shown, 0);
    }, PLAY);
    const stop = () => {
      playing = false;
      clearInterval(timer);
    };
    for (const event of ["pointerdown", "keydown"]) addEventListener(event, stop, { once: true });
  };

  start();
  if (playing) playExample();
})();
