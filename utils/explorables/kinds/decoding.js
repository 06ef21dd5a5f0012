// One step of decoding in five panels: scores, weights, context, next state, next word. In a page a panel has a question
// mark until its stage comes; then its marks grow out of those of the panel before.
kinds.decoding = {
  glide: 600,
  // What the button "next" chooses: the next stage, and after the last one the first stage of the next word.
  next({ settled: { word, stage }, controls }) {
    const following = (name, at) => (at + 1) % controls[name].values.length;
    const to = following("stage", stage);
    return { stage: to, word: to ? word : following("word", word) };
  },
  draw(figure, width) {
    const { source, target, candidates } = figure.labels;
    const chosen = figure.place.word;
    const stage = figure.place.stage;
    const stages = figure.controls.stage.labels;
    const reached = (k) => stage >= k;
    // Of each panel how much of it is there: between 0 and 1 on the way to its stage; a step back empties it at once.
    const shown = figure
      .blend(
        "shown",
        stages.map((_, k) => +reached(k)),
      )
      .map((share, k) => (reached(k) ? share : 0));
    const numBest = candidates.length / target.length;
    const wide = width >= 600;
    const listed = wide ? numBest : Math.min(4, numBest);
    const row = wide ? 21 : 17;
    const rise = wide ? (source.length * row) / listed : row;
    const counted = `${figure.shape("queries")[1]} of ${figure.options.state_size} numbers`;
    const { marks: sentence, bottom, slots } = writtenSentence(figure, target, chosen, shown[4] === 1, width);
    const top = bottom + 42;
    const rows = source.map((_, j) => top + 30 + row * (j + 0.5));
    const end = rows.at(-1) + row / 2;
    const words = Math.max(8 + widest(source.map(spelled)), 54);
    const scored = words + 6;
    // Left, top, width and height of the five panels: one row on a desk, three rows on a phone.
    const boxes = wide
      ? spreadBoxes(scored, width, top, end + 52 - top)
      : stackedBoxes(scored, width, top, end, listed);
    const high = Math.max(...boxes.map(([, y, , h]) => y + h)) + 2;
    // The way of the next state back to the query, and on a phone also from the third panel to the fourth.
    const [state, average] = [boxes[3], boxes[2]];
    const turn = state[0] + state[2] * (wide ? 0.5 : 0.75);
    const height = bottom + 20;
    const arrived = scored + 8 + 7 * figure.shape("queries")[1];
    const named = (arrived + turn - textWidth("next query")) / 2;
    const back =
      reached(3) &&
      chosen < target.length - 1 &&
      (wide
        ? [
            path(
              `M${round(turn)},${top - 4}V${height}H${round(named + textWidth("next query") + 8)}M${round(named - 6)},${height}H${round(arrived + 6)}`,
              { class: "way" },
            ),
            path(`M${round(arrived)},${height}l8,-5v10z`, { class: "arrow" }),
            label("next query", named, height + 4, { class: "quiet" }),
          ]
        : [
            path(`M3,${boxes[3][1]}V${height}H${round(words - textWidth("query") - 12)}`, { class: "way" }),
            path(`M${round(words - textWidth("query") - 13)},${height - 5}l8,5l-8,5z`, { class: "arrow" }),
            label("next query", 6, end + 32, { class: "quiet" }),
          ]);
    // From the most probable word to its place in the sentence, if that is its last line.
    const [writer, slot] = [boxes[4], slots[chosen]];
    const out = writer[0] + 20;
    const shelf = bottom + 2;
    const right = candidates[chosen * numBest] === target[chosen];
    const writes = reached(4) &&
      wide &&
      right &&
      slot[1] === slots.at(-1)[1] && [
        path(`M${round(out)},${top - 4}V${shelf}H${round(slot[0] + slot[2] / 2)}V${bottom - 3}`, { class: "way" }),
        path(`M${round(slot[0] + slot[2] / 2 - 5)},${bottom - 1}l5,-7l5,7z`, { class: "arrow" }),
      ];
    const down = !wide && [
      path(`M${round(average[0])},${end + 28}H${round(turn)}V${end + 40}`, { class: "way" }),
      path(`M${round(turn - 5)},${end + 38}h10l-5,7z`, { class: "arrow" }),
    ];
    const contents = [this.scores, this.weights, this.average, this.state, this.words];
    const layout = { boxes, rows, end, chosen, numBest, listed, row, rise };
    const between = (from, to) => from + shown[4] * (to - from);
    return {
      width,
      height: high,
      marks: [
        sentence,
        label("query", words, bottom + 24, { class: "end name" }),
        strip(
          figure.chosen("queries", "word"),
          scored + 4,
          7,
          bottom + 20,
          12,
          largest(figure, "queries", "states"),
          "query",
        ),
        path(`M${scored + 40},${bottom + 34}h10l-5,6z`, { class: "query" }),
        label(counted, width, bottom + 24, { class: "end quiet" }),
        group({}, back, down, writes),
        source.map((word, j) => label(spelled(word), words, rows[j] + 4, { class: "end" })),
        boxes.map(([x, y, w, h], k) => {
          const frame = { rx: 5, class: k === stage ? "now" : "grid" };
          const arrow =
            boxes[k + 1]?.[1] === y &&
            path(`M${round(x + w + 3.5)},${round(k === 2 && reached(3) ? end + 12 : y + 6)}l6,6l-6,6z`, {
              class: "arrow",
            });
          return [
            rect(x, y, w, h, frame),
            arrow,
            label(`${k + 1} ${stages[k]}`, x + 7, y + 16, { class: k <= stage ? "name" : "name quiet" }),
            group(
              { opacity: round(reached(k) ? shown[k] : 1), class: reached(k) ? "" : "later" },
              contents[k](figure, reached(k) ? shown[k] : 1, layout),
            ),
            group(
              { class: "unknown" },
              !reached(k) && label("?", x + w / 2, y + h / 2 + 10, { class: "middle big quiet" }),
            ),
            rect(x, y, w, h, picks({ stage: k }, true)),
          ];
        }),
        // The word on its way to its place in the sentence.
        group(
          {},
          right &&
            shown[4] > 0 &&
            shown[4] < 1 &&
            label(
              target[chosen],
              between(out, slot[0] + slot[2] / 2),
              between(writer[1] + 30 + rise / 2, slot[1] + 16),
              { class: "middle name halo" },
            ),
        ),
      ],
    };
  },

  scores(figure, share, { boxes: [[x, , width]], rows, end }) {
    const all = figure.allOf("scores");
    const low = Math.min(0, ...all);
    const high = Math.max(0, ...all);
    const room = width - 44;
    const zero = x + 38 - (low * room) / (high - low || 1);
    return [
      line(zero, rows[0] - 9, zero, end - 2, { class: "grid" }),
      [...figure.chosen("scores", "word")].map((score, j) => {
        const reach = (share * score * room) / (high - low || 1);
        return [
          rect(Math.min(zero, zero + reach), rows[j] - 5.5, Math.abs(reach), 11, { class: "score" }),
          label(signed(score, 1), x + 34, rows[j] + 4, { class: "end" }),
        ];
      }),
    ];
  },

  // The bars of the scores move over and become those of the weights.
  weights(figure, share, { boxes: [[before], [x, , width]], rows }) {
    const scores = figure.chosen("scores", "word");
    const room = width - 44;
    const unit = room / (Math.max(...scores.map(Math.abs)) || 1);
    return [...figure.chosen("weights", "word")].map((weight, j) => [
      rect(x + 38, rows[j] - 6, room, 12, { class: "grid" }),
      rect(
        x + 38 - (1 - share) * (x - before),
        rows[j] - 6,
        share * room * weight + (1 - share) * unit * Math.max(0, scores[j]),
        12,
        { class: "weight" },
      ),
      label(weight.toFixed(2), x + 33, rows[j] + 4, { class: "end" }),
    ]);
  },

  // Each value times its weight, and under the line their sum, all in one scale.
  average(figure, share, { boxes: [, , [x, , width]], rows, end, chosen, row }) {
    const contexts = figure.chosen("contexts", "word");
    const size = contexts.length;
    const step = (width - 12) / size;
    const parts = figure.drawn("parts");
    const most = largest(figure, "parts", "contexts");
    const first = chosen * rows.length * size;
    return [
      // Behind each value a ground that is as strong as its weight.
      [...figure.chosen("weights", "word")].map((weight, j) =>
        rect(x + 2, rows[j] - row / 2 + 1, share * (width - 4), row - 2, {
          class: "weight",
          "fill-opacity": round(0.45 * weight),
        }),
      ),
      rows.map((y, j) =>
        strip(parts.slice(first + j * size, first + (j + 1) * size), x + 6, step, y, 9.5 * share, most, "value"),
      ),
      line(x + 4, end + 1, x + width - 4, end + 1, { class: "rule" }),
      // The sum comes down from the rows.
      strip(contexts, x + 6, step, rows[0] + share * (end + 18 - rows[0]), 9.5 * share, most, "context"),
      label("context", x + width / 2, end + 41, { class: "middle name" }),
    ];
  },

  // The old state becomes the new one.
  state(figure, share, { boxes: [, , , [x, y, width, height]] }) {
    const before = figure.chosen("queries", "word");
    const after = figure.chosen("states", "word");
    const step = (width - 16) / before.length;
    const middle = y + (height + 6) / 2;
    const tall = Math.min(60, (height - 52) / 2);
    const most = largest(figure, "queries", "states");
    return [
      strip(before, x + 8, step, middle, tall, most, "trace"),
      strip(
        after.map((number, i) => before[i] + share * (number - before[i])),
        x + 8,
        step,
        middle,
        tall,
        most,
        "query",
        0.5,
      ),
      label("grey: before", x + 8, y + height - 8, { class: "quiet" }),
    ];
  },

  words(figure, share, { boxes: [, , , , [x, y, width]], chosen, numBest, listed, rise }) {
    const { candidates, target } = figure.labels;
    const named = widest(candidates.slice(chosen * numBest, chosen * numBest + listed).map(spelled));
    const room = width - 64 - named;
    return [...figure.chosen("probabilities", "word").slice(0, listed)].map((probability, k) => {
      const word = candidates[chosen * numBest + k];
      const at = y + 30 + rise * (k + 0.5);
      return [
        room > 20 && rect(x + 14 + named, at - 8, room, 14, { class: "grid" }),
        room > 20 && rect(x + 14 + named, at - 8, share * room * probability, 14, { class: "chance", rx: 2 }),
        label(spelled(word), x + 8, at + 3, { class: word === target[chosen] ? "name" : "" }),
        label(probability < 0.0005 ? "< 0.1%" : percent(probability, 1), x + width - 6, at + 3, { class: "end" }),
      ];
    });
  },
};

