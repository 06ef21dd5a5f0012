"use strict";

// Paper is light: the pale letters of a dark page could not be read on it.
let themeOnScreen = "light";

addEventListener("beforeprint", () => {
  themeOnScreen = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = themeOnScreen;
});
