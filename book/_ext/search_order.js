// The order of what the search finds: pages that have the whole search in their title, other pages, the reference.
/** @type {typeof Scorer.score} */
Scorer.score = ([page, title, , description, score]) => {
  if (page.startsWith("book/api") || description) return score - 1000;
  const search = new URLSearchParams(location.search).get("q")?.trim().toLowerCase() ?? "";
  return score + (title.toLowerCase().includes(search) ? 100 : 0);
};
