// The probabilities of the next word, of which top-p leaves out the last. Above the bars all of them lie end to end,
// with the grip at the sum up to which they are kept; below them stand the words that were drawn. The last label stands
// for many words: it has no bar.
kinds.next_word = {
  draw(figure, width) {
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
        others.length && label("dashed bars: top-p 1", right, sums.top + (wide ? 39 : 57), { class: "end quiet" }),
        cutAxis(layout),
        keptBars(figure, layout),
        columnLabels(labels, left, step, base),
        gripMoved(figure, "top_p", layout.grip, layout.follow, [0, 20, width, 66]),
        dots.marks,
      ],
    };
  },
};

// `sums` is where all probabilities lie end to end; the bars of the first `columns` stand below. `kept` are the
// probabilities that are kept, `whole` all of them, and `others` all where some are left out.
const cutLayout = (figure, width) => {
  const { bars: labels } = figure.labels;
  const { values, labels: titles } = figure.controls.top_p;
  const wide = isWide(width);
  const left = 30;
  const step = Math.min(110, (width - left - 14) / labels.length);
  const columns = labels.length - 1;
  const texts = titles.map((title) => gripText("top_p", title, wide));
  const sums = { left: 1, top: 58, width: width - 2 - gripHalf(longest(texts)) };
  const x = sums.left + sums.width * figure.value("top_p");
  const tall = wide ? 130 : 92;
  const all = values.map((_, k) => figure.arrayAt("p", { ...figure.place, top_p: k }));
  // The axis is the same for all values of top-p, so that bars grow when others are left out. With another setting
  // its lines move to new places.
  const most = roundTop(all.flatMap((row) => [...row.slice(0, columns)]));
  return {
    width,
    wide,
    left,
    right: left + columns * step,
    step,
    columns,
    sums,
    grip: { x, y: 28, text: texts[figure.place.top_p] },
    follow: (at) => among((at - sums.left) / sums.width, values),
    base: sums.top + (wide ? 64 : 74) + tall,
    most,
    unit: tall / most,
    kept: figure.array("p"),
    others: figure.value("top_p") === values.at(-1) ? [] : all.at(-1),
    whole: all.at(-1),
    newest: figure.array("newest")[0],
  };
};

// The word that was drawn last goes on with the sentence.
const sentenceStart = (figure, { width, wide, columns, newest }) => {
  const { title } = figure.options;
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
  const parts = keptOfWhole;
  let from = 0;
  return [...whole].map((share, j) => {
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
  const last = kept.findLastIndex((number) => number > 0);
  const why = last < columns ? `with “${labels[last]}”` : `with the ${labels[last]}`;
  const full = `${why} the sum reaches ${figure.controls.top_p.labels[figure.place.top_p]}`;
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

// The bars of what is kept and their numbers, the bar of the word that was drawn last, and dashed the bars of all.
const keptBars = (figure, { left, right, step, columns, base, unit, kept, others, newest }) => {
  const numbers = [...kept.slice(0, columns)];
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
    kept[columns] > 0 && above(columns, right + step / 2, 0),
  ];
};

// Below the words a dot for each draw, and the button that draws.
const dotsBelow = (figure, under, { width, left, step, newest }) => {
  const top = under + 24;
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
    marks: [dotsKey(figure.place.draws, newest, under), group({}, dots), nextDrawButton(figure, width - 1)],
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
  const { draws, set_of_draws: set } = figure.place;
  const { draws: counts, set_of_draws: sets } = figure.controls;
  const ended = draws === counts.values.length - 1;
  return button(ended ? "draw anew" : "draw a word", right, 1, {
    draws: ended ? 1 : draws + 1,
    set_of_draws: (set + ended) % sets.values.length,
  });
};
