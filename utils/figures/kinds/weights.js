// Heat maps of queries by keys; of more than two maps the chosen row alone. With a gallery also, to choose from, the
// chosen row for each value of an axis, or a small map for each value of two axes: beside the large one or, on a phone,
// above it.
kinds.weights = {
  draw(figure, width) {
    const { panels, gallery } = figure.options;
    const wide = isWide(width);
    if (gallery.length) return this.withGallery(figure, width, wide);
    return panels.length > 2 ? this.chosenRows(figure, width, wide) : this.maps(figure, width, wide);
  },

  withGallery(figure, width, wide) {
    const axes = figure.options.gallery.length;
    const beside = !wide ? width : axes > 1 ? 240 : 300;
    const large = this.maps(figure, wide ? width - beside - 28 : width, wide);
    const small =
      axes > 1 ? this.gallery(figure, beside, wide, large.height - 20) : this.strips(figure, beside, wide, large.edges);
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
    const layout = this.layout(figure, width, wide);
    const { panels, side, high, labelled, legend, outside, left, edges } = layout;
    const height = (side ? 1 : panels.length) * high + labelled;
    return {
      width,
      height: outside ? height + 14 : height,
      edges,
      marks: [
        panels.map((_, k) => group({ transform: `translate(0 ${side ? 0 : k * high})` }, this.map(figure, layout, k))),
        outside && label(legend, left, height + 8, { class: "quiet" }),
      ],
    };
  },

  // Of each query the first key that it may look at and the first one behind the last: `allowed` now, and `edges` also
  // on the way to another mask.
  masked(figure) {
    const { edge, causal, window: reach } = figure.options;
    const { queries, keys } = figure.labels;
    const lookingBack = causal && figure.value(causal[0]) === causal[1];
    const limit = edge ? figure.value(edge) : Infinity;
    const around = reach ? figure.value(reach) : Infinity;
    const allowed = queries.map((_, i) => {
      const place = Math.min(i, keys.length - 1);
      const to = Math.min(lookingBack ? i + 1 : Infinity, limit, place + around + 1);
      return [Math.min(Math.max(0, place - around), to), to];
    });
    const whole = allowed.flat().map((at) => Math.min(at, keys.length));
    const ends = figure.blend("=allowed", whole);
    return { lookingBack, allowed, edges: allowed.map((_, i) => [ends[2 * i], ends[2 * i + 1]]) };
  },

  // What the signs in the maps mean, and the longest text that this can become.
  legends(figure, { allowed, lookingBack }) {
    const { edge, causal, window: reach } = figure.options;
    const { keys, written, gold: [right] = ["right cell"] } = figure.labels;
    const hatched = allowed.some(([from, to]) => from > 0 || to < keys.length);
    const dashed = figure.has("gold") && `dashed: ${right}`;
    const forbidden = (edge || causal || reach) && `hatched: ${reach ? "outside" : "forbidden"}`;
    const signs = [
      dashed,
      hatched && forbidden,
      written && "grey ✕: wrong at first",
      causal && !lookingBack && `right of the line: forbidden with ${causal.join(" ")}`,
    ];
    const all = signs.filter(Boolean).join(", ");
    return { signs, legend: all, longest: [dashed, forbidden].filter(Boolean).join(", ") };
  },

  // Where the parts of the maps stand.
  layout(figure, width, wide) {
    const { panels, gallery } = figure.options;
    const { queries, keys, written } = figure.labels;
    const side = wide && panels.length === 2;
    const gap = side ? 28 : 0;
    const { since, aside } = this.besideRows(figure, wide);
    // On a phone written words leave little room for the cells.
    const named = widest(queries.map(spelled));
    const left = written && !wide ? named + 8 : Math.max(BOLD * named + 12, written ? 74 : 44);
    const across = side ? (width - left - aside - gap) / 2 : width - left - aside;
    const step = across / keys.length;
    // A map of few rows has higher ones.
    const low = !wide ? 24 : gallery.length || side ? 32 : 26;
    const row = !wide && panels.length > 1 ? 24 : Math.max(low, Math.min(40, 110 / queries.length));
    const heading = 19;
    const base = heading + queries.length * row;
    const masked = this.masked(figure);
    const { signs, legend, longest } = this.legends(figure, masked);
    // With two maps each part of the legend stands beside a title, or where there is no room, all of it below the maps.
    // So does the legend of a single map if its longest form leaves no room for the name of the rows.
    const room = (k) => across - (k === panels.length - 1 ? 104 : 0); // the scale
    const fits = ([, title], k) => BOLD * textWidth(title) + 48 + textWidth("hatched: forbidden") <= room(k);
    const inside =
      panels.length === 1 ? textWidth(longest) <= room(0) : panels.slice(0, figure.has("gold") ? 2 : 1).every(fits);
    // Where each map has a curve above, a piece of this curve stands before its title.
    const curves = figure.gauges[1].length;
    const sample = curves > 1 && curves === panels.length ? 28 : 0;
    return {
      ...masked,
      ...{ panels, side, gap, left, aside, since, across, step, row, heading, base, legend, sample },
      high: base + 6,
      labelled: labelsHeight(keys, step) + 6,
      outside: written || !inside,
      besideTitles: figure.has("gold") ? signs : [legend],
    };
  },

  // The room on the right of the rows: for the written words, and for where a word was lost.
  besideRows(figure, wide) {
    const { written } = figure.labels;
    if (!written) return { since: 0, aside: 8 };
    const since = wide && figure.play.length ? 50 : 0;
    const words = [...new Set(figure.allOf("written"))].map((i) => spelled(written[i]));
    return { since, aside: since + (wide ? 26 : 21) + widest(["it writes", ...words]) };
  },

  map(figure, layout, k) {
    const { panels, causal } = figure.options;
    const { queries, keys, written } = figure.labels;
    const { side, step, row, heading, base, edges, lookingBack } = layout;
    const [array] = panels[k];
    // Maps side by side share the names of their rows.
    const first = layout.left + (side ? k * (layout.across + layout.gap) : 0);
    const right = first + layout.across;
    const names = !side || !k;
    const last = k === panels.length - 1;
    const numbers = figure.drawn(array);
    const gold = figure.has("gold") ? [...figure.array("gold")] : [];
    const chosen = figure.place.query;
    const xOf = (j) => first + j * step;
    const yOf = (i) => heading + i * row;
    const middle = (i) => yOf(i + 0.5) + 4;
    const frame = (is, at) =>
      is && goldFrame(xOf(at % keys.length), yOf(Math.floor(at / keys.length)), step, row, numbers[at]);
    return [
      this.heading(layout, k, first),
      last && scale(right),
      cells(numbers, keys.length, { left: first, top: heading, step, height: row, allowed: edges }),
      gold.length > 0 && group({}, gold.map(frame)),
      names && this.rowNames(figure, first - 7, middle),
      written && [
        label(layout.left < 74 ? "right" : "right word", first - 7, 14, { class: "end quiet" }),
        this.writtenWords(figure, right, middle, layout),
      ],
      causal && !lookingBack && this.stairs(queries.length, keys.length, xOf, yOf, step),
      rect(first - 1, yOf(chosen) - 1, keys.length * step + 2, row + 2, { class: figure.frame("query"), rx: 3 }),
      this.numbersInCells(figure, k, { allowed: layout.allowed, gold, step, xOf, middle }),
      (side || last) && [
        columnLabels(keys, first, step, base),
        names && label("key", first - 7, base + 15, { class: "end key name" }),
      ],
      names && !written && label("query", first - 7, 14, { class: "end query name" }),
      queries.map((_, i) => [
        names && rect(0, yOf(i), layout.left, row, picks({ query: i })),
        written && rect(right, yOf(i), layout.aside, row, picks({ query: i })),
        keys.map((_, j) => rect(xOf(j), yOf(i), step, row, picks({ query: i, column: j, panel: k }))),
      ]),
    ];
  },

  // The title of a map and beside it a part of the legend.
  heading({ panels, outside, besideTitles, legend, sample }, k, left) {
    const title = panels[k][1];
    if (!title) return !outside && label(legend, left, 14, { class: "quiet" });
    const aside = left + BOLD * textWidth(title) + 12 + sample;
    return [
      !outside && label(besideTitles[k] || "", aside, 14, { class: "quiet" }),
      sample > 0 && path(`M${round(left)},10h22`, { class: `course done ${courseStyle(k, panels.length)}` }),
      label(title, left + sample, 14, { class: "name" }),
    ];
  },

  rowNames(figure, end, middle) {
    return figure.labels.queries.map(spelled).map((text, i) => {
      const style = i === figure.place.query ? "name" : "";
      return label(text, end, middle(i), { class: `end ${choice(text)} ${style}` });
    });
  },

  // A map that stands alone has all its numbers, another one those of the chosen row and of the right cells; and each
  // has the number of the cell that is pointed at.
  numbersInCells(figure, k, { allowed, gold, step, xOf, middle }) {
    const { panels, gallery } = figure.options;
    const { queries, keys } = figure.labels;
    const { query, column, panel } = figure.hover;
    const stored = figure.array(panels[k][0]);
    const everywhere = panels.length === 1 && !gallery.length && !gold.length;
    const inCell = (i, j) => numberInCell(stored[i * keys.length + j], xOf(j + 0.5), middle(i), step);
    const isWritten = (i, j) => {
      const at = i * keys.length + j;
      const large = stored[at] >= 0.045 && (i === figure.place.query || everywhere);
      return j >= allowed[i][0] && j < allowed[i][1] && ((gold[at] > 0 && !gallery.length) || large);
    };
    return [
      queries.map((_, i) => keys.map((_, j) => isWritten(i, j) && inCell(i, j))),
      group({}, panel === k && inCell(query, column)),
    ];
  },

  // Beside each row the word that is written, with a cross if it is wrong, pale if it is so from the start. Where there
  // is room, a word that was lost has the value of the axis at which it was first wrong.
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

  // A row of small maps for each value of the first axis and a column for each of the second; on a phone all in one
  // row.
  gallery(figure, width, wide, bottom) {
    const [rows, columns] = figure.options.gallery.map((name) => figure.controls[name]);
    const [heading] = figure.labels.share ?? [];
    const head = heading ? 18 : 0;
    const top = head + (wide ? 22 : 34);
    const left = wide ? 46 : 0;
    const step = (width - left) / columns.labels.length;
    const low = figure.has("share") ? 16 : 0;
    const high = wide ? Math.min(84, (bottom - top + 12) / rows.labels.length - 12 - low) : 36;
    const each = wide ? high + 12 + low : 0;
    const thin = wide ? step : (step - 6) / rows.labels.length;
    const placeOf = (i, j) => ({ [rows.name]: i, [columns.name]: j });
    const shareOf = (i, j) => figure.arrayAt("share", { ...figure.place, ...placeOf(i, j) })[0];
    // Shares that are 0 in all maps are not written, nor those of right cells where the chosen row has none.
    const gold = figure.has("gold") ? rowOf(figure.array("gold"), figure.place.query, figure.labels.keys.length) : [1];
    const withShares =
      low > 0 &&
      gold.some((is) => is > 0) &&
      rows.labels.some((_, i) => columns.labels.some((__, j) => shareOf(i, j) > 0));
    const smallMap = (i, j) => {
      const here = figure.place[rows.name] === i && figure.place[columns.name] === j;
      const box = { x: left + j * step + (wide ? 3 : 6 + i * thin), y: top + i * each, width: thin - 6, height: high };
      const middle = box.x + box.width / 2;
      const style = here ? "name" : "quiet";
      return [
        !wide && label(rows.labels[i], middle, top - 6, { class: `middle ${style}` }),
        withShares && label(percent(shareOf(i, j)), middle + 14, box.y + high + 14, { class: `end ${style}` }),
        this.smallMap(figure, placeOf(i, j), box, { wide, here }),
      ];
    };
    const rowName = (name, i) => {
      const style = figure.place[rows.name] === i ? "name" : "quiet";
      return label(`${rows.name} ${name}`, left - 2, top + i * each + high / 2 + 4, { class: `end ${style}` });
    };
    return {
      height: top + (wide ? rows.labels.length * each : high + (low ? 20 : 4)),
      marks: [
        withShares && label(heading, width, 13, { class: "end quiet" }),
        wide && rows.labels.map(rowName),
        columns.labels.map((text, j) => [
          label(`${columns.name} ${text}`, left + (j + 0.5) * step, head + 13, { class: "middle quiet" }),
          rows.labels.map((_, i) => smallMap(i, j)),
        ]),
      ],
    };
  },

  // One small map, with the chosen row, the mask that is off and, around the chosen map, a frame.
  smallMap(figure, place, { x, y, width, height }, { wide, here }) {
    const { causal, panels } = figure.options;
    const rows = figure.labels.queries.length;
    const columns = figure.labels.keys.length;
    const numbers = figure.arrayAt(panels[0][0], { ...figure.place, ...place });
    const gold = figure.has("gold") ? figure.array("gold") : [];
    const row = height / rows;
    const step = width / columns;
    const { query } = figure.place;
    const middle = y + (query + 0.5) * row;
    const pointed = Object.keys(place).some(figure.pointed);
    const edgeOf = (first, size) => (at) => first + at * size;
    return [
      stamp(numbers, columns, { x, y, width, height }, gold),
      causal &&
        figure.value(causal[0]) !== causal[1] &&
        this.stairs(rows, columns, edgeOf(x, step), edgeOf(y, row), step, "stairs thin"),
      wide
        ? rect(x, y + query * row, width, row, { class: here ? "query frame thin" : "query frame thin faded" })
        : line(x - 5, middle, x - 1, middle, { class: "query frame" }),
      here && rect(x - 2, y - 2, width + 4, height + 4, { class: pointed ? "chosen thin" : "chosen", rx: 3 }),
      rect(x - 3, y, width + 6, height, picks(place)),
    ];
  },

  // The row of the chosen query in each map, below the queries to choose from.
  chosenRows(figure, width, wide) {
    const { panels } = figure.options;
    const { keys } = figure.labels;
    const masked = this.masked(figure);
    const { legend, longest } = this.legends(figure, masked);
    // Where each map has a curve above, a piece of this curve stands before its name.
    const sample = figure.gauges[1].length === panels.length ? 30 : 0;
    const sign = figure.has("gold") ? 18 : 0;
    const named = sign + sample + BOLD * widest(panels.map(([, title]) => title)) + 10;
    const left = wide ? Math.max(76, named) : 12;
    const step = (width - left - 2) / keys.length;
    // The scale stands at the end of the line of the queries or, on a phone, of the first title.
    const queries = this.queriesToChoose(figure, 50, wide ? width - 100 : width);
    const [high, each] = wide ? [30, 42] : [30, 56];
    const topOf = (k) => queries.height + 10 + k * each + (wide ? 0 : 22);
    const layout = { ...masked, left, step, high, sign, sample };
    const base = topOf(panels.length - 1) + high;
    const labelled = labelsHeight(keys, step);
    return {
      width,
      height: base + labelled + (longest ? 26 : 6),
      marks: [
        label("query", 0, 18, { class: "query name" }),
        queries.marks,
        group({ transform: `translate(0 ${wide ? 4 : topOf(0) - 22})` }, scale(width - 2)),
        panels.map((_, k) => this.chosenRow(figure, k, topOf(k), wide ? topOf(k) + high / 2 : topOf(k) - 11, layout)),
        columnLabels(keys, left, step, base),
        wide && label("key", left - 7, base + 15, { class: "end key name" }),
        legend && label(legend, left, base + labelled + 18, { class: "quiet" }),
      ],
    };
  },

  // The queries in as many lines as it takes, with a frame around the chosen one.
  queriesToChoose(figure, left, right) {
    const texts = figure.labels.queries.map(spelled);
    const rooms = texts.map((text) => textWidth(text) + 22);
    const places = flow(rooms, left, right, 30);
    const marks = places.map(({ x, y }, i) => {
      const chosen = i === figure.place.query;
      const style = `middle ${choice(texts[i])} ${chosen ? "name" : ""}`;
      return [
        chosen && rect(x, y + 1, rooms[i] - 4, 25, { class: figure.frame("query"), rx: 4 }),
        label(texts[i], x + rooms[i] / 2 - 2, y + 18, { class: style }),
        rect(x, y, rooms[i], 28, picks({ query: i })),
      ];
    });
    return { height: places.at(-1).y + 30, marks };
  },

  // The chosen row of one map, named on its left or above it.
  chosenRow(figure, k, top, named, { allowed, edges, left, step, high, sign, sample }) {
    const { panels } = figure.options;
    const [array, title] = panels[k];
    const { query } = figure.place;
    const { column, panel } = figure.hover;
    const size = figure.labels.keys.length;
    const rowIn = (numbers) => rowOf(numbers, query, size);
    const stored = rowIn(figure.array(array));
    const gold = figure.has("gold") ? rowIn(figure.array("gold")) : [];
    const [from, to] = allowed[query];
    const isWritten = (number, j) =>
      j >= from && j < to && (gold[j] > 0 || number >= 0.045 || (panel === k && column === j));
    const middle = (j) => left + (j + 0.5) * step;
    return [
      this.sign(stored, gold, 7, named),
      sample > 0 && path(`M${sign + 2},${round(named)}h22`, { class: `course done ${courseStyle(k, panels.length)}` }),
      label(title, sign + sample, named + 4, { class: "name" }),
      this.framedRow(rowIn(figure.drawn(array)), gold, edges[query], {
        left,
        top,
        step,
        high,
        style: "query frame thin",
      }),
      [...stored].map((number, j) => [
        group({}, isWritten(number, j) && numberInCell(number, middle(j), top + high / 2 + 4, step)),
        rect(left + j * step, top, step, high, picks({ column: j, panel: k })),
      ]),
    ];
  },

  // One row of a map in a frame, with its gold cells.
  framedRow(numbers, gold, edges, { left, top, step, high, style }) {
    return [
      cells(numbers, numbers.length, { left, top, step, height: high, allowed: [edges] }),
      [...gold].map((is, j) => is > 0 && goldFrame(left + j * step, top, step, high, numbers[j])),
      rect(left - 1, top - 1, numbers.length * step + 2, high + 2, { class: style, rx: 3 }),
    ];
  },

  // Whether a row's largest weight lies on a right cell.
  sign(numbers, gold, x, y) {
    return gold.length > 0 && (gold[argmax(numbers)] ? tick : cross)(x, y);
  },

  // The row of the chosen query at each value of an axis, with its weight on right cells.
  strips(figure, width, wide, edges) {
    const { name: axis, labels, buttons } = figure.controls[figure.options.gallery[0]];
    const [[array]] = figure.options.panels;
    const { queries, keys, gold: [right] = ["right cell"] } = figure.labels;
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
    const left = indent + BOLD * widest(names) + (indent ? 44 : 8);
    const step = (width - left - 2) / size;
    const top = indent ? 22 : 2;
    const row = wide ? 42 : 24;
    const high = row - (wide ? 14 : 6);
    const marks = names.map((name, i) => {
      const y = top + ranks[i] * row;
      const middle = y + row / 2;
      const here = figure.place[axis] === i;
      const numbers = rowOf(figure.arrayAt(array, { ...figure.place, [axis]: i }), query, size);
      const style = here ? figure.frame(axis) : "query frame thin faded";
      return [
        this.sign(numbers, gold, 7, middle),
        label(name, indent, middle + 4, { class: here ? "name choice" : "choice" }),
        gold.length > 0 &&
          label(percent(dot(gold, numbers)), left - 7, middle + 4, { class: here ? "end name" : "end quiet" }),
        this.framedRow(numbers, gold, edges[query], { left, top: middle - high / 2, step, high, style }),
        rect(0, y, width, row, picks({ [axis]: i })),
      ];
    });
    const base = top + row * names.length;
    return {
      height: base + (wide ? labelsHeight(keys, step) : 8),
      marks: [
        indent && label(`weight of “${spelled(queries[query])}” on ${right}`, indent, 13, { class: "quiet" }),
        marks,
        wide && columnLabels(keys, left, step, base),
      ],
    };
  },
};
