// Distributions as bars, row under row over the same labels. Where the forbidden bars begin stands a dashed line
// through all rows, which can be dragged.

kinds.bars = {
  draw: (figure, width) => (figure.options.cut ? barsWithCut(figure, width) : barsInRows(figure, width)),
};

const barsInRows = (figure, width) => {
  const { panels, edge } = figure.options;
  const { bars: labels } = figure.labels;
  const layout = rowsLayout(figure, width);
  const { left, step, bottom } = layout;
  return {
    width,
    height: bottom + labelsHeight(labels, step) + 4,
    marks: [
      // The line lies behind the bars and their numbers.
      edge && edgeLine(layout),
      panels.map((_, k) => barRow(figure, k, layout)),
      figure.has("given") && scoreRow(figure.array("given"), layout),
      columnLabels(labels, left, step, bottom),
      edge && edgeGrip(figure, layout),
    ],
  };
};

// `bases` are the lower ends of the rows, and at `edgeX` begins what is forbidden.
const rowsLayout = (figure, width) => {
  const { panels, edge } = figure.options;
  const { bars: labels, verdicts = [] } = figure.labels;
  const wide = isWide(width);
  const several = panels.length > 1;
  // Of several rows, name and verdict stand beside each on a desk, and above each on a phone.
  const beside = several && wide;
  const names = BOLD * widest(panels.map(([, title]) => title));
  const left = beside ? names + 14 : several ? 12 : 30;
  const aside = beside && verdicts.length ? 28 + BOLD * widest(verdicts) : 14;
  const step = Math.min(110, (width - left - aside) / labels.length);
  const right = left + labels.length * step;
  const tall = several ? (wide ? 52 : 34) : wide ? 130 : 92;
  const pitch = tall + (beside ? 8 : several ? 18 : 44);
  const head = figure.has("given") ? (wide ? 24 : 38) : 0;
  const top = (edge ? 26 : 0) + head;
  const bases = panels.map((_, k) => top + (k + 1) * pitch);
  const allowed = edge ? figure.controls[edge].values[figure.place[edge]] : Infinity;
  const edgeX = left + allowed * step;
  return { width, wide, several, beside, left, right, step, tall, pitch, bases, bottom: bases.at(-1), allowed, edgeX };
};

const edgeLine = ({ beside, tall, bases, edgeX }) => {
  const course = bases.map((base, k) => `M${round(edgeX)},${k || !beside ? base - tall - 2 : 20}V${base}`);
  return path(course.join(""), { class: "edge" });
};

// One distribution: its name, what is forbidden, its bars, what is odd about them, and the verdict.
const barRow = (figure, k, layout) => {
  const { several, beside, left, right, tall, pitch, allowed, edgeX } = layout;
  const { panels, edge } = figure.options;
  const { bars: labels, verdicts = [], written = [] } = figure.labels;
  const [array, title] = panels[k];
  const base = layout.bases[k];
  const nameY = beside ? base - tall / 2 + 4 : base - pitch + 13;
  const verdict = verdicts.length ? figure.array("verdict")[k] : 0;
  // Between two values of a line a bar is not half forbidden.
  const numbers = edge ? figure.blend(array, figure.array(array)) : figure.drawn(array);
  // Weights that could not be computed are no zeros.
  const row = { ...layout, base, zeros: !verdict };
  const text = written.length && written[figure.array("written")[k]];
  return group(
    {},
    allowed < labels.length && hatch(edgeX, base - tall, right - edgeX, tall),
    label(title, beside ? left - 8 : left, nameY, { class: beside ? "end name" : "name" }),
    several ? line(left, base, right, base, { class: "grid" }) : weightAxis(left, right, base, tall),
    rowBars(numbers, figure.array(array), row),
    Math.max(...numbers) === 0 && (verdict || allowed === 0) && noBars(verdict, row),
    text && allowed < labels.length && overwritten(text, Math.max(...numbers.slice(allowed)), row),
    verdicts.length && rowVerdict(verdicts, verdict, nameY, layout),
  );
};

// The bars of a row use its whole height, so the number of a high one stands in it.
const rowBars = (numbers, values, { left, step, base, tall, allowed, zeros }) =>
  [...numbers].map((number, j) => {
    const height = number * tall;
    const value = values[j];
    const x = left + (j + 0.5) * step;
    const inside = height > tall - 18;
    const forbidden = j >= allowed;
    const style = forbidden ? "weight forbidden" : "weight";
    return group(
      {},
      rect(x - step * 0.36, base - height, step * 0.72, height, { rx: 2, class: style }),
      (value >= 0.045 || (zeros && !forbidden)) &&
        (inside
          ? label(fitted(value.toFixed(2), step) ?? "", x, base - height + 13, {
              class: forbidden ? "middle number" : "middle number inverse",
            })
          : numberAbove(value.toFixed(2), x, base - height - 5, step)),
    );
  });

