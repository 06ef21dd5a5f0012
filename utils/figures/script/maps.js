// Heat maps of queries by keys, which several kinds draw.

// How many keys each query may look at, always the first ones.
const allowedKeys = (figure, numberOf) => {
  const { queries, keys } = figure.labels;
  const allowed = queries.map((_, i) => Math.min(numberOf(i), keys.length));
  return { allowed, hatched: allowed.some((number) => number < keys.length) };
};

const joined = (signs) => signs.filter(Boolean).join(", ");

// What the dashed frames are called.
const goldName = ({ labels }) => labels.gold[0];

// One map, or two: side by side or, on a phone, one above the other. `legend` has a text for each sign, and `longest`
// those of the state with the longest texts. `beside` gives the room on both sides if more than the names of the rows
// stands there; `more` draws what a kind adds to a map.
const heatMaps = (figure, width, { panels, masked, legend, longest, row, everywhere, beside, more }) => {
  const { queries, keys } = figure.labels;
  const side = isWide(width) && panels.length === 2;
  const gap = side ? 28 : 0;
  const { left, aside } = beside ?? { left: Math.max(BOLD * widest(queries.map(spelled)) + 12, 44), aside: 8 };
  const across = side ? (width - left - aside - gap) / 2 : width - left - aside;
  const step = across / keys.length;
  const heading = 19;
  const base = heading + queries.length * row;
  // The legend stands beside the first title or, where there is no room, below the maps. So does that of a single map
  // if its longest form leaves no room for the scale.
  const taken = panels.length === 1 ? 104 : BOLD * textWidth(panels[0][1]) + 48;
  const outside = beside || textWidth(joined(longest)) + taken > across;
  const onOneLine = textWidth(joined(longest)) <= width - left;
  const below = onOneLine ? [joined(legend)] : legend.filter(Boolean);
  const lines = onOneLine ? 1 : longest.filter(Boolean).length;
  const layout = {
    ...{ ...masked, panels, side, gap, left, aside, across, step, row, heading, base, everywhere, beside, more },
    legend: outside ? "" : joined(legend),
  };
  const high = base + 6;
  const height = (side ? 1 : panels.length) * high + labelsHeight(keys, step) + 6;
  return {
    width,
    height: outside ? height + 16 * lines - 2 : height,
    marks: [
      panels.map((_, k) => group({ transform: `translate(0 ${side ? 0 : k * high})` }, heatMap(figure, layout, k))),
      outside && below.map((text, k) => label(text, left, height + 8 + 16 * k, { class: "quiet" })),
    ],
  };
};

const heatMap = (figure, layout, k) => {
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
  const xOf = (j) => first + j * step;
  const yOf = (i) => heading + i * row;
  const middle = (i) => yOf(i + 0.5) + 4;
  const frame = (is, at) =>
    is && goldFrame(xOf(at % keys.length), yOf(Math.floor(at / keys.length)), step, row, numbers[at]);
  return [
    mapHeading(layout, k, first),
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
const mapHeading = ({ panels, legend }, k, left) => {
  const title = panels[k][1];
  if (!title) return label(legend, left, 14, { class: "quiet" });
  return [
    label(k ? "" : legend, left + BOLD * textWidth(title) + 12, 14, { class: "quiet" }),
    label(title, left, 14, { class: "name" }),
  ];
};

const rowNames = (figure, end, middle) =>
  figure.labels.queries.map(spelled).map((text, i) => {
    const style = i === figure.place.query ? "name" : "";
    return label(text, end, middle(i), { class: `end ${choice(text)} ${style}` });
  });

// The numbers of the chosen row, or all of them; and that of the cell that is pointed at.
const numbersInCells = (figure, k, { panels, allowed, everywhere, step }, xOf, middle) => {
  const { queries, keys } = figure.labels;
  const { query, column, panel } = figure.hover;
  const stored = figure.array(panels[k][0]);
  const inCell = (i, j) => numberInCell(stored[i * keys.length + j], xOf(j + 0.5), middle(i), step);
  const isWritten = (i, j) =>
    j < allowed[i] &&
    stored[i * keys.length + j] >= 0.045 &&
    (i === figure.place.query || everywhere);
  return [
    queries.map((_, i) => keys.map((_, j) => isWritten(i, j) && inCell(i, j))),
    group({}, panel === k && inCell(query, column)),
  ];
};

// A map, and on its right or, on a phone, above it something smaller: maps to choose from, or a picture.
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
