"use strict";

// Makes a form of each question that book/_ext/quiz.py has written. The form answers with the explanation of what the
// reader gave, and the reader may try again. What the reader gave stays in the browser, if the browser stores anything.
(() => {
  const key = `quizzes ${location.pathname}`;
  let stored = {};
  try {
    stored = JSON.parse(localStorage.getItem(key)) ?? {};
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

  const element = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  // Names a control by texts of the page, since a formula in them may be set later.
  let texts = 0;
  const nameBy = (control, ...naming) => {
    for (const text of naming) text.id ||= `quiz-text-${++texts}`;
    control.setAttribute("aria-labelledby", naming.map((text) => text.id).join(" "));
  };

  // Puts an input before what is in the box, both in a label.
  const label = (box, input, ...naming) => {
    const text = element("span", {}, ...box.childNodes);
    box.append(element("label", {}, input, ...naming, text));
    nameBy(input, ...naming, text);
  };

  // The answer whose condition fits; the last one is for all else.
  const fitting = (answers, fits) => {
    const found = answers.findIndex(fits);
    return [found < 0 ? answers.length - 1 : found];
  };

  // Each kind reads what the reader gives (undefined: nothing yet), shows what was stored, and finds the answers to it.
  const kinds = {
    one: (parts) => choices("radio", "choose one", parts),
    all: (parts) => choices("checkbox", "choose all that are right", parts),

    number({ asked, answers }) {
      const input = element("input", { type: "text", autocomplete: "off" });
      input.inputMode = answers.some(({ number }) => number < 0) ? "text" : "decimal"; // some keypads have no minus
      asked.append(element("label", {}, "Your number: ", input));
      // A comma stands before decimals or between thousands: both readings count. A number may be a fraction, and a
      // unit may follow it.
      const readings = (text) =>
        [".", ""].map((comma) => {
          const parts = text
            .trim()
            .replace("−", "-")
            .replaceAll(",", comma)
            .match(/^([-+.\de]+)(?:\s*\/\s*([.\d]+))?(?:\s*[a-z]+)?$/i);
          return parts ? Number(parts[1]) / Number(parts[2] ?? 1) : NaN;
        });
      return {
        hint: "write a number, for example 0.5 or 1/2",
        read: () => (readings(input.value).every(Number.isNaN) ? undefined : input.value),
        show: (text = "") => {
          input.value = text;
        },
        find: (text) =>
          fitting(answers, (a) => readings(text).some((number) => Math.abs(number - a.number) <= a.within + 1e-9)),
      };
    },

    order({ asked: list, answers, say }) {
      const items = [...list.children];
      const read = () => [...list.children].map((item) => items.indexOf(item) + 1);
      const button = (arrow, name, text, move) => {
        const made = element("button", { type: "button", textContent: arrow, onclick: move });
        made.setAttribute("aria-label", name);
        nameBy(made, made, text);
        return made;
      };
      for (const item of items) {
        const text = element("span", {}, ...item.childNodes);
        // The neighbour moves, so that the button keeps the focus.
        const up = () => {
          if (item.previousElementSibling) item.after(item.previousElementSibling);
          moved();
        };
        const down = () => {
          if (item.nextElementSibling) item.before(item.nextElementSibling);
          moved();
        };
        const moved = () => {
          list.dispatchEvent(new Event("input", { bubbles: true }));
          say(`Place ${[...list.children].indexOf(item) + 1} of ${items.length}`);
        };
        item.append(element("div", {}, text, button("↑", "Move up:", text, up), button("↓", "Move down:", text, down)));
      }
      return {
        hint: "put them in order",
        read,
        show: (order = items.map((_, i) => i + 1)) =>
          list.append(
            ...[...items].sort((a, b) => order.indexOf(items.indexOf(a) + 1) - order.indexOf(items.indexOf(b) + 1)),
          ),
        find: (order) => fitting(answers, (a) => a.order?.join() === order.join()),
      };
    },

    point({ quiz, asked, answers }) {
      const table = asked.querySelector("table") ?? asked;
      const heads = table.tHead.rows[0].cells;
      if (!heads[0].textContent.trim()) heads[0].replaceWith(element("td")); // it names no column
      const cells = [...table.querySelectorAll("tbody td")];
      const columns = cells.length / table.tBodies[0].rows.length;
      // Numbers from 0 to 1 are shaded as weights are: the darker, the larger.
      const numbers = cells.map((cell) => Number(cell.textContent.trim() || NaN));
      const shaded = numbers.every((number) => number >= 0 && number <= 1);
      const inputs = cells.map((cell, i) => {
        const input = element("input", { type: "radio", name: quiz.id });
        label(cell, input);
        const row = cell.parentElement.querySelectorAll("th");
        nameBy(input, ...row, heads[cell.cellIndex], cell.querySelector("span"));
        if (shaded) cell.style.setProperty("--weight", numbers[i]);
        return input;
      });
      // Arrows to the sides are the browser's own; these lead to the next row.
      table.addEventListener("keydown", (event) => {
        const step = { ArrowUp: -columns, ArrowDown: columns }[event.key];
        if (!step) return;
        event.preventDefault();
        const next = inputs[inputs.indexOf(event.target) + step];
        next?.focus();
        next?.click();
      });
      return {
        hint: "point at a cell",
        read: () => {
          const i = inputs.findIndex((input) => input.checked);
          return i < 0 ? undefined : i;
        },
        show: (chosen) =>
          inputs.forEach((input, i) => {
            input.checked = i === chosen;
          }),
        find: (chosen) => {
          const row = Math.floor(chosen / columns) + 1;
          const column = (chosen % columns) + 1;
          return fitting(answers, (a) => (!a.row || a.row === row) && (!a.column || a.column === column));
        },
      };
    },
  };

  function choices(type, hint, { quiz, asked: list }) {
    list.classList.add("quiz-choices");
    const inputs = [...list.children].map((item, i) => {
      const input = element("input", { type, name: quiz.id });
      label(item, input, element("span", {}, `${i + 1}.`));
      return input;
    });
    return {
      hint,
      read: () => {
        const chosen = [...inputs.keys()].filter((i) => inputs[i].checked);
        return chosen.length ? chosen : undefined;
      },
      show: (chosen = []) =>
        inputs.forEach((input, i) => {
          input.checked = chosen.includes(i);
        }),
      find: (chosen) => chosen,
    };
  }

  // The parts of a quiz as the page has them: its title, its text, its choices and the explanations of its answers,
  // which are numbered and say first whether they are right.
  function partsOf(quiz, answers) {
    const [title, ...written] = quiz.children;
    const list = written.pop().lastElementChild;
    const asked = quiz.dataset.kind === "number" ? element("p") : written.pop();
    const explanations = [...list.children];
    explanations.forEach((explanation, i) => {
      explanation.value = i + 1;
      const mark = explanation.querySelector("strong");
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
  function makeForm(quiz) {
    const { id } = quiz;
    const answers = JSON.parse(quiz.dataset.answers);
    const { title, asked, explanations, question, note, feedback } = partsOf(quiz, answers);
    const say = (text) => {
      note.textContent = text;
    };
    const { hint, read, show, find } = kinds[quiz.dataset.kind]({ quiz, asked, answers, say });

    const answer = (value) => {
      const found = value === undefined ? [] : find(value);
      explanations.forEach((explanation, i) => {
        explanation.hidden = !found.includes(i);
      });
      const missing = quiz.dataset.kind === "all" && answers.some(({ right }, i) => right && !found.includes(i));
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
  function recall(value, { show, read, answer, forget }) {
    try {
      show(value);
    } catch {
      show();
    }
    if (JSON.stringify(read()) === JSON.stringify(value)) answer(value);
    else forget();
  }

  const forgetters = [...document.querySelectorAll(".quiz")].map(makeForm);
  const clear = element("button", { type: "button", textContent: "Clear my answers on this page" });
  clear.addEventListener("click", () => {
    stored = {};
    store();
    for (const forget of forgetters) forget();
  });
  const text = element("p", { className: "quiz-clear" }, "Your answers are stored in this browser only. ", clear);
  [...document.querySelectorAll(".quizzes")].at(-1)?.append(text);
})();
