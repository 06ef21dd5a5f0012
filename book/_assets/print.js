"use strict";

// Paper is light: the pale letters of a dark page could not be read on it.
(() => {
  /** @type {string | undefined} */
  let themeOnScreen = "light";
  const page = document.documentElement.dataset;

  addEventListener("beforeprint", () => {
    themeOnScreen = page.theme;
    page.theme = "light";
  });
  addEventListener("afterprint", () => {
    page.theme = themeOnScreen;
  });
})();
