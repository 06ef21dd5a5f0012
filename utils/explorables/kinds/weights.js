// Heat maps of queries by keys. With a gallery also, to choose from, the chosen row for each value of an axis, or a small map
// for each value of two axes: beside the large one or, on a phone, above it.
kinds.weights = {
  draw(figure, width) {
    const wide = width >= 560;
    if (!figure.options.gallery.length) return this.maps(figure, width, wide);
    const beside = !wide ? width : figure.options.gallery.length > 1 ? 240 : 300;
    const large = this.maps(figure, wide ? width - beside - 28 : width, wide);
    const small =
      figure.options.gallery.length > 1
        ? this.gallery(figure, beside, wide, large.height - 20)
        : this.strips(figure, beside, wide, large.edges);
    const down = wide ? 0 : small.height + 8;
    return {
      width,
      height: wide ? Math.max(small.height, large.height) : down + large.height,
      marks: [
        group({ transform: `translate(0 ${down})` }, large.marks),
        group({ transform: `translate(${wide ? width - beside : 0} 0)` }, small.marks),
      ],
    };
  },

  maps(figure, width, wide) {
    const { panels } = figure.options;
    const layout = this.layout(figure, width, wide);
    const { side, high, labelled, legend, outside, left } = layout;
    const marks = panels.map((_, k) =>
      group({ transform: `translate(0 ${side ? 0 : k * high})` }, this.map(figure, layout, k)),
    );
    const height = (side ? 1 : panels.length) * high + labelled;
    if (!outside) return { width, height, edges: layout.edges, marks };
    return {
      width,
      height: height + 14,
      edges: layout.edges,
      marks: [marks, label(legend, left, height + 8, { class: "quiet" })],
    };
  },

  // Where the parts of the maps stand, and what their queries may look at.
  layout(figure, width, wide) {
    const { panels, edge, causal, window: reach, gallery } = figure.options;
    const { queries, keys, written } = figure.labels;
    const count = panels.length;
    const side = wide && count === 2;
    const gap = side ? 28 : 0;
    const beside = gallery.length > 0;
    const since = written && wide && figure.play.length ? 50 : 0; // room for where a word was lost
    const aside = written
      ? since +
        (wide ? 26 : 21) +
        widest(["it writes", ...[...new Set(figure.allOf("written"))].map((i) => spelled(written[i]))])
      : 8;
    // On a phone written words leave little room for the cells.
    const named = widest(queries.map(spelled));
    const left = written && !wide ? named + 8 : Math.max(1.08 * named + 12, written ? 74 : 44);
    const across = side ? (width - left - aside - gap) / 2 : width - left - aside;
    const step = across / keys.length;
    // A map of few rows has higher ones.
    const low = !wide ? 24 : beside || side ? 32 : count < 3 ? 26 : 24;
    const few = Math.min(40, 110 / queries.length / (count > 2 ? 2 : 1));
    const row = !wide && count > 1 ? 24 : Math.max(low, few);
    const heading = 19;
    const base = heading + queries.length * row;
    const labelled = labelsHeight(keys, step) + 6;
    const high = base + 6;
    // Of each query the first key that it may look at, and the first one behind the last.
    const lookingBack = causal && figure.value(causal[0]) === causal[1];
    const limit = edge ? figure.value(edge) : Infinity;
    const allowed = queries.map((_, i) => {
      const around = reach ? figure.value(reach) : Infinity;
      const place = Math.min(i, keys.length - 1);
      return [Math.max(0, place - around), Math.min(lookingBack ? i + 1 : limit, place + around + 1)];
    });
    // On the way to another mask its edges move.
    const ends = figure.blend(
      "allowed",
      allowed.flat().map((at) => Math.min(at, keys.length)),
    );
    const edges = allowed.map((_, i) => [ends[2 * i], ends[2 * i + 1]]);
    const gold = figure.has("gold");
    const hatched = allowed.some(([from, to]) => from > 0 || to < keys.length);
    const dashed = gold && `dashed: ${figure.labels.gold?.[0] ?? "right cell"}`;
    const forbidden = (edge || causal || reach) && `hatched: ${reach ? "outside" : "forbidden"}`;
    const legends = [
      dashed,
      hatched && forbidden,
      written && "pale ✕: wrong at first",
      causal && !lookingBack && "line: the causal mask",
    ];
    const legend = legends.filter(Boolean).join(", ");
    // With several maps each part of the legend stands beside a title, or where there is no room, all of it below the maps.
    // So does the legend of a single map if its longest form leaves no room for the name of the rows.
    const outside =
      written ||
      (count === 1
        ? textWidth([dashed, forbidden].filter(Boolean).join(", ")) > across - 104
        : panels
            .slice(0, gold ? 2 : 1)
            .some(
              ([, title], k) =>
                1.08 * textWidth(title) + 48 + textWidth("hatched: forbidden") > across - (k === count - 1 ? 104 : 0),
            )); // the scale
    // Where each map has a curve above, a piece of this curve stands before its title.
    const curves = figure.gauges[1].length;
    const sample = curves > 1 && curves === count ? 28 : 0;
    return {
      side,
      gap,
      left,
      aside,
      since,
      across,
      step,
      row,
      heading,
      base,
      high,
      labelled,
      lookingBack,
      allowed,
      edges,
      legends: gold ? legends : [legend],
      legend,
      outside,
      sample,
    };
  },

  map(figure, layout, k) {
    const { panels, causal, gallery } = figure.options;
    const { queries, keys, written } = figure.labels;
    const [array, title] = panels[k];
    const { side, step, row, heading, base, allowed, edges, legend, sample } = layout;
    // Maps side by side share the names of their rows.
    const first = layout.left + (side ? k * (layout.across + layout.gap) : 0);
    const right = first + layout.across;
    const names = !side || !k;
    const last = k === panels.length - 1;
    const numbers = figure.drawn(array);
    const stored = figure.array(array);
    const gold = figure.has("gold") ? figure.array("gold") : [];
    const chosen = figure.place.query;
    const xOf = (j) => first + j * step;
    const yOf = (i) => heading + i * row;
    const middle = (i) => yOf(i + 0.5) + 4;
    const inCell = (i, j) => numberInCell(stored[i * keys.length + j], xOf(j + 0.5), middle(i), step);
    // A map that stands alone has all its numbers, another one those of the chosen row and of the right cells.
    const isWritten = (i, j) => {
      const at = i * keys.length + j;
      const inside = j >= allowed[i][0] && j < allowed[i][1];
      const alone = panels.length === 1 && !gallery.length;
      return (
        inside &&
        ((gold[at] > 0 && !gallery.length) || (stored[at] >= 0.045 && (i === chosen || (alone && !gold.length))))
      );
    };
    const { query, column, panel } = figure.hover;
    return [
      title &&
        !layout.outside &&
        label(layout.legends[k] || "", first + 1.08 * textWidth(title) + 12 + sample, 14, { class: "quiet" }),
      sample && path(`M${round(first)},10h22`, { class: `course done ${courseStyle(k, panels.length)}` }),
      title
        ? label(title, first + sample, 14, { class: "name" })
        : !layout.outside && label(legend, first, 14, { class: "quiet" }),
      last && scale(right),
      cells(numbers, keys.length, { left: first, top: heading, step, height: row, allowed: edges }),
      figure.has("gold") &&
        group(
          {},
          [...gold].map(
            (is, at) =>
              is && goldFrame(xOf(at % keys.length), yOf(Math.floor(at / keys.length)), step, row, numbers[at]),
          ),
        ),
      names &&
        queries.map((text, i) =>
          label(spelled(text), first - 7, middle(i), {
            class: `end ${choice(spelled(text))} ${i === chosen ? "name" : ""}`,
          }),
        ),
      written && [
        label(layout.left < 74 ? "right" : "right word", first - 7, 14, { class: "end quiet" }),
        this.writtenWords(figure, right, middle, layout),
      ],
      causal && !layout.lookingBack && this.stairs(queries.length, keys.length, xOf, yOf, step),
      rect(first - 1, yOf(chosen) - 1, keys.length * step + 2, row + 2, { class: figure.frame("query"), rx: 3 }),
      queries.map((_, i) => keys.map((_, j) => isWritten(i, j) && inCell(i, j))),
      (side || last) && [
        columnLabels(keys, first, step, base),
        names && label("key", first - 7, base + 15, { class: "end key name" }),
      ],
      names && !written && label("query", first - 7, 14, { class: "end query name" }),
      group({}, panel === k && inCell(query, column)),
      queries.map((_, i) => [
        names && rect(0, yOf(i), layout.left, row, picks({ query: i })),
        written && rect(right, yOf(i), layout.aside, row, picks({ query: i })),
        keys.map((_, j) => rect(xOf(j), yOf(i), step, row, picks({ query: i, column: j, panel: k }))),
      ]),
    ];
  },

  // Beside each row the word that is written, with a cross if it is wrong, pale if it is so from the start. Where there is
  // room, a word that was lost has the value of the axis at which it was first wrong.
  writtenWords(figure, right, middle, { aside, since }) {
    const { queries, written } = figure.labels;
    const now = figure.array("written");
    const [played] = figure.play;
    const before = writtenFirst(figure);
    const isLost = (i) => written[now[i]] !== queries[i] && (!before.length || written[before[i]] === queries[i]);
    const writtenAt = (k, i) => written[figure.arrayAt("written", { ...figure.place, [played]: k })[i]];
    const firstWrong = (i) => figure.controls[played].labels.find((_, k) => writtenAt(k, i) !== queries[i]);
    return [
      label("it writes", right + 20, 14, { class: "quiet" }),
      group(
        {},
        since && queries.some((_, i) => isLost(i)) && label("lost at", right + aside, 14, { class: "end quiet" }),
      ),
      queries.map((query, i) => {
        const word = written[now[i]];
        const lost = isLost(i);
        return [
          group({}, since && lost && label(firstWrong(i), right + aside, middle(i), { class: "end" })),
          word !== query && cross(right + 12, middle(i) - 4, lost ? "" : "faded"),
          label(spelled(word), right + 20, middle(i), { class: lost ? "name" : word === query ? "" : "quiet" }),
        ];
      }),
    ];
  },

  // Where the mask was that is off now.
  stairs(rows, columns, xOf, yOf, step, style = "stairs") {
    const steps = Array.from(
      { length: rows },
      (_, i) => `V${round(yOf(i + 1))}${i < columns - 1 ? `h${round(step)}` : ""}`,
    );
    return path(`M${round(xOf(1))},${yOf(0)}${steps.join("")}`, { class: style });
  },

  // A row of small maps for each value of the first axis and a column for each of the second; on a phone all in one row.
  gallery(figure, width, wide, bottom) {
    const [rows, columns] = figure.options.gallery.map((name) => figure.controls[name]);
    const [[array]] = figure.options.panels;
    const { causal } = figure.options;
    const across = columns.labels;
    const count = rows.labels.length;
    const [named] = figure.labels.share ?? [];
    const shareOf = (place) => figure.arrayAt("share", { ...figure.place, ...place })[0];
    const head = named ? 18 : 0;
    const top = head + (wide ? 22 : 34);
    const left = wide ? 46 : 0;
    const step = (width - left) / across.length;
    const low = figure.has("share") ? 16 : 0;
    const high = wide ? Math.min(84, (bottom - top + 12) / count - 12 - low) : 36;
    const each = wide ? high + 12 + low : 0;
    const thin = wide ? step : (step - 6) / count;
    // Shares that are 0 in all maps are not written.
    const told =
      low > 0 && rows.labels.some((_, i) => across.some((__, j) => shareOf({ [rows.name]: i, [columns.name]: j }) > 0));
    const gold = figure.has("gold") ? figure.array("gold") : [];
    const size = figure.labels.keys.length;
    const rowCount = figure.labels.queries.length;
    const query = figure.place.query;
    const lookingOn = causal && figure.value(causal[0]) !== causal[1];
    const marks = across.map((text, j) => [
      label(`${columns.name} ${text}`, left + (j + 0.5) * step, head + 13, { class: "middle quiet" }),
      rows.labels.map((name, i) => {
        const place = { [rows.name]: i, [columns.name]: j };
        const here = Object.entries(place).every(([key, at]) => figure.place[key] === at);
        const style = here ? "name" : "quiet";
        const x = left + j * step + (wide ? 0 : i * thin) + (wide ? 3 : 6);
        const y = top + i * each;
        const room = thin - 6;
        const middle = x + room / 2;
        const numbers = figure.arrayAt(array, { ...figure.place, ...place });
        return [
          wide
            ? !j &&
              label(`${rows.name} ${name}`, left - 2, y + high / 2 + 4, {
                class: figure.place[rows.name] === i ? "end name" : "end quiet",
              })
            : label(name, middle, top - 6, { class: `middle ${style}` }),
          told && label(percent(shareOf(place)), middle + 14, y + high + 14, { class: `end ${style}` }),
          stamp(numbers, size, x, y, room, high, gold),
          lookingOn &&
            this.stairs(
              rowCount,
              size,
              (at) => x + (at * room) / size,
              (at) => y + (at * high) / rowCount,
              room / size,
              "stairs thin",
            ),
          wide
            ? rect(x, y + (query * high) / rowCount, room, high / rowCount, {
                class: here ? "query frame thin" : "query frame thin faded",
              })
            : line(x - 5, y + ((query + 0.5) * high) / rowCount, x - 1, y + ((query + 0.5) * high) / rowCount, {
                class: "query frame",
              }),
          here &&
            rect(x - 2, y - 2, thin - 2, high + 4, {
              class: Object.keys(place).some(figure.pointed) ? "chosen thin" : "chosen",
              rx: 3,
            }),
          rect(x - 3, y, thin, high, picks(place)),
        ];
      }),
    ]);
    return {
      height: top + (wide ? count * each : high + (low ? 20 : 4)),
      marks: [told && label(named, width, 13, { class: "end quiet" }), marks],
    };
  },

  // The row of the chosen query at each value of an axis, with its weight on right cells.
  strips(figure, width, wide, edges) {
    const { name: axis, labels, buttons } = figure.controls[figure.options.gallery[0]];
    const [[array]] = figure.options.panels;
    const { keys, gold: [right] = ["right cell"] } = figure.labels;
    const names = buttons ? labels : labels.map((text) => `${axis} ${text}`);
    // They stand in the order that the shares of all rows have at the end of the play, the largest first.
    const [played] = figure.play;
    const end = { ...figure.place, ...(played && { [played]: figure.controls[played].values.length - 1 }) };
    const ranks = figure.has("share")
      ? ranksOf(labels.map((_, i) => figure.arrayAt("share", { ...end, [axis]: i })[0]))
      : [...labels.keys()];
    const size = keys.length;
    const query = figure.place.query;
    const gold = figure.has("gold") ? rowOf(figure.array("gold"), query, size) : [];
    const indent = gold.length ? 20 : 0;
    const left = indent + 1.08 * widest(names) + (indent ? 44 : 8);
    const step = (width - left - 2) / size;
    const top = indent ? 22 : 2;
    const row = wide ? 42 : 24;
    const high = row - (wide ? 14 : 6);
    const marks = names.map((name, i) => {
      const y = top + ranks[i] * row;
      const middle = y + row / 2;
      const here = figure.place[axis] === i;
      const numbers = rowOf(figure.arrayAt(array, { ...figure.place, [axis]: i }), query, size);
      return [
        // Whether the query looks most at a right cell.
        gold.length > 0 && (gold[numbers.indexOf(Math.max(...numbers))] ? tick : cross)(7, middle),
        label(name, indent, middle + 4, { class: here ? "name choice" : "choice" }),
        gold.length > 0 &&
          label(percent(dot(gold, numbers)), left - 7, middle + 4, { class: here ? "end name" : "end quiet" }),
        cells(numbers, size, { left, top: middle - high / 2, step, height: high, allowed: [edges[query]] }),
        [...gold].map((is, j) => is > 0 && goldFrame(left + j * step, middle - high / 2, step, high, numbers[j])),
        rect(left - 1, middle - high / 2 - 1, size * step + 2, high + 2, {
          class: here ? figure.frame(axis) : "query frame thin faded",
          rx: 3,
        }),
        rect(0, y, width, row, picks({ [axis]: i })),
      ];
    });
    const base = top + row * names.length;
    return {
      height: base + (wide ? labelsHeight(keys, step) : 8),
      marks: [
        indent && label(`weight on ${right}`, indent, 13, { class: "quiet" }),
        marks,
        wide && columnLabels(keys, left, step, base),
      ],
    };
  },
};

// A map as small as a stamp, in eight shades: one path for each. Its gold cells have thin frames.
const stamp = (numbers, columns, left, top, width, height, gold) => {
  const step = width / columns;
  const row = (height * columns) / numbers.length;
  const shades = Array(9).fill("");
  const cell = (at) =>
    `M${round(left + (at % columns) * step)},${round(top + Math.floor(at / columns) * row)}h${round(step)}v${round(row)}h${round(-step)}z`;
  numbers.forEach((number, at) => {
    shades[Math.round(8 * number)] += cell(at);
  });
  return group(
    {},
    rect(left, top, width, height, { class: "ground" }),
    shades.slice(1).map((d, i) => path(d, { class: "weight", "fill-opacity": (i + 1) / 8 })),
    gold.length > 0 &&
      path([...gold].map((is, at) => (is ? cell(at) : "")).join(""), { class: "mini", "stroke-dasharray": "2 1.5" }),
    rect(left, top, width, height, { class: "grid" }),
  );
};
