// The search finds whole names with punctuation, such as error ids, flags and operators, before Sphinx's results by words.
"use strict";

function nameIn(word) {
  return word.toLowerCase().replace(/^-+|=.*$/g, "").replace(/^(@\w+)?\/\//, "");
}

// Returns sections with the names of a query as results of Sphinx's search, the best one last.
function sectionsWithNames(query) {
  const found = new Map();
  for (const word of query.trim().split(/\s+/)) {
    if (!/^-|\w[-_:.\/]+\w/.test(word)) continue;
    const name = nameIn(word);
    for (const [place, score] of Object.hasOwn(NAMES.names, name) ? NAMES.names[name] : [])
      found.set(place, (found.get(place) ?? 0) + score);
  }
  return [...found].sort(([a, scoreOfA], [b, scoreOfB]) => scoreOfA - scoreOfB || b - a).map(([place, score]) => {
    const [page, anchor, title] = NAMES.places[place];
    return [page, title, anchor, null, 1000 + score, page + ".md", "title"];
  });
}

document.addEventListener("DOMContentLoaded", () => {
  const search = Search._performSearch;
  Search._performSearch = (query, ...terms) => {
    const exact = sectionsWithNames(query);
    const known = new Set(exact.map(([page, , anchor]) => page + anchor));
    return [...search(query, ...terms).filter(([page, , anchor]) => !known.has(page + anchor)), ...exact];
  };
});
