"use strict";

// Loaded before the search of Sphinx, only by the page of results: orders the hits, and shows a passage below each.

// Sphinx's own scores, except that what explains comes before the reference, and first what has the whole search in its
// title.
window.Scorer = {
  score: ([page, title, , description, score]) => {
    if (page.startsWith("book/api") || description) return score - 1000;
    const search = new URLSearchParams(location.search).get("q").trim().toLowerCase();
    return score + (page.startsWith("chapters/") ? 3 : 0) + (title.toLowerCase().includes(search) ? 100 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

const PASSAGE_LENGTH = 260;

// The words of the search as they may stand in a text: a word of the text may go on after them, and may end otherwise.
function wordsOfSearch() {
  const words =
    new URLSearchParams(location.search)
      .get("q")
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words
    .map((word) => (/^\p{Script=Han}+$/u.test(word) || word.length < 5 ? word : word.replace(/(ing|ed|es|s|e)$/, "")))
    .map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${word}[\\p{L}\\p{N}]*`, "giu"));
}

// The text of the section that the hit names, or else of the section with most of the words.
function textOfHit(address, words) {
  const root = new URL(document.documentElement.dataset.content_root, location.href);
  const page = decodeURIComponent(address.pathname)
    .slice(decodeURIComponent(root.pathname).length)
    .replace(/\.html$/, "");
  const sections = PASSAGES[page] ?? [];
  const named = sections.find(([anchor]) => anchor === decodeURIComponent(address.hash));
  const found = (text) => words.filter((word) => text.search(word) >= 0).length;
  const best = Math.max(0, ...sections.map(([, text]) => found(text)));
  if (named && (found(named[1]) || !best)) return named[1];
  return sections.find(([, text]) => found(text) === best)?.[1] ?? "";
}

function passage(text, words) {
  const first = Math.min(...words.map((word) => text.search(word)).filter((place) => place >= 0), text.length);
  const from = first === text.length ? 0 : Math.max(0, text.lastIndexOf(" ", Math.max(0, first - 80)) + 1);
  const cut = text.slice(from, from + PASSAGE_LENGTH).replace(/\s\S*$/, "");
  const marks = words.flatMap((word) => [...cut.matchAll(word)]).sort((a, b) => a.index - b.index);
  const shown = document.createElement("p");
  shown.className = "context";
  shown.append(from > 0 ? "… " : "");
  let end = 0;
  for (const mark of marks) {
    if (mark.index < end) continue;
    const word = document.createElement("mark");
    word.textContent = mark[0];
    shown.append(cut.slice(end, mark.index), word);
    end = mark.index + mark[0].length;
  }
  shown.append(cut.slice(end), from + cut.length < text.length ? " …" : "");
  return shown;
}

document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const watch = new MutationObserver(() => {
    for (const hit of results.querySelectorAll("li:not(.with-passage)")) {
      hit.classList.add("with-passage");
      const words = wordsOfSearch();
      const text = textOfHit(new URL(hit.querySelector("a").href), words);
      if (text) hit.append(passage(text, words));
    }
  });
  if (results) watch.observe(results, { childList: true, subtree: true });
});
