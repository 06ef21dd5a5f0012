"use strict";

// Entries of the reference are folded (see folded_reference.py): the one that the address names unfolds, so do all for
// print.
function unfoldNamed() {
  const name = new URLSearchParams(`name=${location.hash.slice(1)}`).get("name"); // takes an address that was cut off
  const named = document.getElementById(name);
  const entry = named?.closest("details.entry");
  if (entry && !entry.open) {
    entry.open = true;
    named.scrollIntoView();
  }
}

let unfoldedForPrint = [];

addEventListener("hashchange", unfoldNamed);
addEventListener("beforeprint", () => {
  unfoldedForPrint = [...document.querySelectorAll("details.entry:not([open])")];
  unfoldedForPrint.forEach((entry) => {
    entry.open = true;
  });
});
addEventListener("afterprint", () => {
  unfoldedForPrint.forEach((entry) => {
    entry.open = false;
  });
});
// A link to the entry that the address names already makes no hashchange.
addEventListener("click", (event) => {
  if (event.target.closest?.("a[href*='#']")) setTimeout(unfoldNamed);
});
unfoldNamed();
