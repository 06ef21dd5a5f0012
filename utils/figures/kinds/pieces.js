// Texts that are cut into pieces, and beside them the pairs that may be joined next.
kinds.pieces = (() => {
  const { flow, isWide, label, rect } = marks;
  const { BOLD, signed, widest } = texts;

  const HIGH = 26;
  const PITCH = 34;
  const GAP = 4; // between pieces
  const PAD = 2; // between the letters of a piece and its box

  /** @typedef {Figure<{ heading: string }>} Pieces */

  /** @param {Pieces} figure @param {number} width */
  const draw = (figure, width) => {
    const wide = isWide(width);
    const listed = figure.has("best");
    const right = listed && wide ? width - 250 : width;
    const cut = drawTexts(figure, right);
    if (!listed) return { width, height: cut.height, marks: cut.marks };
    const list = wide ? drawPairs(figure, right + 28, width, 0) : drawPairs(figure, 0, width, cut.height + 6);
    return { width, height: Math.max(cut.height, list.bottom), marks: [cut.marks, list.marks] };
  };

  // The texts one below the other, in two columns where they are short. Each has the room that its single letters take,
  // so that nothing else moves when they join.
  /** @param {Pieces} figure @param {number} right */
  const drawTexts = (figure, right) => {
    const letters = figure.labels.texts.map((text) => [...text]);
    const longest = Math.max(...letters.map((row) => total(row.map((letter) => room([letter])))));
    const columns = letters.length > 1 && 2 * longest + 12 < right ? 2 : 1;
    const perColumn = Math.ceil(letters.length / columns);
    const share = Math.min(right / columns, longest + 40);
    const tops = Array(columns).fill(2); // room for the line of a box
    const drawn = letters.map((row, i) => {
      const column = Math.floor(i / perColumn);
      const left = column * share;
      const end = columns > 1 ? left + share : right;
      const top = tops[column];
      const apart = flow(
        row.map((letter) => room([letter])),
        left,
        end,
        PITCH,
      );
      tops[column] += apart[row.length - 1].y + PITCH;
      return drawText(figure, i, row, { left, end, top });
    });
    return { height: Math.max(...tops), marks: drawn };
  };

  // A box for each piece, kept under its first letter, and all letters over them.
  /** @param {Pieces} figure @param {number} i @param {string[]} letters @param {{ left: number, end: number, top: number }} at */
  const drawText = (figure, i, letters, { left, end, top }) => {
    const begins = figure.rowAt("begins", i);
    const fresh = figure.has("fresh") ? figure.rowAt("fresh", i) : [];
    const starts = letters.flatMap((_, j) => (begins[j] ? [j] : []));
    const pieces = starts.map((start, k) => letters.slice(start, starts[k + 1]));
    const boxes = flow(pieces.map(room), left, end, PITCH);
    const pieceOf = letters.map((_, j) => starts.findLastIndex((start) => start <= j));
    return [
      letters.map((_, j) => {
        const k = pieceOf[j];
        const box = { width: room(pieces[k]) - GAP, style: fresh[j] ? "fresh" : "trace" };
        return starts[k] === j && rect(boxes[k].x, top + boxes[k].y, box.width, HIGH, { class: box.style, rx: 5 });
      }),
      letters.map((letter, j) => {
        const { x, y } = boxes[pieceOf[j]];
        const before = total(letters.slice(starts[pieceOf[j]], j).map(step));
        const middle = x + PAD + before + step(letter) / 2;
        return label(letter, middle, top + y + 18, { class: "middle word" });
      }),
    ];
  };

  // The pairs with their bars. The first one is joined next.
  /** @param {Pieces} figure @param {number} left @param {number} right @param {number} top */
  const drawPairs = (figure, left, right, top) => {
    const best = [...figure.array("best")];
    const counts = figure.array("counts");
    const most = Math.max(...figure.allOf("counts"));
    const from = left + 12 + BOLD * widest(figure.labels.pairs);
    /** @param {number} k */
    const yOf = (k) => top + 26 + 24 * k;
    return {
      bottom: yOf(best.length),
      marks: [
        label(figure.options.heading, left, top + 14, { class: "name" }),
        best.map((pair, k) => {
          if (!counts[k]) return false;
          const long = ((right - from - 34) * counts[k]) / most;
          const style = k ? "" : " name";
          return [
            label(figure.labels.pairs[pair], from - 8, yOf(k) + 15, { class: `end${style}` }),
            rect(from, yOf(k) + 2, long, 18, { class: k ? "trace" : "fresh", rx: 2 }),
            label(signed(counts[k], 0), from + long + 6, yOf(k) + 16, { class: `number${style}` }),
          ];
        }),
      ],
    };
  };

  /** @param {string} letter */
  const step = (letter) => (letter > "\u2e7f" ? 18 : 12);

  // What a piece takes, with the gap behind it.
  /** @param {string[]} letters */
  const room = (letters) => total(letters.map(step)) + 2 * PAD + GAP;

  /** @param {number[]} numbers */
  const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

  return { draw };
})();
