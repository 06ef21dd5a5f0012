// Distributions as bars, row under row over the same labels. Where the forbidden bars begin stands a dashed line
// through all rows, which can be dragged.
kinds.bars = (() => {
  const { last } = mathematics;
  const {
    columnLabels,
    cross,
    group,
    hatch,
    isWide,
    label,
    labelsHeight,
    line,
    numberAbove,
    path,
    rect,
    round,
    tick,
    weightAxis,
  } = marks;
  const { BOLD, fitted, signed, textWidth, widest } = texts;
  const { among, grip, gripHalf, gripMoved, gripText } = grips;

  /** @typedef {Figure<{ panels: [string, string][], edge: string | null, role: string }>} Bars */
  /** @typedef {ReturnType<typeof rowsLayout>} Layout */
  /** @typedef {Layout & { base: number, role: string, zeros: boolean }} Row */

  /** @param {Bars} figure @param {number} width */
  const draw = (figure, width) => {
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
        edge && edgeGrip(figure, edge, layout),
      ],
    };
  };

  // `bases` are the lower ends of the rows, and at `edgeX` begins what is forbidden.
  /** @param {Bars} figure @param {number} width */
  const rowsLayout = (figure, width) => {
    const { panels, edge } = figure.options;
    const { bars: labels, verdicts = [] } = figure.labels;
    const wide = isWide(width);
    const several = panels.length > 1;
    // Of several rows, name and verdict stand beside each on a desk, and above each on a phone.
    const beside = several && wide;
    const names = BOLD * widest(panels.map(([, title]) => title));
    const scored = figure.has("given") && wide; // their name stands left of the scores
    const left = beside ? names + 14 : several ? 12 : scored ? BOLD * textWidth("scores") + 14 : 30;
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
    return {
      width,
      wide,
      several,
      beside,
      left,
      right,
      step,
      tall,
      pitch,
      bases,
      bottom: last(bases),
      allowed,
      edgeX,
    };
  };

  /** @param {Layout} layout */
  const edgeLine = ({ beside, tall, bases, edgeX }) => {
    const course = bases.map((base, k) => `M${round(edgeX)},${k || !beside ? base - tall - 2 : 20}V${base}`);
    return path(course.join(""), { class: "edge" });
  };

  // One distribution: its name, what is forbidden, its bars, what is odd about them, and the verdict.
  /** @param {Bars} figure @param {number} k @param {Layout} layout */
  const barRow = (figure, k, layout) => {
    const { several, beside, left, right, tall, pitch, allowed, edgeX } = layout;
    const { panels, role } = figure.options;
    const { bars: labels, verdicts = [], written = [] } = figure.labels;
    const [array, title] = panels[k];
    const base = layout.bases[k];
    const nameY = beside ? base - tall / 2 + 4 : base - pitch + 13;
    const verdict = verdicts.length ? figure.array("verdict")[k] : 0;
    const numbers = figure.array(array);
    // Weights that could not be computed are no zeros.
    const row = { ...layout, base, role, zeros: !verdict };
    const text = written.length && written[figure.array("written")[k]];
    return group(
      {},
      allowed < labels.length && hatch(edgeX, base - tall, right - edgeX, tall),
      label(title, beside ? left - 8 : left, nameY, { class: beside ? "end name" : "name" }),
      several ? line(left, base, right, base, { class: "grid" }) : weightAxis(left, right, base, tall),
      rowBars(numbers, row),
      Math.max(...numbers) === 0 && (verdict || allowed === 0) && noBars(verdict, row),
      text && allowed < labels.length && overwritten(text, Math.max(...numbers.slice(allowed)), row),
      verdicts.length && rowVerdict(verdicts, verdict, nameY, layout),
    );
  };

  // The bars of a row use its whole height, so the number of a high one stands in it.
  /** @param {Numbers} numbers @param {Row} row */
  const rowBars = (numbers, { left, step, base, tall, allowed, role, zeros }) =>
    [...numbers].map((number, j) => {
      const height = number * tall;
      const x = left + (j + 0.5) * step;
      const inside = height > tall - 18;
      const forbidden = j >= allowed;
      const style = forbidden ? `${role} forbidden` : role;
      return group(
        {},
        rect(x - step * 0.36, base - height, step * 0.72, height, { rx: 2, class: style }),
        (number >= 0.045 || (zeros && !forbidden)) &&
          (inside
            ? label(fitted(number.toFixed(2), step) ?? "", x, base - height + 13, {
                class: forbidden || role === "chance" ? "middle number" : "middle number inverse",
              })
            : numberAbove(number.toFixed(2), x, base - height - 5, step)),
      );
    });

  // What a row writes over its forbidden scores, once for all. High bars leave it only the room before the line.
  /** @param {string} text @param {number} highest @param {Row} row */
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

  /** @param {number} verdict @param {Row} row */
  const noBars = (verdict, { left, right, base, edgeX }) => {
    const end = edgeX > left + 80 ? Math.min(edgeX, right) : right;
    return label(verdict ? "no weights" : "all 0", (left + end) / 2, base - 6, { class: "middle halo" });
  };

  /** @param {string[]} verdicts @param {number} verdict @param {number} y @param {Layout} layout */
  const rowVerdict = (verdicts, verdict, y, { beside, right }) => {
    const x = beside ? right + 24 : right - BOLD * widest(verdicts);
    return [(verdict ? cross : tick)(x - 11, y - 4), label(verdicts[verdict], x, y, { class: verdict ? "name" : "" })];
  };

  // A score in little room: a large one as a factor and a power of ten.
  /** @param {number} number @param {number} digits */
  const shortScore = (number, digits) => {
    if (Math.abs(number) < 999.995) return number ? signed(number, 2) : "0";
    const [factor, power] = number.toExponential(digits).split("e+");
    return `${signed(+factor, digits)}·10${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[+digit]).join("")}`;
  };

  // The scores above all rows; neighbours that are equal are written once.
  /** @param {Numbers} scores @param {Layout} layout */
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

  /** @param {Bars} figure @param {string} edge @param {Layout} layout */
  const edgeGrip = (figure, edge, { width, wide, left, right, step, bottom, allowed }) => {
    const { length: count } = figure.labels.bars;
    const text = gripText(edge, figure.controls[edge].labels[figure.place[edge]], wide);
    const half = gripHalf(text);
    const x = Math.min(Math.max(left + figure.place[edge] * step, half), width - half);
    const [before, behind] = figure.labels.sides ?? ["allowed", "forbidden"];
    const sides = [allowed > 0 && before, allowed < count && behind];
    const both = `${allowed} ${before}, ${count - allowed} ${behind}`;
    const ends = Array.from({ length: count + 1 }, (_, at) => left + (at * (right - left)) / count);
    /** @param {number} at */
    const follow = (at) => among(at, ends);
    return [
      grip(x, 0, text),
      besideGrip(sides, both, x, half, width, 15),
      gripMoved(figure, edge, { x, y: 0, text }, follow, [left - 12, -8, right - left + 24, bottom + 8]),
    ];
  };

  // The words on both sides of a grip; where one has no room, the other side says both.
  /**
   * @param {(string | false)[]} texts
   * @param {string} both
   * @param {number} middle
   * @param {number} half
   * @param {number} width
   * @param {number} y
   */
  const besideGrip = (texts, both, middle, half, width, y) => {
    const rooms = [middle - half - 6, width - middle - half - 6];
    const fits = texts.map((text, k) => !text || textWidth(text) < rooms[k]);
    const clear = fits.every(Boolean);
    return texts.map(
      (text, k) =>
        text &&
        fits[k] &&
        label(clear ? text : both, middle + (k ? half + 6 : -half - 6), y, { class: k ? "" : "end" }),
    );
  };

  return { draw };
})();