const largest = (figure, ...arrays) =>
  Math.max(...arrays.map((key) => figure.allOf(key).reduce((most, number) => Math.max(most, Math.abs(number)), 0))) ||
  1;

// Numbers as small bars, up or down from a line.
const strip = (numbers, left, step, middle, tall, most, role, share = 0.8) => [
  line(left, middle, left + step * numbers.length, middle, { class: "grid" }),
  [...numbers].map((number, k) => {
    const reach = (Math.abs(number) * tall) / most;
    return rect(left + step * (k + (1 - share) / 2), number > 0 ? middle - reach : middle, step * share, reach, {
      class: role,
    });
  }),
];

// The words in as many lines as they take, those to come paler, a frame around the one that is being written.
const writtenSentence = (figure, target, chosen, done, width) => {
  let x = 1;
  let y = 1;
  const slots = target.map((word) => {
    const room = Math.max(25, textWidth(word) + 12);
    if (x > 1 && x + room > width - 1) {
      x = 1;
      y += 27;
    }
    x += room;
    return [x - room, y, room];
  });
  const marks = slots.map(([left, above, room], i) => [
    i === chosen && rect(left, above, room, 24, { class: figure.frame("word"), rx: 4 }),
    label(target[i], left + room / 2, above + 16, {
      class: `middle ${choice(target[i])} ${i < chosen + done ? "" : "pale"}`,
    }),
    rect(left, above, room, 24, picks({ word: i })),
  ]);
  return { marks, bottom: y + 28, slots };
};

const spreadBoxes = (left, width, top, height) => {
  const shares = [0.17, 0.17, 0.18, 0.18, 0.3];
  const gap = 13;
  const room = width - left - 1 + gap;
  let x = left;
  return shares.map((share) => {
    x += share * room;
    return [x - share * room, top, share * room - gap, height];
  });
};

const stackedBoxes = (left, width, top, end, listed) => {
  const third = (width - left - 1 + 13) / 3;
  const below = end + 52;
  const height = 36 + 18 * listed;
  return [
    [left, top, third - 13, end - top + 4],
    [left + third, top, third - 13, end - top + 4],
    [left + 2 * third, top, third - 13, below - top - 6],
    [1, below, width * 0.4, height],
    [width * 0.4 + 14, below, width * 0.6 - 15, height],
  ];
};