// What a row writes over its forbidden scores, once for all. High bars leave it only the room before the line.
const overwritten = (text, highest, { edgeX, right, base, tall, wide }) => {
  const room = textWidth(text, 12);
  const forbidden = right - edgeX;
  if (highest * tall > tall - 28) return label(`${text} →`, edgeX - 6, base - 6, { class: "end number" });
  return (
    room < forbidden + 12 &&
    label(text, edgeX + Math.max(forbidden / 2, 2 + room / 2), base - tall + (wide ? 14 : 11.5), {
      class: wide ? "middle halo" : "middle number halo",
    })
  );
};

const noBars = (verdict, { left, right, base, edgeX }) => {
  const end = edgeX > left + 80 ? Math.min(edgeX, right) : right;
  return label(verdict ? "no weights" : "all 0", (left + end) / 2, base - 6, { class: "middle halo" });
};

const rowVerdict = (verdicts, verdict, y, { beside, right }) => {
  const x = beside ? right + 24 : right - BOLD * widest(verdicts);
  return [(verdict ? cross : tick)(x - 11, y - 4), label(verdicts[verdict], x, y, { class: verdict ? "name" : "" })];
};

// A score in little room: a large one as a factor and a power of ten.
const shortScore = (number, digits) => {
  if (Math.abs(number) < 999.995) return number ? signed(number, 2) : "0";
  const [factor, power] = number.toExponential(digits).split("e+");
  return `${signed(+factor, digits)}·10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
};

// The scores above all rows; neighbours that are equal are written once.
const scoreRow = (scores, { left, step, wide }) => {
  const starts = [...scores.keys()].filter((j) => !j || scores[j] !== scores[j - 1]);
  return [
    label("scores", wide ? left - 8 : left, wide ? 42 : 39, { class: wide ? "end name" : "name" }),
    starts.map((j, k) => {
      const count = (starts[k + 1] ?? scores.length) - j;
      return label(
        `${shortScore(scores[j], wide || count > 1 ? 1 : 0)}${count > 1 ? " each" : ""}`,
        left + (j + count / 2) * step,
        wide ? 42 : 57,
        { class: "middle number" },
      );
    }),
  ];
};

const edgeGrip = (figure, { width, wide, left, right, step, bottom, allowed }) => {
  const { edge } = figure.options;
  const { length: count } = figure.labels.bars;
  const text = gripText(edge, figure.controls[edge].labels[figure.place[edge]], wide);
  const half = gripHalf(text);
  const x = Math.min(Math.max(left + figure.position(edge) * step, half), width - half);
  const sides = [allowed > 0 && "allowed", allowed < count && "forbidden"];
  const both = `${allowed} allowed, ${count - allowed} forbidden`;
  const ends = Array.from({ length: count + 1 }, (_, at) => left + (at * (right - left)) / count);
  const follow = (at) => among(at, ends);
  return [
    grip(x, 0, text),
    besideGrip(sides, both, x, half, width, 15),
    gripMoved(figure, edge, { x, y: 0, text }, follow, [left - 12, -8, right - left + 24, bottom + 8]),
  ];
};

// What a grip says: on a desk also the name of its control.
const gripText = (name, text, wide) => (wide ? `${titled(name)} ${text}` : text);

// The words on both sides of a grip; where one has no room, the other side says both.
const besideGrip = (texts, both, middle, half, width, y) => {
  const rooms = [middle - half - 6, width - middle - half - 6];
  const fits = texts.map((text, k) => !text || textWidth(text) < rooms[k]);
  const clear = fits.every(Boolean);
  return texts.map(
    (text, k) =>
      text && fits[k] && label(clear ? text : both, middle + (k ? half + 6 : -half - 6), y, { class: k ? "" : "end" }),
  );
};

// A single row of probabilities, of which an axis leaves out the last. Above the bars all of them lie end to end, with
// the grip at the sum up to which they are kept. `rest` says what the last one is, if it stands for many: it has no
// bar.
const barsWithCut = (figure, width) => {
  const { cut, compare } = figure.options;
  const { bars: labels } = figure.labels;
  const layout = cutLayout(figure, width);
  const { wide, left, right, step, sums, base, others } = layout;
  const dots = dotsBelow(figure, base + labelsHeight(labels, step) + 4, layout);
  return {
    width,
    height: dots.bottom,
    marks: [
      sentenceStart(figure, layout),
      sumStrip(figure, layout),
      cutGrip(figure, layout),
      label("all probabilities end to end, from 0 to 1", sums.left, sums.top + 39, { class: "quiet" }),
      others.length &&
        label(`dashed bars: ${titled(compare[0])} ${compare[1]}`, right, sums.top + (wide ? 39 : 57), {
          class: "end quiet",
        }),
      cutAxis(layout),
      keptBars(figure, layout),
      columnLabels(labels, left, step, base),
      gripMoved(figure, cut, layout.grip, layout.follow, [0, 20, width, 66]),
      dots.marks,
    ],
  };
};

// `sums` is where all probabilities lie end to end; the bars of the first `columns` stand below. `kept` are the
// probabilities with the cut, `whole` those without it, and `others` those at the value that the figure compares with.
const cutLayout = (figure, width) => {
  const { panels, cut, rest } = figure.options;
  const [[array]] = panels;
  const { bars: labels } = figure.labels;
  const { values, labels: titles } = figure.controls[cut];
  const wide = isWide(width);
  const left = 30;
  const step = Math.min(110, (width - left - 14) / labels.length);
  const columns = labels.length - (rest ? 1 : 0);
  const texts = titles.map((title) => gripText(cut, title, wide));
  const sums = { left: 1, top: 58, width: width - 2 - gripHalf(longest(texts)) };
  const x = sums.left + sums.width * placeAt(values, figure.position(cut));
  const tall = wide ? 130 : 92;
  const all = values.map((_, k) => figure.arrayAt(array, { ...figure.place, [cut]: k }));
  // The axis is the same for all values of the cut, so that bars grow when others are left out. With another setting
  // its lines move to new places.
  const [most] = figure.blend("=axis", [roundTop(all.flatMap((row) => [...row.slice(0, columns)]))]);
  return {
    width,
    wide,
    left,
    right: left + columns * step,
    step,
    columns,
    sums,
    grip: { x, y: 28, text: texts[figure.place[cut]] },
    follow: (at) => among((at - sums.left) / sums.width, values),
    base: sums.top + (wide ? 64 : 74) + tall,
    most,
    unit: tall / most,
    kept: figure.array(array),
    others: figure.compared(array) ?? [],
    whole: all.at(-1),
    newest: figure.has("newest") ? figure.array("newest")[0] : -1,
  };
};

// The word that was drawn last goes on with the sentence.
const sentenceStart = (figure, { width, wide, columns, newest }) => {
  const [[, title]] = figure.options.panels;
  const word = newest < columns ? figure.labels.bars[newest] : "(another word)";
  const text = newest < 0 ? title : title.replace("…", word);
  return label(lastWords(text, width - 110, wide ? 18 : 13), 0, 16, { class: wide ? "big" : "name" });
};

// The end of a sentence, as much of it as there is room for.
const lastWords = (text, room, size) => {
  const words = text.split(" ");
  const fits = words.findIndex((_, k) => BOLD * textWidth(`${k ? "… " : ""}${words.slice(k).join(" ")}`, size) <= room);
  return fits > 0 ? `… ${words.slice(fits).join(" ")}` : text;
};

// All probabilities end to end, from 0 to 1. What is kept is filled, what is left out has an outline. The last one may
// be filled in part, if it stands for many.
const sumStrip = (figure, { sums, columns, kept, whole, newest }) => {
  const { left, width, top } = sums;
  const { rest } = figure.options;
  const names = figure.labels.bars.map((name, j) => (j < columns ? [name] : [rest, name]));
  const keptOfWhole = kept.map((number) => (number * whole[0]) / kept[0]);
  const parts = figure.blend("=kept", keptOfWhole);
  let from = 0;
  return [...figure.blend("=sums", whole)].map((share, j) => {
    const x = left + from * width;
    const wide = share * width - 1;
    const filled = parts[j] * width - 1;
    const room = filled > 0 ? filled : wide;
    const name = names[j].find((text) => textWidth(text) < room - 6);
    from += share;
    return group(
      {},
      filled < wide - 1 &&
        rect(x + Math.max(filled, 0.5), top + 0.5, wide - Math.max(filled, 0.5), 21, { class: "grid" }),
      filled > 0 && rect(x, top, filled, 22, { class: j === newest ? "newest" : "chance" }),
      name && label(name, x + room / 2, top + 15.5, { class: j === newest ? "middle inverse" : "middle" }),
    );
  });
};

// The grip on the strip of sums, and beside it why the cut is there: where there is more room, as long as it fits.
const cutGrip = (figure, { width, wide, columns, sums, grip: { x, y, text }, kept }) => {
  const { bars: labels } = figure.labels;
  const { cut } = figure.options;
  const last = kept.findLastIndex((number) => number > 0);
  const why = last < columns ? `with “${labels[last]}”` : `with the ${labels[last]}`;
  const full = `${why} the sum reaches ${figure.controls[cut].labels[figure.place[cut]]}`;
  const brief = `reached ${why}`;
  const half = gripHalf(text);
  const rooms = [width - x, x].map((room) => room - half - 8);
  const before = rooms[1] > rooms[0] && rooms[0] < textWidth(wide ? full : brief);
  const reason = [full, brief].find((form) => textWidth(form) < rooms[+before]) ?? why;
  return [
    line(x, 50, x, sums.top + 25, { class: "rule" }),
    grip(x, y, text),
    label(reason, x + (before ? -half - 6 : half + 6), y + 15, { class: before ? "end" : "" }),
  ];
};

const cutAxis = ({ width, left, base, most, unit }) => {
  const fits = (tick) => !tick || (tick >= 0.2 * most && tick <= 1.001 * most);
  return weightAxis(left, width - 14, base, unit, [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].filter(fits));
};

// The bars of what is kept and their numbers, the bar of the word that was drawn last, and dashed the bars of the value
// that the figure compares with.
const keptBars = (figure, { left, right, step, columns, base, unit, kept, others, newest }) => {
  const { panels, rest } = figure.options;
  const [[array]] = panels;
  const numbers = [...figure.blend(array, kept).slice(0, columns)];
  const digits = step < 44 ? 2 : 3;
  const bar = (number, j, style) =>
    rect(left + (j + 0.14) * step, base - number * unit, step * 0.72, number * unit, { class: style, rx: 2 });
  const outlines = [...others.slice(0, columns)].map((number, j) => bar(number, j, "outline"));
  const above = (j, x, height) => numberAbove(kept[j].toFixed(digits), x, base - height - 5, step);
  return [
    numbers.map((number, j) =>
      group(
        {},
        bar(number, j, "chance"),
        +kept[j].toFixed(digits) > 0 && above(j, left + (j + 0.5) * step, number * unit),
      ),
    ),
    newest >= 0 && newest < columns && bar(numbers[newest], newest, "newest"),
    group({}, outlines),
    rest && kept[columns] > 0 && above(columns, right + step / 2, 0),
  ];
};

// With draws, below the words a dot for each, and the button that draws.
const dotsBelow = (figure, under, { width, left, step, newest }) => {
  if (!figure.has("drawn")) return { bottom: under, marks: [] };
  const [count] = figure.options.draws;
  const top = under + (count ? 24 : 0);
  // The picture has room for the most dots that a label ever gets, so that its height stays.
  const size = step < 30 ? 6 : 8;
  const perRow = Math.max(1, Math.floor((0.9 * step) / size));
  const rows = Math.ceil(Math.max(...figure.allOf("drawn")) / perRow);
  const dots = [...figure.array("drawn")].map((times, j) =>
    Array.from({ length: times }, (_, i) =>
      circle(
        left + (j + 0.5) * step + ((i % perRow) - (Math.min(times, perRow) - 1) / 2) * size,
        top + 2 + (Math.floor(i / perRow) + 0.5) * size,
        size / 2 - (j === newest && i === times - 1 ? 0 : 1),
        { class: "tally" },
      ),
    ),
  );
  return {
    bottom: top + 6 + rows * size,
    marks: [
      count && dotsKey(figure.place[count], newest, under),
      group({}, dots),
      count && nextDrawButton(figure, width - 1),
    ],
  };
};

// What the dots mean.
const dotsKey = (number, newest, top) => {
  if (!number) return label("nothing drawn yet", 0, top + 16, { class: "quiet" });
  return [
    circle(6, top + 12, 5, { class: "tally" }),
    label("a draw", 16, top + 16),
    newest >= 0 && [rect(72, top + 6, 12, 12, { rx: 2, class: "newest" }), label("the last draw", 90, top + 16)],
  ];
};

// The button for the next draw; after the last one it begins anew, with the next set of draws.
const nextDrawButton = (figure, right) => {
  const [count, set] = figure.options.draws;
  const number = figure.place[count];
  const ended = number === figure.controls[count].values.length - 1;
  return button(ended ? "draw anew" : "draw a word", right, 1, {
    [count]: ended ? 1 : number + 1,
    ...(set && { [set]: (figure.place[set] + ended) % figure.controls[set].values.length }),
  });
};
