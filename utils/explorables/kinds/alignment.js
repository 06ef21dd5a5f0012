// Two sentences and bands between them, from the chosen target word to the source words that it looks at.
kinds.alignment = {
  // Whether the chosen word looks right at each value of an axis; null for a word without gold links.
  verdicts(figure, axis) {
    const {
      options: { gold },
      controls,
      place,
    } = figure;
    if (!gold.length) return [];
    return gold.some(([i]) => i === place.word)
      ? controls[axis].values.map((_, at) => !astrayAt(figure, place.word, { ...place, [axis]: at }))
      : null;
  },
  draw(figure, width) {
    const { source, target } = figure.labels;
    const { compare } = figure.options;
    const gap = 12;
    const fits = (words) => words.reduce((sum, word) => sum + textWidth(word, 15) + gap, 0) <= width;
    const { height, marks } = fits(source) && fits(target) ? this.lines(figure, width) : this.columns(figure, width);
    // What the signs mean stands below the words that have them, in as many lines as it takes.
    const legend = [
      figure.options.gold.length && "dashed: gold link",
      looksAstray(figure).length && "✕ not at a gold link",
      figure.labels.written && "✕ writes another word (pale: from the start)",
      compare && `pale band: ${compare.join(" ")}`,
    ].filter(Boolean);
    const lines = legend
      .reduce(
        ([now = "", ...before], part) =>
          now && textWidth(`${now} · ${part}`) < width
            ? [`${now} · ${part}`, ...before]
            : [part, ...(now ? [now] : []), ...before],
        [],
      )
      .reverse();
    return {
      width,
      height: height + (lines.length ? 4 + 18 * lines.length : 0),
      marks: [marks, lines.map((text, k) => label(text, 0, height + 14 + 18 * k, { class: "quiet" }))],
    };
  },

  // On a desk the sentences are two lines, one above the other.
  lines(figure, width) {
    const { source, target, gloss = [] } = figure.labels;
    const tall = 56;
    const full = 44;
    const words = tall + 26;
    const from = words + 10;
    const to = from + 128;
    const astray = looksAstray(figure);
    const instead = writtenInstead(figure);
    const below = to + (gloss.length ? 62 : 44);
    const height = below + (astray.length || instead.length ? 12 : -8);
    const spread = (texts) => {
      const widths = texts.map((text) => textWidth(text, 15));
      const free = (width - widths.reduce((a, b) => a + b, 0)) / texts.length;
      let x = 0;
      return widths.map((w) => {
        x += w + free;
        return { middle: x - (w + free) / 2, width: w, room: w + free };
      });
    };
    const places = spread(source);
    const asking = spread(target);
    const chosen = figure.place.word;
    const weights = figure.chosen("weights", "word");
    const stored = figure.rowAt("weights", chosen);
    const bend = (from + to) / 2;
    const { bands, courses } = bandsOf(
      figure,
      14,
      places.map((place) => place.middle),
      asking.map((place) => place.middle),
      (a, b) => `M${a},${from}C${a},${bend} ${b},${bend} ${b},${to}`,
    );
    const { middle, width: wide } = asking[chosen];
    return {
      width,
      height,
      marks: [
        bands,
        goldLinks(figure, courses),
        source.map((word, j) => [
          rect(places[j].middle - 13, tall - full * weights[j] + 6, 26, full * weights[j], { class: "weight" }),
          stored[j] >= 0.075 &&
            label(stored[j].toFixed(2), places[j].middle, tall - full * weights[j] + 1, { class: "middle number" }),
          label(word, places[j].middle, words, { class: `middle word ${choice(word)}` }),
          rect(
            places[j].middle - places[j].room / 2,
            tall - full,
            places[j].room,
            words - tall + full + 10,
            picks({ word: looking(figure, "target", j) }),
          ),
        ]),
        line(0, tall + 6, width, tall + 6, { class: "grid" }),
        rect(middle - wide / 2 - 6, to + 6, wide + 12, 26, { class: figure.frame("word"), rx: 4 }),
        target.map((word, i) => [
          label(word, asking[i].middle, to + 24, { class: `middle word ${choice(word)}` }),
          astray[i] && cross(asking[i].middle, below, i === chosen ? "" : "faded"),
          instead[i] && [
            cross(asking[i].middle - textWidth(instead[i].text) / 2 - 10, below, instead[i].sign),
            label(instead[i].text, asking[i].middle, below + 4, { class: `middle ${instead[i].style}` }),
          ],
          gloss[i] && label(gloss[i], asking[i].middle, to + 44, { class: "middle quiet" }),
          rect(
            asking[i].middle - asking[i].room / 2,
            bend + 20,
            asking[i].room,
            height - bend - 20,
            picks({ word: i }),
          ),
        ]),
      ],
    };
  },

  // On a phone they are two columns, so that long sentences do not make the picture wider.
  columns(figure, width) {
    const { source, target, gloss = [] } = figure.labels;
    const row = 24.5;
    const cell = 40;
    const rows = Math.max(source.length, target.length);
    const base = 34 + cell;
    const startOf = (word) => base + 10 + textWidth(word, 13.5);
    const left = startOf(longest(source));
    const astray = looksAstray(figure);
    const instead = writtenInstead(figure);
    const aside = instead.length ? 22 + widest(instead.map(({ text = "" }) => text)) : astray.length ? 16 : 0;
    const right = Math.min(
      width - 14 - aside - widest(target.map((word, i) => (gloss[i] ? `${word} ${gloss[i]}` : word))),
      left + 150,
    );
    const chosen = figure.place.word;
    const place = (at, count) => ((at + 0.5) * row * rows) / count;
    const weights = figure.chosen("weights", "word");
    const stored = figure.rowAt("weights", chosen);
    const bend = round((left + right) / 2);
    const { bands, courses } = bandsOf(
      figure,
      10,
      source.map((_, j) => place(j, source.length)),
      target.map((_, i) => place(i, target.length)),
      (a, b, j) =>
        // From a word straight to the end of the longest one, so that no other word lies in the way.
        `M${round(startOf(source[j]))},${a}H${round(left)}C${bend},${a} ${bend},${b} ${round(right)},${b}`,
    );
    return {
      width,
      height: row * rows,
      marks: [
        bands,
        goldLinks(figure, courses),
        line(base, 0, base, row * rows, { class: "grid" }),
        source.map((word, j) => {
          const y = place(j, source.length);
          return [
            stored[j] >= 0.075 && label(stored[j].toFixed(2), base - cell * weights[j] - 4, y + 4, { class: "end" }),
            rect(base - cell * weights[j], y - 10, cell * weights[j], 20, { class: "weight" }),
            label(word, base + 6, y + 4, { class: choice(word) }),
            rect(0, y - row / 2, left, row, picks({ word: looking(figure, "target", j) })),
          ];
        }),
        rect(right + 2, place(chosen, target.length) - 12, width - right - 4, 24, {
          class: figure.frame("word"),
          rx: 4,
        }),
        target.map((word, i) => {
          const y = place(i, target.length);
          return [
            label(word, right + 8, y + 4, { class: choice(word) }),
            astray[i] &&
              cross(right + 18 + textWidth(gloss[i] ? `${word} ${gloss[i]}` : word), y, i === chosen ? "" : "faded"),
            instead[i] && [
              cross(right + 19 + textWidth(word), y, instead[i].sign),
              label(instead[i].text, right + 28 + textWidth(word), y + 4, { class: instead[i].style }),
            ],
            gloss[i] && label(gloss[i], right + 14 + textWidth(word), y + 4, { class: "quiet" }),
            rect(right - 30, y - row / 2, width - right + 30, row, picks({ word: i })),
          ];
        }),
      ],
    };
  },
};

