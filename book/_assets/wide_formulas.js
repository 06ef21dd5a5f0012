"use strict";

// A formula in a line of text that is wider than the line scrolls in a box of its own (see course.css). A box has
// no baseline to share with the text, so every other formula does without. A box that scrolls is a stop for the tab
// key, so that the arrow keys can scroll it.
(() => {
  function boxWideFormulas() {
    for (const formula of document.querySelectorAll("span.math")) {
      const line = formula.closest("p, li, dt, dd, td, th, h1, h2, h3, figcaption");
      const set = formula.querySelector("mjx-container");
      formula.classList.remove("wide");
      if (line && set) {
        formula.classList.toggle("wide", set.getBoundingClientRect().width > line.clientWidth);
      }
    }
    for (const formula of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".math"))) {
      if (formula.scrollWidth > formula.clientWidth && formula.matches("div, .wide")) {
        formula.tabIndex = 0;
      } else {
        formula.removeAttribute("tabindex");
      }
    }
  }

  window.addEventListener("load", () => {
    const set = window.MathJax?.startup?.promise;
    if (!set) return;
    set.then(boxWideFormulas);
    window.addEventListener("resize", boxWideFormulas);
  });
})();
