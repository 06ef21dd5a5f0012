// Two sentences and bands between them, from the chosen target word to the source words that it looks at.
kinds.alignment = (() => {
  const { longest, spelled, textWidth, widest } = texts;
  const { choice, cross, group, label, line, path, picks, rect, round } = marks;
  const { argmax, last, rowOf } = mathematics;
  const { writtenFirst } = numbers;

  /** @typedef {Figure<{ gold: [number, number][], compare: [string, any] | null }>} Alignment */
  /** @typedef {ReturnType<typeof spreadWords>[number]} Spot */
  /** @typedef {ReturnType<typeof signsOf>} Signs */
  /** @typedef {(from: number, to: number, source: number) => string} Course */

  // Whether the chosen word looks right at each value of an axis; null for a word without gold links.
  /** @param {Alignment} figure @param {string} axis */
  const verdicts = (figure, axis) => {
    const { place } = figure;
    const { gold } = figure.options;
    if (!gold.length) return [];
    if (!gold.some(([i]) => i === place.word)) return null;
    return figure.controls[axis].values.map((_, at) => !astrayAt(figure, place.word, { ...place, [axis]: at }));
  };

  /** @param {Alignment} figure @param {number} width */
  const draw = (figure, width) => {
    const { source, target } = figure.labels;
    const gap = 12;
    /** @param {string[]} words */
    const fits = (words) => words.reduce((sum, word) => sum + textWidth(word, 15) + gap, 0) <= width;
    const { height, marks } = fits(source) && fits(target) ? drawLines(figure, width) : drawColumns(figure, width);
    const legend = legendLines(figure, width);
    return {
      width,
      height: height + (legend.length ? 4 + 18 * legend.length : 0),
      marks: [marks, legend.map((text, k) => label(text, 0, height + 14 + 18 * k, { class: "quiet" }))],
    };
  };

  // On a desk the sentences are two lines, one above the other.
  /** @param {Alignment} figure @param {number} width */
  const drawLines = (figure, width) => {
    const { source, target, gloss = [] } = figure.labels;
    const [tall, full] = [56, 44];
    const words = tall + 26;
    const from = words + 10;
    const to = from + 128;
    const bend = (from + to) / 2;
    const below = to + (gloss.length ? 62 : 44);
    const signs = signsOf(figure);
    const height = below + (signs.astray.length || signs.instead.length ? 12 : -8);
    const places = spreadWords(source, width);
    const asking = spreadWords(target, width);
    /** @param {number} a @param {number} b */
    const course = (a, b) => `M${a},${from}C${a},${bend} ${b},${bend} ${b},${to}`;
    const { bands, courses } = bandsOf(figure, 14, middlesOf(places), middlesOf(asking), course);
    const { middle, width: wide } = asking[figure.place.word];
    return {
      width,
      height,
      marks: [
        bands,
        goldLinks(figure, courses),
        drawSourceLine(figure, places, { tall, full, words }),
        line(0, tall + 6, width, tall + 6, { class: "grid" }),
        rect(middle - wide / 2 - 6, to + 6, wide + 12, 26, { class: figure.frame("word"), rx: 4 }),
        drawTargetLine(figure, asking, { top: bend + 20, to, below, height, signs }),
      ],
    };
  };

  // The words of the source, each below a bar as high as its weight.
  /** @param {Alignment} figure @param {Spot[]} places @param {{ tall: number, full: number, words: number }} room */
  const drawSourceLine = (figure, places, { tall, full, words }) => {
    const weights = figure.chosen("weights", "word");
    return figure.labels.source.map((word, j) => {
      const { middle, room } = places[j];
      const high = full * weights[j];
      return [
        rect(middle - 13, tall - high + 6, 26, high, { class: "weight" }),
        weights[j] >= 0.075 && label(weights[j].toFixed(2), middle, tall - high + 1, { class: "middle number" }),
        label(word, middle, words, { class: `middle word ${choice(word)}` }),
        rect(middle - room / 2, tall - full, room, words - tall + full + 10, picks(lookingHere(figure, j))),
      ];
    });
  };

  /**
   * @param {Alignment} figure
   * @param {Spot[]} places
   * @param {{ top: number, to: number, below: number, height: number, signs: Signs }} room
   */
  const drawTargetLine = (figure, places, { top, to, below, height, signs: { astray, instead } }) => {
    const { target, gloss = [] } = figure.labels;
    return target.map((word, i) => {
      const { middle, room } = places[i];
      const other = instead[i];
      return [
        label(word, middle, to + 24, { class: `middle word ${choice(word)}` }),
        astray[i] && cross(middle, below, i === figure.place.word ? "" : "faded"),
        other && [
          cross(middle - textWidth(other.text) / 2 - 10, below, other.sign),
          label(other.text, middle, below + 4, { class: `middle ${other.style}` }),
        ],
        gloss[i] && label(gloss[i], middle, to + 44, { class: "middle quiet" }),
        rect(middle - room / 2, top, room, height - top, picks({ word: i })),
      ];
    });
  };

  // On a phone they are two columns, so that long sentences do not make the picture wider.
  /** @param {Alignment} figure @param {number} width */
  const drawColumns = (figure, width) => {
    const { source, target } = figure.labels;
    const [row, cell, base] = [24.5, 40, 74];
    const height = row * Math.max(source.length, target.length);
    const signs = signsOf(figure);
    const { astray, instead } = signs;
    const aside = instead.length ? 22 + widest(instead.map((other) => other?.text ?? "")) : astray.length ? 16 : 0;
    /** @param {string} word */
    const endOf = (word) => base + 10 + textWidth(word, 13.5);
    const left = endOf(longest(source));
    const right = Math.min(width - 14 - aside - widest(target.map((_, i) => withGloss(figure, i))), left + 150);
    const bend = round((left + right) / 2);
    const [places, asking] = [source, target].map((words) =>
      words.map((_, at) => ((at + 0.5) * height) / words.length),
    );
    // From a word straight to the end of the longest one, so that no other word lies in the way.
    /** @param {number} a @param {number} b @param {number} j */
    const course = (a, b, j) =>
      `M${round(endOf(source[j]))},${a}H${round(left)}C${bend},${a} ${bend},${b} ${round(right)},${b}`;
    const { bands, courses } = bandsOf(figure, 10, places, asking, course);
    /** @type {[number, number, number, number]} */
    const frame = [right + 2, asking[figure.place.word] - 12, width - right - 4, 24];
    return {
      width,
      height,
      marks: [
        bands,
        goldLinks(figure, courses),
        line(base, 0, base, height, { class: "grid" }),
        drawSourceColumn(figure, places, { base, cell, row, left }),
        rect(...frame, { class: figure.frame("word"), rx: 4 }),
        drawTargetColumn(figure, asking, { right, row, width, signs }),
      ],
    };
  };

  // The words of the source, each beside a bar as long as its weight.
  /**
   * @param {Alignment} figure
   * @param {number[]} places
   * @param {{ base: number, cell: number, row: number, left: number }} room
   */
  const drawSourceColumn = (figure, places, { base, cell, row, left }) => {
    const weights = figure.chosen("weights", "word");
    return figure.labels.source.map((word, j) => {
      const y = places[j];
      const long = cell * weights[j];
      return [
        weights[j] >= 0.075 && label(weights[j].toFixed(2), base - long - 4, y + 4, { class: "end" }),
        rect(base - long, y - 10, long, 20, { class: "weight" }),
        label(word, base + 6, y + 4, { class: choice(word) }),
        rect(0, y - row / 2, left, row, picks(lookingHere(figure, j))),
      ];
    });
  };

  /**
   * @param {Alignment} figure
   * @param {number[]} places
   * @param {{ right: number, row: number, width: number, signs: Signs }} room
   */
  const drawTargetColumn = (figure, places, { right, row, width, signs: { astray, instead } }) => {
    const { target, gloss = [] } = figure.labels;
    return target.map((word, i) => {
      const y = places[i];
      const end = right + textWidth(word);
      const other = instead[i];
      return [
        label(word, right + 8, y + 4, { class: choice(word) }),
        astray[i] && cross(right + 18 + textWidth(withGloss(figure, i)), y, i === figure.place.word ? "" : "faded"),
        other && [cross(end + 19, y, other.sign), label(other.text, end + 28, y + 4, { class: other.style })],
        gloss[i] && label(gloss[i], end + 14, y + 4, { class: "quiet" }),
        rect(right - 30, y - row / 2, width - right + 30, row, picks({ word: i })),
      ];
    });
  };

  /** @param {Spot[]} spots */
  const middlesOf = (spots) => spots.map(({ middle }) => middle);

  // Words along a line with equal room between them: their middles, their widths and the room of each.
  /** @param {string[]} words @param {number} width */
  const spreadWords = (words, width) => {
    const widths = words.map((word) => textWidth(word, 15));
    const free = (width - widths.reduce((a, b) => a + b, 0)) / words.length;
    let x = 0;
    return widths.map((wide) => {
      x += wide + free;
      return { middle: x - (wide + free) / 2, width: wide, room: wide + free };
    });
  };

  // What the signs mean, in as many lines as it takes.
  /** @param {Alignment} figure @param {number} width */
  const legendLines = (figure, width) => {
    const { compare, gold } = figure.options;
    const parts = [
      gold.length > 0 && "dashed: gold link",
      looksAstray(figure).length > 0 && "✕ not at a gold link",
      figure.labels.written && "✕ writes another word (grey: from the start)",
      compare && `pale blue band: ${compare.join(" ")}`,
    ];
    /** @type {string[]} */
    const lines = [];
    for (const part of parts) {
      if (!part) continue;
      const longer = `${last(lines)} · ${part}`;
      if (lines.length && textWidth(longer) < width) lines[lines.length - 1] = longer;
      else lines.push(part);
    }
    return lines;
  };

  /** @param {Alignment} figure @param {number} i */
  const withGloss = (figure, i) => [figure.labels.target[i], figure.labels.gloss?.[i]].filter(Boolean).join(" ");

  // The choice of the target word that looks most at a source word.
  /** @param {Alignment} figure @param {number} j */
  const lookingHere = (figure, j) => {
    const column = figure.labels.target.map((_, i) => figure.rowAt("weights", i)[j]);
    return { word: argmax(column) };
  };

  // What the signs at the target words say.
  /** @param {Alignment} figure */
  const signsOf = (figure) => ({ astray: looksAstray(figure), instead: writtenInstead(figure) });

  // Of each target word the word that is written in its place, or null where it is written itself, and the styles of its
  // cross and of its name: pale where another word is written from the start.
  /** @param {Alignment} figure */
  const writtenInstead = (figure) => {
    const { target, written } = figure.labels;
    if (!written) return [];
    const now = figure.array("written");
    const first = writtenFirst(figure);
    return target.map((word, i) => {
      if (written[now[i]] === word) return null;
      const fromStart = first.length > 0 && written[first[i]] !== word;
      return { text: spelled(written[now[i]]), sign: fromStart ? "faded" : "", style: fromStart ? "quiet" : "name" };
    });
  };

  // Whether a target word's largest weight lies on a word that no gold link joins to it, though others are joined.
  /** @param {Alignment} figure @param {number} i @param {Positions} place */
  const astrayAt = (figure, i, place) => {
    const columns = figure.labels.source.length;
    const row = rowOf(figure.arrayAt("weights", place), i, columns);
    const links = figure.options.gold.filter(([word]) => word === i);
    return links.length > 0 && !links.some(([, j]) => j === argmax(row));
  };

  // Of each word whether it has a cross; those that are not chosen have one where the reader wants all gold links.
  /** @param {Alignment} figure */
  const looksAstray = (figure) => {
    if (figure.labels.written || !figure.options.gold.length) return [];
    /** @param {number} i */
    const hasCross = (i) => i === figure.place.word || figure.value("gold_links") === "shown";
    return figure.labels.target.map((_, i) => hasCross(i) && astrayAt(figure, i, figure.place));
  };

  // The bands from each target word to the source words, those of the chosen word last, and their courses. They stand
  // side by side at both ends, so that their breadths add up there; `full` is the breadth of a weight of 1. Hairlines are
  // left out, and of the words that are not chosen all small weights but the largest.
  /** @param {Alignment} figure @param {number} full @param {number[]} from @param {number[]} to @param {Course} course */
  const bandsOf = (figure, full, from, to, course) => {
    const chosen = figure.place.word;
    const all = [...figure.array("weights")];
    const rows = to.map((_, i) => rowOf(all, i, from.length));
    /** @param {number[]} numbers */
    const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
    const starts = from.map((middle, j) => middle - (full / 2) * sum(rows.map((row) => row[j])));
    /** @type {string[][]} */
    const courses = rows.map(() => []);
    const bands = rows.map((row, i) => {
      let end = to[i] - (full / 2) * sum(row);
      const least = i === chosen ? 0.05 : Math.min(0.15, Math.max(...row));
      const style = i === chosen ? "weight band link" : "band trace";
      return row.map((weight, j) => {
        const breadth = full * weight;
        const d = course(round(starts[j] + breadth / 2), round(end + breadth / 2), j);
        courses[i][j] = d;
        starts[j] += breadth;
        end += breadth;
        return weight >= least && path(d, { ...picks({ word: i }), class: style, "stroke-width": round(breadth) });
      });
    });
    const others = bands.filter((_, i) => i !== chosen);
    return {
      courses,
      bands: [
        group({ class: "traces" }, others),
        group({}, bandsBefore(figure, full, from, to, course)),
        group({}, bands[chosen]),
      ],
    };
  };

  // The bands of the chosen word at the setting that the figure is compared with.
  /** @param {Alignment} figure @param {number} full @param {number[]} from @param {number[]} to @param {Course} course */
  const bandsBefore = (figure, full, from, to, course) => {
    const [name, value] = figure.options.compare ?? [];
    const chosen = figure.place.word;
    if (!name || figure.value(name) === value) return [];
    const all = figure.arrayAt("weights", { ...figure.place, [name]: figure.controls[name].values.indexOf(value) });
    return [...rowOf(all, chosen, from.length)].map((weight, j) => {
      const style = { class: "weight band before", "stroke-width": round(full * weight) };
      return weight >= 0.02 && path(course(round(from[j]), round(to[chosen]), j), style);
    });
  };

  // The gold links of the chosen word, or all where the reader wants them, each along its band and pale on a broad one.
  /** @param {Alignment} figure @param {string[][]} courses */
  const goldLinks = (figure, courses) =>
    figure.options.gold.map(([i, j]) => {
      const chosen = i === figure.place.word;
      const onBand = chosen && figure.rowAt("weights", i)[j] >= 0.15;
      return (
        (chosen || figure.value("gold_links") === "shown") &&
        path(courses[i][j], { class: onBand ? "gold inverse" : "gold" })
      );
    });

  return { draw, verdicts };
})();
