// The heat map of one head of one layer, or by one of several scores, and a small one of each, to choose from.
kinds.heads = (() => {
  const { isWide, label, line, path, picks, rect, round } = marks;
  const { allowedKeys, cells, goldName, heatMaps, stamp, withSmallMaps } = maps;
  const { BOLD, percent, titled, widest } = texts;

  /** @typedef {Figure<{ maps: string[], cells?: boolean, causal?: [string, any] | null, free?: boolean }>} Heads */

  /** @param {Heads} figure @param {number} width */
  const draw = (figure, width) => {
    const wide = isWide(width);
    const beside = wide ? 240 : width;
    const isOff = maskIsOff(figure);
    const masked = allowedKeys(figure, (i) => (figure.options.free || isOff ? Infinity : i + 1));
    const dashed = figure.has("gold") && `dashed: ${goldName(figure)}`;
    const forbidden = "hatched: forbidden";
    const { causal } = figure.options;
    const behind = causal && `right of the line: forbidden with ${causal.join(" ")}`;
    const large = heatMaps(figure, wide ? width - beside - 28 : width, {
      ...{ panels: [["weights", ""]], masked },
      legend: [dashed, masked.hatched && forbidden, isOff && behind],
      longest: [dashed, behind || forbidden],
      row: Math.max(wide ? 32 : 24, Math.min(40, 110 / figure.labels.queries.length)),
      /** @param {MapPlace} place */
      more: ({ xOf, yOf, step }) => isOff && stairs(figure, xOf, yOf, step, "stairs"),
    });
    const small = figure.options.cells ? shareCells : smallMaps;
    return withSmallMaps(width, large, small(figure, beside, wide, large.height - 20));
  };

  /** @param {Heads} figure */
  const maskIsOff = (figure) => {
    const [axis, value] = figure.options.causal ?? [];
    return axis !== undefined && figure.value(axis) !== value;
  };

  // Where the mask was that is off now.
  /** @param {Heads} figure @param {Along} xOf @param {Along} yOf @param {number} step @param {string} style */
  const stairs = ({ labels }, xOf, yOf, step, style) => {
    const columns = labels.keys.length;
    const steps = labels.queries.map((_, i) => `V${round(yOf(i + 1))}${i < columns - 1 ? `h${round(step)}` : ""}`);
    return path(`M${round(xOf(1))},${yOf(0)}${steps.join("")}`, { class: style });
  };

  // A row of small maps for each value of the first axis and a column for each of the second, if there is one; on a phone
  // all in one row.
  /** @param {Heads} figure @param {number} width @param {boolean} wide @param {number} bottom */
  const smallMaps = (figure, width, wide, bottom) => {
    const [rows, columns = { name: "", labels: [""] }] = figure.options.maps.map((name) => figure.controls[name]);
    /** @param {{ name: string, labels: string[], buttons?: boolean }} axis @param {number} k */
    const nameOf = ({ name, buttons, labels }, k) => (buttons ? labels[k] : `${titled(name)} ${labels[k]}`.trim());
    const rowNames = rows.labels.map((_, i) => nameOf(rows, i));
    const top = (columns.name ? 40 : 22) + (wide ? 0 : 12);
    const left = wide ? 12 + BOLD * widest(rowNames) : 0;
    const step = (width - left) / columns.labels.length;
    const high = wide ? Math.min(84, (bottom - top + 12) / rows.labels.length - 28) : 36;
    const each = wide ? high + 28 : 0;
    const thin = wide ? step : (step - 6) / rows.labels.length;
    /** @param {number} i @param {number} j */
    const placeOf = (i, j) => Object.fromEntries([[rows.name, i], ...(columns.name ? [[columns.name, j]] : [])]);
    /** @param {number} i @param {number} j */
    const shareOf = (i, j) => figure.arrayAt("share", { ...figure.place, ...placeOf(i, j) })[0];
    // Shares that are 0 in all maps are not written, nor those of gold cells where the chosen row has none.
    const gold = figure.has("gold") ? figure.rowAt("gold", figure.place.query) : [1];
    const withShares =
      gold.some((is) => is > 0) && rows.labels.some((_, i) => columns.labels.some((__, j) => shareOf(i, j) > 0));
    /** @param {number} i @param {number} j */
    const map = (i, j) => {
      const place = placeOf(i, j);
      const here = Object.entries(place).every(([name, at]) => figure.place[name] === at);
      const x = left + j * step + (wide ? 3 : 6 + i * thin);
      const box = { x, y: top + i * each, width: thin - 6, height: high };
      const middle = box.x + box.width / 2;
      const style = here ? "name" : "quiet";
      return [
        !wide && label(rows.labels[i], middle, top - 6, { class: `middle ${style}` }),
        withShares && label(percent(shareOf(i, j)), middle + 14, box.y + high + 14, { class: `end ${style}` }),
        smallMap(figure, place, box, { wide, here }),
      ];
    };
    /** @param {string} name @param {number} i */
    const rowName = (name, i) => {
      const style = figure.place[rows.name] === i ? "name" : "quiet";
      return label(name, left - 2, top + i * each + high / 2 + 4, { class: `end ${style}` });
    };
    return {
      width,
      height: top + (wide ? rows.labels.length * each : high + 20),
      marks: [
        withShares && label(figure.labels.share[0], width, 13, { class: "end quiet" }),
        wide && rowNames.map(rowName),
        columns.labels.map((_, j) => [
          label(nameOf(columns, j), left + (j + 0.5) * step, 31, { class: "middle quiet" }),
          rows.labels.map((_, i) => map(i, j)),
        ]),
      ],
    };
  };

  // A cell for each map, as dark as its share: a row for each value of the first axis and a column for each of the second;
  // on a phone the other way round. Of many values every fifth is written.
  /** @param {Heads} figure @param {number} width @param {boolean} wide @param {number} bottom */
  const shareCells = (figure, width, wide, bottom) => {
    const axes = figure.options.maps.map((name) => figure.controls[name]);
    const [rows, columns] = wide ? axes : axes.toReversed();
    /** @param {number} i @param {number} j */
    const placeOf = (i, j) => ({ [rows.name]: i, [columns.name]: j });
    const numbers = rows.labels.flatMap((_, i) =>
      columns.labels.map((__, j) => figure.arrayAt("share", { ...figure.place, ...placeOf(i, j) })[0]),
    );
    /** @param {Control} axis @param {number} k */
    const written = ({ labels }, k) => labels.length <= 12 || k % 5 === 0;
    const top = 38;
    const left = 12 + widest([titled(rows.name), ...rows.labels]);
    const step = (width - left) / columns.labels.length;
    const height = wide ? Math.max(8, Math.min(18, (bottom - top) / rows.labels.length)) : 14;
    const [i, j] = [rows, columns].map(({ name }) => figure.place[name]);
    const frame = Object.keys(placeOf(i, j)).some(figure.pointed) ? "chosen thin" : "chosen";
    /** @param {string} text @param {number} k */
    const rowName = (text, k) =>
      written(rows, k) &&
      label(text, left - 5, top + (k + 0.5) * height + 4, { class: `end ${k === i ? "name" : "quiet"}` });
    /** @param {string} text @param {number} k */
    const columnName = (text, k) =>
      written(columns, k) &&
      label(text, left + (k + 0.5) * step, top - 6, { class: `middle ${k === j ? "name" : "quiet"}` });
    return {
      width,
      height: top + rows.labels.length * height + 6,
      marks: [
        label(figure.labels.share[0], width, 13, { class: "end quiet" }),
        label(titled(columns.name), left, 13, { class: "quiet" }),
        label(titled(rows.name), left - 5, top - 6, { class: "end quiet" }),
        rows.labels.map(rowName),
        columns.labels.map(columnName),
        cells(numbers, columns.labels.length, { left, top, step, height }),
        rect(left + j * step - 1, top + i * height - 1, step + 2, height + 2, { class: frame, rx: 3 }),
        rows.labels.map((_, k) =>
          columns.labels.map((__, l) => rect(left + l * step, top + k * height, step, height, picks(placeOf(k, l)))),
        ),
      ],
    };
  };

  // One small map, with the chosen row, the mask that is off and, around the chosen map, a frame.
  /**
   * @param {Heads} figure
   * @param {Positions} place
   * @param {Box} box
   * @param {{ wide: boolean, here: boolean }} look
   */
  const smallMap = (figure, place, { x, y, width, height }, { wide, here }) => {
    const rows = figure.labels.queries.length;
    const columns = figure.labels.keys.length;
    const numbers = figure.arrayAt("weights", { ...figure.place, ...place });
    const gold = figure.has("gold") ? figure.array("gold") : [];
    const row = height / rows;
    const step = width / columns;
    const { query } = figure.place;
    const middle = y + (query + 0.5) * row;
    const pointed = Object.keys(place).some(figure.pointed);
    /** @param {number} first @param {number} size */
    const edgeOf = (first, size) => /** @param {number} at */ (at) => first + at * size;
    return [
      stamp(numbers, columns, { x, y, width, height }, gold),
      maskIsOff(figure) && stairs(figure, edgeOf(x, step), edgeOf(y, row), step, "stairs thin"),
      wide
        ? rect(x, y + query * row, width, row, { class: here ? "query frame thin" : "query frame thin faded" })
        : line(x - 5, middle, x - 1, middle, { class: "query frame" }),
      here && rect(x - 2, y - 2, width + 4, height + 4, { class: pointed ? "chosen thin" : "chosen", rx: 3 }),
      rect(x - 3, y, width + 6, height, picks(place)),
    ];
  };

  return { draw };
})();