// Of each target word the word that is written in its place, or "" where it is written itself, and the styles of its cross
// and of its name: pale where another word is written from the start.
const writtenInstead = (figure) => {
  const { target, written } = figure.labels;
  if (!written) return [];
  const now = figure.array("written");
  const first = writtenFirst(figure);
  return target.map((word, i) =>
    written[now[i]] === word
      ? ""
      : {
          text: spelled(written[now[i]]),
          ...(first.length && written[first[i]] !== word
            ? { sign: "faded", style: "quiet" }
            : { sign: "", style: "name" }),
        },
  );
};

// Whether a target word's largest weight lies on a word that no gold link joins to it, though others are joined.
const astrayAt = (figure, i, place) => {
  const columns = figure.labels.source.length;
  const row = rowOf(figure.arrayAt("weights", place), i, columns);
  const links = figure.options.gold.filter(([word]) => word === i);
  return links.length > 0 && !links.some(([, j]) => j === row.indexOf(Math.max(...row)));
};
// Of each word whether it has a cross; those that are not chosen have one where the reader wants all gold links.
const looksAstray = (figure) =>
  figure.labels.written || !figure.options.gold.length
    ? []
    : figure.labels.target.map(
        (_, i) =>
          (i === figure.place.word || figure.value("gold_links") === "shown") && astrayAt(figure, i, figure.place),
      );

// The bands from each target word to the source words, those of the chosen word last, and their courses. They stand side by
// side at both ends, so that their breadths add up there; `full` is the breadth of a weight of 1. Hairlines are left out,
// and of the words that are not chosen all small weights but the largest.
const bandsOf = (figure, full, from, to, course) => {
  const chosen = figure.place.word;
  const rows = to.map((_, i) => [...figure.row("weights", i)]);
  const starts = from.map((middle, j) => middle - (full / 2) * rows.reduce((sum, row) => sum + row[j], 0));
  const courses = rows.map(() => []);
  const bands = rows.map((row, i) => {
    let end = to[i] - (full / 2) * row.reduce((sum, weight) => sum + weight, 0);
    const least = i === chosen ? 0.03 : Math.min(0.15, Math.max(...row));
    return row.map((weight, j) => {
      const breadth = full * weight;
      const d = (courses[i][j] = course(round(starts[j] + breadth / 2), round(end + breadth / 2), j));
      [starts[j], end] = [starts[j] + breadth, end + breadth];
      return (
        weight >= least &&
        path(d, {
          ...picks({ word: i }),
          class: i === chosen ? "weight band link" : "band trace",
          "stroke-width": round(breadth),
        })
      );
    });
  });
  const all = figure.compared("weights");
  const before = all ? rowOf(all, chosen, from.length) : [];
  const pale = [...before].map(
    (weight, j) =>
      weight >= 0.02 &&
      path(course(round(from[j]), round(to[chosen]), j), {
        class: "weight band before",
        "stroke-width": round(full * weight),
      }),
  );
  return {
    courses,
    bands: [
      group(
        { class: "traces" },
        bands.filter((_, i) => i !== chosen),
      ),
      group({}, pale),
      group({}, bands[chosen]),
    ],
  };
};

// The gold links of the chosen word, or all where the reader wants them, each along its band and pale on a broad one.
const goldLinks = (figure, courses) =>
  figure.options.gold.map(([i, j]) => {
    const chosen = i === figure.place.word;
    return (
      (chosen || figure.value("gold_links") === "shown") &&
      path(courses[i][j], { class: chosen && figure.rowAt("weights", i)[j] >= 0.15 ? "gold inverse" : "gold" })
    );
  });
