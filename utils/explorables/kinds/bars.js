// Distributions as bars, row under row over the same labels. Where the forbidden bars begin stands a dashed line through
// all rows, which can be dragged.

// A score in little room: a large one as a factor and a power of ten.
const shortScore = (number, digits) => {
  if (Math.abs(number) < 999.995) return number ? signed(number, 2) : "0";
  const [factor, power] = number.toExponential(digits).split("e+");
  return `${signed(+factor, digits)}·10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
};

// The bars of a row use its whole height, so the number of a high one stands in it.
const rowBars = (numbers, values, { left, step, base, height, allowed, zeros }) =>
  [...numbers].map((number, j) => {
    const tall = number * height;
    const value = values[j];
    const x = left + (j + 0.5) * step;
    const inside = tall > height - 18;
    const forbidden = j >= allowed;
    return group(
      {},
      rect(x - step * 0.36, base - tall, step * 0.72, tall, {
        rx: 2,
        class: forbidden ? "weight forbidden" : "weight",
      }),
      (value >= 0.045 || (zeros && !forbidden)) &&
        (inside
          ? label(fitted(value.toFixed(2), step) ?? "", x, base - tall + 13, {
              class: forbidden ? "middle number" : "middle number inverse",
            })
          : numberAbove(value.toFixed(2), x, base - tall - 5, step)),
    );
  });

// What a row writes over its forbidden scores, once for all. High bars leave it only the room before the line.
const overwritten = (text, from, count, { left, step, base, height, wide }, highest) => {
  const x = left + from * step;
  const room = textWidth(text, 12);
  const middle = x + (count * step) / 2;
  if (highest * height > height - 28) return label(`${text} →`, x - 6, base - 6, { class: "end number" });
  return (
    room < count * step + 12 &&
    label(text, Math.max(middle, x + 2 + room / 2), base - height + (wide ? 14 : 11.5), {
      class: wide ? "middle halo" : "middle number halo",
    })
  );
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

// All probabilities end to end, from 0 to 1. What is kept is filled, what is left out has an outline. The last one may be
// filled in part, if it stands for many.
const sumStrip = (all, kept, names, { left, width, top, newest }) => {
  let from = 0;
  return [...all].map((share, j) => {
    const x = left + from * width;
    const wide = share * width - 1;
    const filled = kept[j] * width - 1;
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

// The end of a sentence, as much of it as there is room for.
const lastWords = (text, room, size) => {
  const words = text.split(" ");
  const fits = words.findIndex((_, k) => 1.08 * textWidth(`${k ? "… " : ""}${words.slice(k).join(" ")}`, size) <= room);
  return fits > 0 ? `… ${words.slice(fits).join(" ")}` : text;
};

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

kinds.bars = {
  draw(figure, width) {
    const { panels, edge, cut } = figure.options;
    const { bars: labels, verdicts = [], written = [] } = figure.labels;
    if (cut) return kinds.bars.drawCut(figure, width);
    // Of several rows, name and verdict stand beside each on a desk, and above each on a phone.
    const wide = width >= 560;
    const several = panels.length > 1;
    const beside = several && wide;
    const names = 1.08 * widest(panels.map(([, title]) => title));
    const left = beside ? names + 14 : several ? 12 : 30;
    const aside = beside && verdicts.length ? 28 + 1.08 * widest(verdicts) : 14;
    const step = Math.min(110, (width - left - aside) / labels.length);
    const right = left + labels.length * step;
    const tall = several ? (wide ? 52 : 34) : wide ? 130 : 92;
    const pitch = tall + (beside ? 8 : several ? 18 : 44);
    const given = figure.has("given") && figure.array("given");
    const head = given ? (wide ? 24 : 38) : 0;
    const top = (edge ? 26 : 0) + head;
    const bottom = top + panels.length * pitch;
    const limit = edge ? figure.controls[edge].values[figure.place[edge]] : Infinity;
    const x = left + limit * step;
    const marks = panels.map(([array, title], k) => {
      const base = top + (k + 1) * pitch;
      const verdict = verdicts.length ? figure.array("verdict")[k] : 0;
      // Between two values of a line a bar is not half forbidden.
      const numbers = edge ? figure.blend(array, figure.array(array)) : figure.drawn(array);
      const at = beside ? base - tall / 2 + 4 : base - pitch + 13;
      const end = beside ? right + 24 : right - (verdicts.length && 1.08 * widest(verdicts));
      const place = { left, step, base, height: tall, wide, allowed: limit, zeros: !verdict };
      const text = written.length && written[figure.array("written")[k]];
      return group(
        {},
        limit < labels.length && hatch(x, base - tall, right - x, tall),
        label(title, beside ? left - 8 : left, at, { class: beside ? "end name" : "name" }),
        several ? line(left, base, right, base, { class: "grid" }) : weightAxis(left, right, base, tall),
        // Weights that could not be computed are no zeros.
        rowBars(numbers, figure.array(array), place),
        Math.max(...numbers) === 0 &&
          (verdict || limit === 0) &&
          label(verdict ? "no weights" : "all 0", (left + (x > left + 80 ? Math.min(x, right) : right)) / 2, base - 6, {
            class: "middle halo",
          }),
        text &&
          limit < labels.length &&
          overwritten(text, limit, labels.length - limit, place, Math.max(...numbers.slice(limit))),
        verdicts.length && [
          (verdict ? cross : tick)(end - 11, at - 4),
          label(verdicts[verdict], end, at, { class: verdict ? "name" : "" }),
        ],
      );
    });
    const named = columnLabels(labels, left, step, bottom);
    const held = edge && `${wide ? `${titled(edge)} ` : ""}${figure.controls[edge].labels[figure.place[edge]]}`;
    const half = edge && gripHalf(held);
    const middle = edge && Math.min(Math.max(left + figure.position(edge) * step, half), width - half);
    const scores = given && scoreRow(given, { left, step, wide });
    // The line lies behind the bars and their numbers.
    const along =
      edge &&
      path(
        panels
          .map(
            (_, k) => `M${round(x)},${k || !beside ? top + (k + 1) * pitch - tall - 2 : 20}V${top + (k + 1) * pitch}`,
          )
          .join(""),
        { class: "edge" },
      );
    const follow = (at) => evenly(at, left, right, labels.length + 1);
    const handle = edge && [
      grip(middle, 0, held),
      besideGrip(
        [limit > 0 && "allowed", limit < labels.length && "forbidden"],
        `${limit} allowed, ${labels.length - limit} forbidden`,
        middle,
        half,
        width,
        15,
      ),
      dragged(
        edge,
        (at) => ({ [edge]: follow(at) }),
        rect(left - 12, -8, right - left + 24, bottom + 8, { class: "drag instead" }),
      ),
      arrows(figure, edge, middle, 0, held, follow),
    ];
    return { width, height: bottom + labelsHeight(labels, step) + 4, marks: [along, marks, scores, named, handle] };
  },

  // A single row of probabilities, of which an axis leaves out the last. Above the bars all of them lie end to end, with
  // the grip at the sum up to which they are kept. `rest` says what the last one is, if it stands for many: it has no bar.
  drawCut(figure, width) {
    const {
      panels: [[array, title]],
      cut,
      compare,
      rest,
    } = figure.options;
    const { bars: labels } = figure.labels;
    const { values, labels: titles } = figure.controls[cut];
    const wide = width >= 560;
    const left = 30;
    const step = Math.min(110, (width - left - 14) / labels.length);
    const columns = labels.length - (rest ? 1 : 0);
    const right = left + columns * step;
    const texts = titles.map((text) => `${wide ? `${titled(cut)} ` : ""}${text}`);
    const held = texts[figure.place[cut]];
    const half = gripHalf(held);
    const from = 1;
    const length = width - 2 - gripHalf(longest(texts));
    const top = 58;
    const tall = wide ? 130 : 92;
    const base = top + (wide ? 64 : 74) + tall;
    const all = values.map((_, k) => figure.arrayAt(array, { ...figure.place, [cut]: k }));
    const whole = all.at(-1);
    const now = figure.array(array);
    const numbers = figure.blend(array, now);
    const others = figure.compared(array) ?? [];
    const newest = figure.has("newest") ? figure.array("newest")[0] : -1;
    const last = now.findLastIndex((number) => number > 0);
    // The axis is the same for all values of the cut, so that bars grow when others are left out. With another setting its
    // lines move to new places.
    const [most] = figure.blend("axis", [roundTop(all.flatMap((row) => [...row.slice(0, columns)]))]);
    const height = tall / most;
    const ticks = [0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1].filter(
      (value) => !value || (value >= 0.2 * most && value <= 1.001 * most),
    );
    const shape = (number, j, style) =>
      rect(left + (j + 0.14) * step, base - number * height, step * 0.72, number * height, { class: style, rx: 2 });
    const middle = from + length * placeAt(values, figure.position(cut));
    const follow = (at) => among((at - from) / length, values);
    const why = last < columns ? `with “${labels[last]}”` : `with the ${labels[last]}`;
    const full = `${why} the sum reaches ${titles[figure.place[cut]]}`;
    const brief = `reached ${why}`;
    const rooms = [width - middle, middle].map((room) => room - half - 8);
    const before = rooms[1] > rooms[0] && rooms[0] < textWidth(wide ? full : brief);
    const digits = step < 44 ? 2 : 3;
    const marks = [
      // The word that was drawn last goes on with the sentence.
      label(
        lastWords(
          newest < 0 ? title : title.replace("…", newest < columns ? labels[newest] : "(another word)"),
          width - 110,
          wide ? 18 : 13,
        ),
        0,
        16,
        { class: wide ? "big" : "name" },
      ),
      sumStrip(
        figure.blend("sums", whole),
        figure.blend(
          "kept",
          now.map((number) => (number * whole[0]) / now[0]),
        ),
        labels.map((name, j) => (j < columns ? [name] : [rest, name])),
        { left: from, width: length, top, newest },
      ),
      line(middle, 50, middle, top + 25, { class: "rule" }),
      grip(middle, 28, held),
      label(
        [full, brief].find((text) => textWidth(text) < rooms[+before]) ?? why,
        middle + (before ? -half - 6 : half + 6),
        43,
        { class: before ? "end" : "" },
      ),
      label("all probabilities end to end, from 0 to 1", from, top + 39, { class: "quiet" }),
      others.length &&
        label(`dashed: ${titled(compare[0])} ${compare[1]}`, right, top + (wide ? 39 : 57), { class: "end quiet" }),
      ticks.map((value) => weightAxis(left, width - 14, base, height, [value])),
      [...numbers.slice(0, columns)].map((number, j) =>
        group(
          {},
          shape(number, j, "chance"),
          +now[j].toFixed(digits) > 0 &&
            numberAbove(now[j].toFixed(digits), left + (j + 0.5) * step, base - number * height - 5, step),
        ),
      ),
      newest >= 0 && newest < columns && shape(numbers[newest], newest, "newest"),
      group(
        {},
        [...others.slice(0, columns)].map((number, j) => shape(number, j, "outline")),
      ),
      rest && now[columns] > 0 && numberAbove(now[columns].toFixed(digits), right + step / 2, base - 5, step),
      columnLabels(labels, left, step, base),
      dragged(cut, (at) => ({ [cut]: follow(at) }), rect(0, 20, width, 66, { class: "drag instead" })),
      arrows(figure, cut, middle, 28, held, follow),
    ];
    return kinds.bars.withDots(figure, {
      width,
      step,
      left,
      newest,
      marks,
      under: base + labelsHeight(labels, step) + 4,
    });
  },

  // With draws, below the words a dot for each, and the button that draws.
  withDots(figure, { width, step, left, under, newest, marks }) {
    if (!figure.has("drawn")) return { width, height: under, marks };
    const [count, set] = figure.options.draws;
    const row = count ? 24 : 0;
    const number = count && figure.place[count];
    const ended = count && number === figure.controls[count].values.length - 1;
    // The picture has room for the most dots that a label ever gets, so that its height stays.
    const size = step < 30 ? 6 : 8;
    const perRow = Math.max(1, Math.floor((0.9 * step) / size));
    const rows = Math.ceil(Math.max(...figure.allOf("drawn")) / perRow);
    const dots = [...figure.array("drawn")].map((times, j) =>
      Array.from({ length: times }, (_, i) =>
        circle(
          left + (j + 0.5) * step + ((i % perRow) - (Math.min(times, perRow) - 1) / 2) * size,
          under + row + 2 + (Math.floor(i / perRow) + 0.5) * size,
          size / 2 - (j === newest && i === times - 1 ? 0 : 1),
          { class: "tally" },
        ),
      ),
    );
    const key =
      count &&
      (number
        ? [
            circle(6, under + 12, 5, { class: "tally" }),
            label("a draw", 16, under + 16),
            newest >= 0 && [
              rect(72, under + 6, 12, 12, { rx: 2, class: "newest" }),
              label("the last draw", 90, under + 16),
            ],
          ]
        : label("nothing drawn yet", 0, under + 16, { class: "quiet" }));
    const another =
      count &&
      button(ended ? "draw anew" : "draw a word", width - 1, 1, {
        [count]: ended ? 1 : number + 1,
        ...(set && { [set]: (figure.place[set] + ended) % figure.controls[set].values.length }),
      });
    return { width, height: under + row + 6 + rows * size, marks: [marks, key, group({}, dots), another] };
  },
};
