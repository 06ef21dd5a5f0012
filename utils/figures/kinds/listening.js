// The spectrogram of a sound, lit where the chosen word looks; under it the word's weights, and beams from all words.
kinds.listening = (() => {
  const { argmax, last } = mathematics;
  const { choice, flow, group, isWide, label, line, mark, path, picks, rect, round } = marks;
  const { BOLD, textWidth, tickText } = texts;

  /**
   * @typedef {Figure<{ gold: [number, number][], picture: string, place: number, reach: number, seconds: number }>} Listening
   */
  /** @typedef {ReturnType<typeof listeningLayout>} Layout */

  // The piece of the sound that is played: that around the largest weight of the chosen word, in seconds.
  /** @param {Figure} figure */
  const heard = (figure) => {
    const { reach, seconds } = figure.options;
    const at = figure.array("at")[figure.place.word];
    return [Math.max(0, Math.min(at, seconds) - reach), Math.min(seconds, at + reach)];
  };

  /** @param {Listening} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = listeningLayout(figure, width);
    const { below, legend } = layout;
    return {
      width,
      height: below + (legend ? 22 : 2),
      marks: [
        drawTimes(layout),
        drawSound(figure, layout),
        drawBeams(figure, layout),
        drawGold(figure, layout),
        drawWeights(figure, layout),
        drawHeard(figure, layout),
        drawWords(figure, layout),
        drawPicks(figure, layout),
        drawNow(figure, layout),
        label(legend, 0, below + 16, { class: "quiet" }),
      ],
    };
  };

  // Where everything stands: the times, below them the spectrogram from `top` to `bottom`, the bars down to `base`, the
  // beams, and the words.
  /** @param {Listening} figure @param {number} width */
  const listeningLayout = (figure, width) => {
    const { place, gold } = figure.options;
    const places = last(figure.shape("weights"));
    const wide = isWide(width);
    const [left, right] = [64, width - 10];
    const top = 27;
    const bottom = top + (wide ? 150 : 112);
    const base = bottom + (wide ? 60 : 50);
    const size = wide ? 15 : 13;
    const spots = spotsOf(figure.labels.words, width, size, base + (wide ? 112 : 86));
    const step = (right - left) / places;
    const at = figure.array("at")[figure.place.word];
    const peak = left + (at / place) * step;
    const text = `${at.toFixed(2)} s`;
    const half = (BOLD / 2) * textWidth(text);
    return {
      ...{ places, wide, left, right, top, bottom, base, size, spots, step, peak },
      end: places * place,
      /** @param {number} seconds */
      xOf: (seconds) => left + (seconds / place) * step,
      time: { x: Math.max(left + half, Math.min(right - half, peak)), half, text },
      most: Math.max(...figure.allOf("weights")) || 1,
      below: last(spots).y + 10,
      legend: gold.length ? "dashed: where the word is spoken" : "",
    };
  };

  // The words in one line with equal room between them or, where they do not fit, in several lines.
  /** @param {string[]} words @param {number} width @param {number} size @param {number} y */
  const spotsOf = (words, width, size, y) => {
    const widths = words.map((word) => textWidth(word, size));
    const free = (width - widths.reduce((a, b) => a + b, 0)) / words.length;
    const gap = free >= 6 ? free : 16;
    const rooms = widths.map((wide) => wide + gap);
    // What all words take is the width again, but for a rounding error.
    return flow(rooms, 0, width + 0.01, 30).map((at, i) => ({
      middle: at.x + rooms[i] / 2,
      wide: widths[i],
      y: y + at.y,
    }));
  };

  // The times above the spectrogram, where the time of the chosen word leaves room, and the names of what is drawn.
  /** @param {Layout} layout */
  const drawTimes = ({ end, left, right, top, bottom, base, xOf, time }) => {
    const pace = [0.1, 0.2, 0.5, 1, 2, 5].find((seconds) => xOf(seconds) - left >= 48) ?? 10;
    const ticks = Array.from({ length: Math.floor(end / pace + 1e-6) + 1 }, (_, i) => i * pace);
    return [
      ticks.map((seconds) => {
        const x = xOf(seconds);
        const text = tickText(seconds, pace);
        const half = textWidth(text) / 2;
        const fits = x + half < right + 10 && Math.abs(x - time.x) > half + time.half + 5;
        return group(
          {},
          fits && [line(x, top - 4, x, top, { class: "rule" }), label(text, x, 13, { class: "middle quiet" })],
        );
      }),
      label("time (s)", left - 15, 13, { class: "end quiet" }),
      label("high", left - 7, top + 11, { class: "end quiet" }),
      label("low", left - 7, bottom - 2, { class: "end quiet" }),
      label("weight", left - 7, base, { class: "end weight" }),
    ];
  };

  // The picture of the sound is the mask of a grey ground and, where the chosen word looks, of a blue one: so it has the
  // colours of the page.
  /** @param {Listening} figure @param {Layout} layout */
  const drawSound = (figure, { left, right, top, bottom, step, most }) => {
    /** @type {[number, number, number, number]} */
    const box = [left, top, right - left, bottom - top];
    const [x, y, width, height] = box.map(round);
    const place = { x, y, width, height };
    const columns = [...figure.chosen("weights", "word")].map((weight, j) => {
      const look = { class: "weight", "fill-opacity": round(weight / most) };
      return weight >= 0.01 * most && rect(left + j * step, top, step + 0.3, bottom - top, look);
    });
    return [
      mark(
        "mask",
        { id: "loud", maskUnits: "userSpaceOnUse", ...place },
        mark("image", { href: figure.options.picture, preserveAspectRatio: "none", ...place }),
      ),
      rect(...box, { class: "handle", "fill-opacity": 0.8, mask: "url(#loud)" }),
      group({ opacity: 0.16 }, columns),
      group({ mask: "url(#loud)" }, columns),
      rect(...box, { class: "grid" }),
    ];
  };

  // From each word a beam to the places that it looks at: at the word it is as broad as the word, and each place has its
  // share of that. Small weights are left out.
  /** @param {Listening} figure @param {Layout} layout */
  const drawBeams = (figure, { left, step, base, spots, size, most }) => {
    const chosen = figure.place.word;
    /** @param {number} i */
    const beam = (i) => {
      const weights = [...figure.rowAt("weights", i)];
      const all = weights.reduce((a, b) => a + b, 0) || 1;
      const { middle, wide, y } = spots[i];
      const to = y - size - 5;
      const bend = round((base + to) / 2);
      let begin = middle - wide / 2;
      return weights.map((weight, j) => {
        const breadth = (wide * weight) / all;
        begin += breadth;
        if (weight < 0.05 * most) return false;
        const [from, until] = [begin - breadth, begin].map(round);
        const [a, b] = [left + j * step, left + (j + 1) * step].map(round);
        const d =
          `M${a},${base}C${a},${bend} ${from},${bend} ${from},${to}` +
          `H${until}C${until},${bend} ${b},${bend} ${b},${base}z`;
        return { d, weight };
      });
    };
    // Beams to words in several lines would lie over one another.
    const others = (last(spots).y > spots[0].y ? [] : spots).map((_, i) =>
      beam(i)
        .map((part) => (part ? part.d : ""))
        .join(""),
    );
    return [
      group(
        { class: "traces" },
        others.map((d, i) => i !== chosen && d && path(d, { class: "handle" })),
      ),
      group(
        {},
        beam(chosen).map(
          (part) => part && path(part.d, { class: "weight", "fill-opacity": round(0.25 + 0.5 * (part.weight / most)) }),
        ),
      ),
    ];
  };

  // The weights of the chosen word as bars in the scale of the largest weight that there is, and its own largest one.
  /** @param {Listening} figure @param {Layout} layout */
  const drawWeights = (figure, { left, right, step, bottom, base, most, peak }) => {
    const tall = base - bottom - 18;
    const weights = [...figure.chosen("weights", "word")];
    const text = Math.max(...weights).toFixed(2);
    const high = (tall * Math.max(...weights)) / most;
    const x = Math.max(left + 14, Math.min(right - 14, peak));
    return [
      line(left, base, right, base, { class: "grid" }),
      weights.map((weight, j) => {
        const reach = (tall * weight) / most;
        return reach >= 0.2 && rect(left + (j + 0.08) * step, base - reach, 0.84 * step, reach, { class: "weight" });
      }),
      label(text, x, base - high - 4, { class: "middle number weight halo" }),
    ];
  };

  // Above the spectrogram the piece that is played, and the time of its middle.
  /** @param {Listening} figure @param {Layout} layout */
  const drawHeard = (figure, { top, peak, xOf, time }) => {
    const [from, to] = heard(figure).map(xOf);
    return [
      label(time.text, time.x, 13, { class: "middle name" }),
      rect(from, top - 8, to - from, 5, { class: "weight", rx: 2.5 }),
      path(`M${round(peak - 5)},${top - 8}h10l-5,8z`, { class: "weight" }),
    ];
  };

  // Where words begin and end, and a frame around the time of the chosen one.
  /** @param {Listening} figure @param {Layout} layout */
  const drawGold = (figure, { top, bottom, base, xOf }) => {
    const { gold } = figure.options;
    if (!gold.length) return [];
    const [begin, end] = gold[figure.place.word].map(xOf);
    return [
      gold.map((times) => times.map(xOf).map((x) => line(x, bottom, x, bottom + 5, { class: "rule" }))),
      rect(begin, top, end - begin, base - top, { class: "gold" }),
    ];
  };

  /** @param {Listening} figure @param {Layout} layout */
  const drawWords = (figure, { spots, size }) =>
    figure.labels.words.map((word, i) => {
      const { middle, wide, y } = spots[i];
      const style = size === 15 ? "word" : "";
      return [
        i === figure.place.word &&
          rect(middle - wide / 2 - 5, y - size - 4, wide + 10, size + 12, { class: figure.frame("word"), rx: 4 }),
        label(word, middle, y, { class: `middle halo ${style} ${choice(word)}` }),
      ];
    });

  // A word is chosen by a tap on it, and by one on the sound that it looks at more than the others do.
  /** @param {Listening} figure @param {Layout} layout */
  const drawPicks = (figure, { left, top, base, step, places, spots, size }) => {
    const rows = spots.map((_, i) => figure.rowAt("weights", i));
    const looking = Array.from({ length: places }, (_, j) => argmax(rows.map((row) => row[j])));
    const begins = looking.flatMap((word, j) => (word === looking[j - 1] ? [] : [j]));
    return [
      group(
        {},
        begins.map((j, k) => {
          const wide = ((begins[k + 1] ?? places) - j) * step;
          return rect(left + j * step, top - 8, wide, base - top + 8, picks({ word: looking[j] }));
        }),
      ),
      spots.map(({ middle, wide, y }, i) =>
        rect(middle - Math.max(wide + 9, 24) / 2, y - size - 7, Math.max(wide + 9, 24), size + 17, picks({ word: i })),
      ),
    ];
  };

  // While the sound is played, where it is now.
  /** @param {Listening} figure @param {Layout} layout */
  const drawNow = ({ sounding }, { top, base, xOf }) =>
    group({}, sounding !== null && line(xOf(sounding), top, xOf(sounding), base, { class: "struck" }));

  return { draw, heard };
})();
