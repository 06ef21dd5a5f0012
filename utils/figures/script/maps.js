// Heat maps of queries by keys, which several kinds draw.
const maps = (() => {
  const { choice, columnLabels, group, hatch, isWide, label, labelsHeight, path, picks, rect, round } = marks;
  const { BOLD, fitted, spelled, textWidth, widest } = texts;

  /** @typedef {ReturnType<typeof mapLayout>} MapLayout */

  // A heat map of rows by columns: the larger a number, the darker its cell. `allowed` has of each row the
  // number of allowed columns; all behind them are hatched.
  /** @param {Numbers} numbers @param {number} columns @param {Lattice & { allowed?: number[] }} lattice */
  const cells = (numbers, columns, { left, top, step, height, allowed = [] }) => {
    const rows = numbers.length / columns;
    const filled = [...numbers].map((number, at) => {
      const i = Math.floor(at / columns);
      const j = at % columns;
      const x = left + j * step;
      const y = top + i * height;
      return rect(x + 0.5, y + 0.5, step - 1, height - 1, {
        class: "weight cell",
        rx: 2,
        "fill-opacity": number < 0.015 ? 0 : Math.min(1, round(number)),
      });
    });
    const forbidden = allowed.map((number, i) => {
      const x = left + number * step;
      return number < columns && hatch(x, top + i * height, (columns - number) * step, height, 8);
    });
    const lattice = [
      ...Array.from(
        { length: columns + 1 },
        (_, j) => `M${round(left + j * step)},${round(top)}v${round(rows * height)}`,
      ),
      ...Array.from(
        { length: rows + 1 },
        (_, i) => `M${round(left)},${round(top + i * height)}h${round(columns * step)}`,
      ),
    ].join("");
    return group(
      {},
      rect(left, top, columns * step, rows * height, { class: "ground" }),
      path(lattice, { class: "lattice" }),
      filled,
      forbidden,
    );
  };

  // A map as small as a stamp, in eight shades: one path for each. Its gold cells have thin frames.
  /** @param {Numbers} numbers @param {number} columns @param {Box} box @param {Numbers} [gold] */
  const stamp = (numbers, columns, { x: left, y: top, width, height }, gold = []) => {
    const step = width / columns;
    const row = (height * columns) / numbers.length;
    const shades = Array(9).fill("");
    /** @param {number} at */
    const cell = (at) => {
      const [x, y] = [left + (at % columns) * step, top + Math.floor(at / columns) * row];
      return `M${round(x)},${round(y)}h${round(step)}v${round(row)}h${round(-step)}z`;
    };
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

  // The class of a number on a cell of this weight: the colour of the paper on a dark cell, and black in both themes on
  // one between.
  /** @param {number} weight */
  const onCell = (weight) => (weight > 0.85 ? "inverse" : weight > 0.65 ? "between" : "");

  /** @param {number} number @param {number} x @param {number} y @param {number} step */
  const numberInCell = (number, x, y, step) =>
    label(fitted(number.toFixed(2), step + 0.5) ?? "", x, y, { class: `middle number ${onCell(number)}` });

  // A dashed frame inside a cell that should have the weight.
  /** @param {number} left @param {number} top @param {number} width @param {number} height @param {number} weight */
  const goldFrame = (left, top, width, height, weight) => {
    const inside = width < 40 ? 1.5 : 3;
    return rect(left + inside, top + inside, width - 2 * inside, height - 2 * inside, {
      class: weight > 0.5 ? "gold inverse" : "gold",
      rx: 2,
    });
  };

  // What the shades of a heat map mean; it ends at `right`.
  /** @param {number} right */
  const scale = (right) => [
    label(0, right - 82, 14, { class: "end quiet" }),
    label(1, right, 14, { class: "end quiet" }),
    [0, 0.25, 0.5, 0.75, 1].map((share, i) =>
      rect(right - 77 + 13 * i, 4, 13, 11, { class: "weight swatch", "fill-opacity": share }),
    ),
    rect(right - 77, 4, 65, 11, { class: "grid" }),
  ];

  // How many keys each query may look at, always the first ones.
  /** @param {Figure} figure @param {(query: number) => number} numberOf */
  const allowedKeys = (figure, numberOf) => {
    const { queries, keys } = figure.labels;
    const allowed = queries.map((_, i) => Math.min(numberOf(i), keys.length));
    return { allowed, hatched: allowed.some((number) => number < keys.length) };
  };

  /** @param {MapOptions["legend"]} signs */
  const joined = (signs) => signs.filter(Boolean).join(", ");

  // What the dashed frames are called.
  /** @param {Figure} figure */
  const goldName = ({ labels }) => labels.gold[0];

  // One map, or two: side by side or, on a phone, one above the other. `legend` has a text for each sign, and `longest`
  // those of the state with the longest texts. `beside` gives the room on both sides if more than the names of the rows
  // stands there; `more` draws what a kind adds to a map.
  /** @param {Figure} figure @param {number} width @param {MapOptions} options */
  const heatMaps = (figure, width, options) => {
    const { panels, legend, longest, beside } = options;
    const layout = mapLayout(figure, width, options);
    const { side, left, step, base, across } = layout;
    // The legend stands beside the first title or, where there is no room, below the maps. So does that of a single map
    // if its longest form leaves no room for the scale.
    const taken = panels.length === 1 ? 104 : BOLD * textWidth(panels[0][1]) + 48;
    const outside = beside || textWidth(joined(longest)) + taken > across;
    const onOneLine = textWidth(joined(longest)) <= width - left;
    const below = onOneLine ? [joined(legend)] : legend.filter((text) => !!text);
    const lines = onOneLine ? 1 : longest.filter(Boolean).length;
    const high = base + 6;
    const height = (side ? 1 : panels.length) * high + labelsHeight(figure.labels.keys, step) + 6;
    const maps = panels.map((_, k) =>
      group(
        { transform: `translate(0 ${side ? 0 : k * high})` },
        heatMap(figure, layout, k, outside ? "" : joined(legend)),
      ),
    );
    return {
      width,
      height: outside ? height + 16 * lines - 2 : height,
      marks: [maps, outside && below.map((text, k) => label(`${text}`, left, height + 8 + 16 * k, { class: "quiet" }))],
    };
  };

  // Where the maps and their cells stand.
  /** @param {Figure} figure @param {number} width @param {MapOptions} options */
  const mapLayout = (figure, width, { panels, masked, row, everywhere, beside, more }) => {
    const { queries, keys } = figure.labels;
    const side = isWide(width) && panels.length === 2;
    const gap = side ? 28 : 0;
    const { left, aside } = beside || { left: Math.max(BOLD * widest(queries.map(spelled)) + 12, 44), aside: 8 };
    const across = side ? (width - left - aside - gap) / 2 : width - left - aside;
    const step = across / keys.length;
    const heading = 19;
    const base = heading + queries.length * row;
    return { ...masked, panels, side, gap, left, aside, across, step, row, heading, base, everywhere, beside, more };
  };

  /** @param {Figure} figure @param {MapLayout} layout @param {number} k @param {string} legend */
  const heatMap = (figure, layout, k, legend) => {
    const { panels, side, step, row, heading, base, allowed, beside, more } = layout;
    const { queries, keys } = figure.labels;
    // Maps side by side share the names of their rows.
    const first = layout.left + (side ? k * (layout.across + layout.gap) : 0);
    const right = first + layout.across;
    const names = !side || !k;
    const last = k === panels.length - 1;
    const numbers = figure.array(panels[k][0]);
    const gold = figure.has("gold") ? [...figure.array("gold")] : [];
    const chosen = figure.place.query;
    /** @param {number} j */
    const xOf = (j) => first + j * step;
    /** @param {number} i */
    const yOf = (i) => heading + i * row;
    /** @param {number} i */
    const middle = (i) => yOf(i + 0.5) + 4;
    /** @param {number} is @param {number} at */
    const frame = (is, at) =>
      is && goldFrame(xOf(at % keys.length), yOf(Math.floor(at / keys.length)), step, row, numbers[at]);
    return [
      mapHeading(panels[k][1], k, first, legend),
      last && scale(right),
      cells(numbers, keys.length, { left: first, top: heading, step, height: row, allowed }),
      gold.length > 0 && group({}, gold.map(frame)),
      names && rowNames(figure, first - 7, middle),
      more?.({ first, right, xOf, yOf, middle, step }),
      rect(first - 1, yOf(chosen) - 1, keys.length * step + 2, row + 2, { class: figure.frame("query"), rx: 3 }),
      numbersInCells(figure, k, layout, xOf, middle),
      (side || last) && [
        columnLabels(keys, first, step, base),
        names && label("key", first - 7, base + 15, { class: "end key name" }),
      ],
      names && !beside && label("query", first - 7, 14, { class: "end query name" }),
      queries.map((_, i) => [
        names && rect(0, yOf(i), layout.left, row, picks({ query: i })),
        beside && rect(right, yOf(i), layout.aside, row, picks({ query: i })),
        keys.map((_, j) => rect(xOf(j), yOf(i), step, row, picks({ query: i, column: j, panel: k }))),
      ]),
    ];
  };

  // The title of a map, and beside the first one the legend.
  /** @param {string} title @param {number} k @param {number} left @param {string} legend */
  const mapHeading = (title, k, left, legend) => {
    if (!title) return label(legend, left, 14, { class: "quiet" });
    return [
      label(k ? "" : legend, left + BOLD * textWidth(title) + 12, 14, { class: "quiet" }),
      label(title, left, 14, { class: "name" }),
    ];
  };

  /** @param {Figure} figure @param {number} end @param {Along} middle */
  const rowNames = (figure, end, middle) =>
    figure.labels.queries.map(spelled).map((text, i) => {
      const style = i === figure.place.query ? "name" : "";
      return label(text, end, middle(i), { class: `end ${choice(text)} ${style}` });
    });

  // The numbers of the chosen row, or all of them; and that of the cell that is pointed at.
  /** @param {Figure} figure @param {number} k @param {MapLayout} layout @param {Along} xOf @param {Along} middle */
  const numbersInCells = (figure, k, { panels, allowed, everywhere, step }, xOf, middle) => {
    const { queries, keys } = figure.labels;
    const { query, column, panel } = figure.hover;
    const stored = figure.array(panels[k][0]);
    /** @param {number} i @param {number} j */
    const inCell = (i, j) => numberInCell(stored[i * keys.length + j], xOf(j + 0.5), middle(i), step);
    /** @param {number} i @param {number} j */
    const isWritten = (i, j) =>
      j < allowed[i] && stored[i * keys.length + j] >= 0.045 && (i === figure.place.query || everywhere);
    return [
      queries.map((_, i) => keys.map((_, j) => isWritten(i, j) && inCell(i, j))),
      group({}, panel === k && inCell(query, column)),
    ];
  };

  // A map, and on its right or, on a phone, above it something smaller: maps to choose from, or a picture.
  /** @param {number} width @param {Picture} large @param {Picture} small */
  const withSmallMaps = (width, large, small) => {
    const wide = isWide(width);
    const down = wide ? 0 : small.height + 8;
    return {
      width,
      height: wide ? Math.max(small.height, large.height) : down + large.height,
      marks: [
        group({ transform: `translate(0 ${down})` }, large.marks),
        group({ transform: `translate(${wide ? width - small.width : 0} 0)` }, small.marks),
      ],
    };
  };

  return { cells, stamp, goldFrame, allowedKeys, goldName, heatMaps, withSmallMaps };
})();
