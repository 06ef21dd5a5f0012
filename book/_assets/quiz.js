"use strict";

// Makes a form of each question that book/_ext/plain_markdown.py has written. The form answers with the explanation
// of what the reader gave, and the reader may try again. What the reader gave stays in the browser, if the browser
// stores anything.
(() => {
  /** @typedef {{ right: boolean, number?: number, within?: number }} Answer */
  /** @typedef {{ quiz: HTMLElement, asked: HTMLElement, answers: Answer[] }} Asked */
  /**
   * What a kind of question does; `given` is what is stored.
   * @typedef {{ hint: string, read: () => any, show: (given?: any) => void, find: (given: any) => number[] }} Kind
   */

  const key = `quizzes ${location.pathname}`;
  /** @type {Record<string, unknown>} */
  let stored = {};
  try {
    stored = JSON.parse(localStorage.getItem(key) ?? "{}") ?? {};
  } catch {
    /* nothing is stored here */
  }
  const store = () => {
    try {
      localStorage.setItem(key, JSON.stringify(stored));
    } catch {
      /* for this visit only */
    }
  };

  /**
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {object} [properties]
   * @param {(string | Node)[]} children
   */
  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  // Puts an input and its number before the text of a choice, in a label. The input is named by number and text, since
  // a formula in the text may be set later.
  let labels = 0;
  /** @param {Element} choice @param {HTMLInputElement} input @param {HTMLElement} number */
  const label = (choice, input, number) => {
    const text = element("span", { id: `quiz-text-${++labels}` }, ...choice.childNodes);
    number.id = `quiz-number-${labels}`;
    choice.append(element("label", {}, input, number, text));
    input.setAttribute("aria-labelledby", `${number.id} ${text.id}`);
  };

  // Each kind reads what the reader gives (undefined: nothing yet), shows what was stored, and finds the answers to it.
  /** @type {Record<string, (asked: Asked) => Kind>} */
  const kinds = {
    one: (asked) => choices("radio", "choose one", asked),
    all: (asked) => choices("checkbox", "choose all that are right", asked),

    number({ asked, answers }) {
      const input = element("input", { type: "text", autocomplete: "off" });
      input.inputMode = answers.some(({ number = 0 }) => number < 0) ? "text" : "decimal"; // some keypads have no minus
      asked.append(element("label", {}, "Your number: ", input));
      // A comma stands before decimals or between thousands: both readings count. A number may be a fraction or, as in
      // the checks of exercises, a share in percent, and a unit may follow it.
      /** @param {string} text */
      const readings = (text) =>
        [".", ""].map((comma) => {
          const parts = text
            .trim()
            .replace("−", "-")
            .replaceAll(",", comma)
            .match(/^([-+.\de]+)(?:\s*\/\s*([.\d]+))?\s*(%|[a-z]*)$/i);
          return parts ? Number(parts[1]) / Number(parts[2] ?? 1) / (parts[3] === "%" ? 100 : 1) : NaN;
        });
      return {
        hint: "write a number, for example 0.5 or 1/2",
        read: () => (readings(input.value).some(Number.isFinite) ? input.value : undefined),
        show: (text = "") => {
          input.value = text;
        },
        // The last answer is for all numbers that no other one names.
        /** @param {string} text */
        find: (text) => {
          /** @param {Answer} answer */
          const near = ({ number = NaN, within = 0 }) =>
            readings(text).some((given) => Math.abs(given - number) <= within + 1e-9);
          const found = answers.findIndex(near);
          return [found < 0 ? answers.length - 1 : found];
        },
      };
    },
  };

  /** @param {string} type @param {string} hint @param {Asked} asked @returns {Kind} */
  function choices(type, hint, { quiz, asked: list }) {
    list.classList.add("quiz-choices");
    const inputs = [...list.children].map((choice, i) => {
      const input = element("input", { type, name: quiz.id });
      label(choice, input, element("span", {}, `${i + 1}.`));
      return input;
    });
    return {
      hint,
      read: () => {
        const chosen = [...inputs.keys()].filter((i) => inputs[i].checked);
        return chosen.length ? chosen : undefined;
      },
      /** @param {number[]} [chosen] */
      show: (chosen = []) =>
        inputs.forEach((input, i) => {
          input.checked = chosen.includes(i);
        }),
      find: (chosen) => chosen,
    };
  }

  // The parts of a quiz as the page has them: its title, its text, its choices and the explanations of its answers,
  // which are numbered and say first whether they are right.
  /** @param {HTMLElement} quiz @param {Answer[]} answers */
  function partsOf(quiz, answers) {
    const [title, ...content] = /** @type {HTMLElement[]} */ ([...quiz.children]);
    const [asked, details] = quiz.dataset.kind === "number" ? [element("p"), ...content.slice(-1)] : content.slice(-2);
    const written = content.filter((part) => part !== asked && part !== details);
    const list = /** @type {HTMLElement} */ (details.lastElementChild);
    const explanations = /** @type {HTMLLIElement[]} */ ([...list.children]);
    explanations.forEach((explanation, i) => {
      explanation.value = i + 1;
      const mark = /** @type {HTMLElement} */ (explanation.querySelector("strong"));
      const given = mark.textContent.match(/: (.+)\.$/);
      if (given) mark.dataset.given = given[1]; // paper shows it
      mark.textContent = answers[i].right ? "Right." : "No.";
    });
    const question = element("div", { id: `${quiz.id}-question` }, ...written);
    const note = element("p", { className: "quiz-note" });
    return {
      title,
      asked,
      explanations,
      question,
      note,
      feedback: element("div", { className: "quiz-feedback" }, list, note),
    };
  }

  // Returns what forgets the reader's answer.
  /** @param {HTMLElement} quiz */
  function makeForm(quiz) {
    const { id } = quiz;
    const { kind = "", answers: written = "" } = quiz.dataset;
    /** @type {Answer[]} */
    const answers = JSON.parse(written);
    const { title, asked, explanations, question, note, feedback } = partsOf(quiz, answers);
    /** @param {string} text */
    const say = (text) => {
      note.textContent = text;
    };
    const { hint, read, show, find } = kinds[kind]({ quiz, asked, answers });

    /** @param {unknown} [value] */
    const answer = (value) => {
      const found = value === undefined ? [] : find(value);
      explanations.forEach((explanation, i) => {
        explanation.hidden = !found.includes(i);
      });
      const missing = kind === "all" && answers.some(({ right }, i) => right && !found.includes(i));
      say(found.length && missing ? "More of the choices are right." : "");
      if (!found.length) delete quiz.dataset.state;
      else quiz.dataset.state = !missing && found.every((i) => answers[i].right) ? "right" : "wrong";
    };
    const forget = () => {
      show();
      answer();
    };

    const legend = element("legend", {}, title.textContent, element("span", {}, `: ${hint}`));
    const fieldset = element("fieldset", {}, legend, question, asked);
    fieldset.setAttribute("aria-describedby", question.id);
    const check = element("button", { textContent: "Check" });
    const form = element("form", { autocomplete: "off" }, fieldset, check, feedback);
    form.addEventListener("input", () => answer());
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = read();
      answer(value);
      if (value === undefined) return say(`First ${hint}.`);
      stored[id] = value;
      store();
    });
    quiz.replaceChildren(form);
    forget();
    if (id in stored) recall(stored[id], { show, read, answer, forget });
    feedback.setAttribute("role", "status"); // from now on it is read out when it changes
    return forget;
  }

  // Shows a stored answer again, unless the question has changed since.
  /**
   * @param {unknown} value
   * @param {Pick<Kind, "show" | "read"> & { answer: (value: unknown) => void, forget: () => void }} form
   */
  function recall(value, { show, read, answer, forget }) {
    try {
      show(value);
    } catch {
      show();
    }
    if (JSON.stringify(read()) === JSON.stringify(value)) answer(value);
    else forget();
  }

  const forgetters = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".quiz")]).map(makeForm);
  const clear = element("button", { type: "button", textContent: "Clear my answers on this page" });
  clear.addEventListener("click", () => {
    stored = {};
    store();
    for (const forget of forgetters) forget();
  });
  const text = element("p", { className: "quiz-clear" }, "Your answers are stored in this browser only. ", clear);
  [...document.querySelectorAll(".quizzes")].at(-1)?.append(text);
})();
