// One step of decoding in five panels: scores, weights, context, next state, next word. In a page a panel has a
// question mark until its stage comes.
kinds.decoding = (() => {
  const { choice, flow, group, label, line, path, picks, rect, round } = marks;
  const { percent, signed, spelled, textWidth, widest } = texts;
  const { last, rowOf } = mathematics;

  /** @typedef {Figure<{ state_size: number }>} Decoding */
  /** @typedef {ReturnType<typeof decodingLayout>} Layout */
  /** @typedef {{ left: number, step: number, middle: number, tall: number, most: number, breadth?: number }} Scale */

  // The last two stages; a stage and its panel have the same number.
  const NEXT_STATE = 3;
  const NEXT_WORD = 4;

  // What the button "next" chooses: the next stage, and after the last one the first stage of the next word.
  /** @param {Decoding} figure */
  const next = ({ settled: { word, stage }, controls }) => {
    /** @param {string} name @param {number} at */
    const following = (name, at) => (at + 1) % controls[name].values.length;
    const to = following("stage", stage);
    return { stage: to, word: to ? word : following("word", word) };
  };
  /** @param {Decoding} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = decodingLayout(figure, width);
    const { boxes, names, rows, wide } = layout;
    return {
      width,
      height: Math.max(...boxes.map(({ y, height }) => y + height)) + 2,
      marks: [
        layout.sentence.marks,
        queryLine(figure, layout),
        group({}, wayToQuery(figure, layout), !wide && wayToNextRow(layout)),
        figure.labels.source.map((word, j) => label(spelled(word), names, rows[j] + 4, { class: "end" })),
        boxes.map((_, k) => drawPanel(figure, k, layout)),
      ],
    };
  };

  /** @param {Decoding} figure @param {number} k @param {Layout} layout */
  const drawPanel = (figure, k, layout) => {
    const { stage } = figure.place;
    const reached = stage >= k;
    const box = layout.boxes[k];
    const { x, y, width, height } = box;
    const question = !reached && label("?", x + width / 2, y + height / 2 + 10, { class: "middle big quiet" });
    const contents = [drawScores, drawWeights, drawAverage, drawState, drawWords][k];
    return [
      rect(x, y, width, height, { rx: 5, class: k === stage ? "now" : "grid" }),
      arrowToNextPanel(k, stage, layout),
      label(`${k + 1} ${figure.controls.stage.labels[k]}`, x + 7, y + 16, { class: reached ? "name" : "name quiet" }),
      group({ class: reached ? "stage" : "stage later" }, contents(figure, box, layout)),
      group({ class: "unknown" }, question),
      rect(x, y, width, height, picks({ stage: k }, true)),
    ];
  };

  // What the panels show.
  /** @param {Decoding} figure @param {Box} box @param {Layout} layout */
  const drawScores = (figure, { x, width }, { rows, end }) => {
    const all = figure.allOf("scores");
    const low = Math.min(0, ...all);
    const high = Math.max(0, ...all);
    const room = width - 44;
    const zero = x + 38 - (low * room) / (high - low || 1);
    return [
      line(zero, rows[0] - 9, zero, end - 2, { class: "grid" }),
      [...figure.chosen("scores", "word")].map((score, j) => {
        const reach = (score * room) / (high - low || 1);
        return [
          rect(Math.min(zero, zero + reach), rows[j] - 5.5, Math.abs(reach), 11, { class: "score" }),
          label(signed(score, 1), x + 34, rows[j] + 4, { class: "end" }),
        ];
      }),
    ];
  };

  /** @param {Decoding} figure @param {Box} box @param {Layout} layout */
  const drawWeights = (figure, { x, width }, { rows }) => {
    const room = width - 44;
    return [...figure.chosen("weights", "word")].map((weight, j) => [
      rect(x + 38, rows[j] - 6, room, 12, { class: "grid" }),
      rect(x + 38, rows[j] - 6, room * weight, 12, { class: "weight" }),
      label(weight.toFixed(2), x + 33, rows[j] + 4, { class: "end" }),
    ]);
  };

  // Each value times its weight, and under the line their sum, all in one scale.
  /** @param {Decoding} figure @param {Box} box @param {Layout} layout */
  const drawAverage = (figure, { x, width }, { rows, rowHeight, end }) => {
    const contexts = figure.chosen("contexts", "word");
    const size = contexts.length;
    const parts = figure.array("parts");
    const first = figure.place.word * rows.length;
    const most = largest(figure, "parts", "contexts");
    const scale = { left: x + 6, step: (width - 12) / size, tall: 9.5, most };
    return [
      // Behind each value a ground that is as strong as its weight.
      [...figure.chosen("weights", "word")].map((weight, j) =>
        rect(x + 2, rows[j] - rowHeight / 2 + 1, width - 4, rowHeight - 2, {
          class: "weight",
          "fill-opacity": round(0.45 * weight),
        }),
      ),
      rows.map((middle, j) => strip(rowOf(parts, first + j, size), "value", { ...scale, middle })),
      line(x + 4, end + 1, x + width - 4, end + 1, { class: "rule" }),
      strip(contexts, "context", { ...scale, middle: end + 18 }),
      label("context", x + width / 2, end + 41, { class: "middle name" }),
    ];
  };

  // The old state becomes the new one.
  /** @param {Decoding} figure @param {Box} box */
  const drawState = (figure, { x, y, width, height }) => {
    const before = figure.chosen("queries", "word");
    const after = figure.chosen("states", "word");
    const scale = {
      left: x + 8,
      step: (width - 16) / before.length,
      middle: y + (height + 6) / 2,
      tall: Math.min(60, (height - 52) / 2),
      most: largest(figure, "queries", "states"),
    };
    return [
      strip(before, "trace", scale),
      strip(after, "query", { ...scale, breadth: 0.5 }),
      label("grey: before", x + 8, y + height - 8, { class: "quiet" }),
    ];
  };

  /** @param {Decoding} figure @param {Box} box @param {Layout} layout */
  const drawWords = (figure, { x, y, width }, { listed, candidateHeight }) => {
    const right = figure.labels.target[figure.place.word];
    const words = candidatesOf(figure).slice(0, listed);
    const named = widest(words.map(spelled));
    const room = width - 64 - named;
    const probabilities = figure.chosen("probabilities", "word");
    return words.map((word, k) => {
      const probability = probabilities[k];
      const at = y + 30 + candidateHeight * (k + 0.5);
      return [
        room > 20 && rect(x + 14 + named, at - 8, room, 14, { class: "grid" }),
        room > 20 && rect(x + 14 + named, at - 8, room * probability, 14, { class: "chance", rx: 2 }),
        label(spelled(word), x + 8, at + 3, { class: word === right ? "name" : "" }),
        label(probability < 0.0005 ? "< 0.1%" : percent(probability, 1), x + width - 6, at + 3, { class: "end" }),
      ];
    });
  };

  // Where things stand: the sentence, below it the query, then the panels, and beside the first of them the source words,
  // whose names end at `names`. `rows` has the middle of each source word's row, and the last row ends at `end`.
  /** @param {Decoding} figure @param {number} width */
  const decodingLayout = (figure, width) => {
    const { source } = figure.labels;
    const wide = width >= 600;
    const candidates = candidatesOf(figure).length;
    const listed = wide ? candidates : Math.min(4, candidates);
    const rowHeight = wide ? 21 : 17;
    const sentence = writtenSentence(figure, figure.place.stage === NEXT_WORD, width);
    const top = sentence.bottom + 42;
    const rows = source.map((_, j) => top + 30 + rowHeight * (j + 0.5));
    const end = last(rows) + rowHeight / 2;
    const names = Math.max(8 + widest(source.map(spelled)), 54);
    const left = names + 6;
    return {
      width,
      wide,
      sentence,
      query: { left: left + 4, middle: sentence.bottom + 20, step: 7 },
      names,
      left,
      rows,
      rowHeight,
      end,
      boxes: wide ? spreadBoxes(left, width, top, end + 52 - top) : stackedBoxes(left, width, top, end, listed),
      listed,
      candidateHeight: wide ? (source.length * rowHeight) / listed : rowHeight,
    };
  };

  // The words in as many lines as they take, those to come paler, a frame around the one that is being written.
  /** @param {Decoding} figure @param {boolean} done @param {number} width */
  const writtenSentence = (figure, done, width) => {
    const { target } = figure.labels;
    const chosen = figure.place.word;
    const rooms = target.map((word) => Math.max(25, textWidth(word) + 12));
    const slots = flow(rooms, 1, width - 1, 27).map(({ x, y }, i) => {
      return { left: x, top: 1 + y, room: rooms[i], middle: x + rooms[i] / 2 };
    });
    const marks = slots.map(({ left, top, room, middle }, i) => [
      i === chosen && rect(left, top, room, 24, { class: figure.frame("word"), rx: 4 }),
      label(target[i], middle, top + 16, {
        class: `middle ${choice(target[i])} ${i < chosen + (done ? 1 : 0) ? "" : "pale"}`,
      }),
      rect(left, top, room, 24, picks({ word: i })),
    ]);
    return { slots, marks, bottom: last(slots).top + 28 };
  };

  // The five panels in one row on a desk, and in three rows on a phone.
  /** @param {number} left @param {number} width @param {number} top @param {number} height */
  const spreadBoxes = (left, width, top, height) => {
    const shares = [0.17, 0.17, 0.18, 0.18, 0.3];
    const gap = 13;
    const room = width - left - 1 + gap;
    let x = left;
    return shares.map((share) => {
      x += share * room;
      return { x: x - share * room, y: top, width: share * room - gap, height };
    });
  };
  /** @param {number} left @param {number} width @param {number} top @param {number} end @param {number} listed */
  const stackedBoxes = (left, width, top, end, listed) => {
    const third = (width - left - 1 + 13) / 3;
    const below = end + 52;
    const height = 36 + 18 * listed;
    return [
      { x: left, y: top, width: third - 13, height: end - top + 4 },
      { x: left + third, y: top, width: third - 13, height: end - top + 4 },
      { x: left + 2 * third, y: top, width: third - 13, height: below - top - 6 },
      { x: 1, y: below, width: width * 0.4, height },
      { x: width * 0.4 + 14, y: below, width: width * 0.6 - 15, height },
    ];
  };

  // The query as small bars, with an arrow down to the scores.
  /** @param {Decoding} figure @param {Layout} layout */
  const queryLine = (figure, { width, names, left, query }) => {
    const numbers = figure.chosen("queries", "word");
    const y = query.middle;
    return [
      label("query", names, y + 4, { class: "end name" }),
      strip(numbers, "query", { ...query, tall: 12, most: largest(figure, "queries", "states") }),
      path(`M${left + 40},${y + 14}h10l-5,6z`, { class: "query" }),
      label(`${numbers.length} of ${figure.options.state_size} numbers`, width, y + 4, { class: "end quiet" }),
    ];
  };

  // Between panels that stand side by side. The one to the next state leads from the context, once that state is there.
  /** @param {number} k @param {number} stage @param {Layout} layout */
  const arrowToNextPanel = (k, stage, { boxes, end }) => {
    const { x, y, width } = boxes[k];
    const top = k + 1 === NEXT_STATE && stage >= NEXT_STATE ? end + 12 : y + 6;
    return boxes[k + 1]?.y === y && path(`M${round(x + width + 3.5)},${round(top)}l6,6l-6,6z`, { class: "arrow" });
  };

  // A line with an arrowhead.
  /** @param {string} course @param {string} head */
  const arrowAlong = (course, head) => [path(course, { class: "way" }), path(head, { class: "arrow" })];

  // The way of the next state back to the query, which it is when the next word is decoded.
  /** @param {Decoding} figure @param {Layout} layout */
  const wayToQuery = (figure, { wide, boxes, names, query, end }) => {
    if (figure.place.stage < NEXT_STATE || figure.place.word === figure.labels.target.length - 1) return false;
    const { x, y, width } = boxes[NEXT_STATE];
    const at = query.middle;
    const text = "next query";
    if (!wide) {
      const to = names - textWidth("query") - 12;
      return [
        arrowAlong(`M3,${y}V${at}H${round(to)}`, `M${round(to - 1)},${at - 5}l8,5l-8,5z`),
        label(text, 6, end + 32, { class: "quiet" }),
      ];
    }
    const from = x + width / 2;
    const to = query.left + query.step * figure.shape("queries")[1] + 4;
    const start = (to + from - textWidth(text)) / 2;
    const course =
      `M${round(from)},${y - 4}V${at}H${round(start + textWidth(text) + 8)}` +
      `M${round(start - 6)},${at}H${round(to + 6)}`;
    return [arrowAlong(course, `M${round(to)},${at}l8,-5v10z`), label(text, start, at + 4, { class: "quiet" })];
  };

  // On a phone the way from the third panel down to the fourth.
  /** @param {Layout} layout */
  const wayToNextRow = ({ boxes, end }) => {
    const { x, width } = boxes[NEXT_STATE];
    const to = x + width * 0.75;
    return arrowAlong(
      `M${round(boxes[NEXT_STATE - 1].x)},${end + 28}H${round(to)}V${end + 40}`,
      `M${round(to - 5)},${end + 38}h10l-5,7z`,
    );
  };

  // The most probable words at the chosen place.
  /** @param {Decoding} figure */
  const candidatesOf = (figure) => {
    const { candidates, target } = figure.labels;
    return rowOf(candidates, figure.place.word, candidates.length / target.length);
  };

  // The largest absolute number of these arrays, to scale them all alike.
  /** @param {Decoding} figure @param {...string} arrays */
  const largest = (figure, ...arrays) =>
    Math.max(...arrays.map((key) => figure.allOf(key).reduce((most, number) => Math.max(most, Math.abs(number)), 0))) ||
    1;

  // Numbers as small bars, up or down from a line; one of `most` is `tall`. A bar takes the share `breadth` of its step.
  /** @param {Numbers} numbers @param {string} role @param {Scale} scale */
  const strip = (numbers, role, { left, step, middle, tall, most, breadth = 0.8 }) => [
    line(left, middle, left + step * numbers.length, middle, { class: "grid" }),
    [...numbers].map((number, k) => {
      const reach = (Math.abs(number) * tall) / most;
      return rect(left + step * (k + (1 - breadth) / 2), number > 0 ? middle - reach : middle, step * breadth, reach, {
        class: role,
      });
    }),
  ];

  return { draw, next };
})();
