// What other scripts of a page of the book offer. Only `make lint-js` and editors read this file.

interface Window {
  MathJax?: { startup?: { promise?: Promise<unknown> } };
}

/** Sphinx asks this for the order of what the search finds: page, title, anchor, description, score, file. */
declare const Scorer: {
  score(result: [string, string, string, string | null, number, string]): number;
};
