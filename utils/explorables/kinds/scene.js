// Things by their shape: functions of the middle and half the width.
const outline = (corners) => (x, y, r, attributes) =>
  polyline(
    [...corners, corners[0]].map(([a, b]) => [x + a * r, y + b * r]),
    attributes,
  );
const T = 1 / 3;
const things = {
  circle,
  square: outline([
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ]),
  triangle: outline([
    [0, -1],
    [1, 1],
    [-1, 1],
  ]),
  cross: outline([
    [-T, -1],
    [T, -1],
    [T, -T],
    [1, -T],
    [1, T],
    [T, T],
    [T, 1],
    [-T, 1],
    [-T, T],
    [-1, T],
    [-1, -T],
    [-T, -T],
  ]),
};

const thingsOf = (picture, size, left, top, step, down = 0, hidden = 0) =>
  picture.things.map(
    ([shape, colour, square], k) =>
      k !== hidden - 1 &&
      things[shape](
        left + ((square % size) + 0.5) * step,
        top + (Math.floor(square / size) + 0.5) * step + down,
        0.24 * step,
        { class: "outlined", fill: colour },
      ),
  );

// A picture in squares with the weights of the chosen word, and the caption beside it or, on a phone, below it. A click on
// a thing hides it, and one on its empty square brings it back.
kinds.scene = {
  draw(figure, width) {
    const { pictures, size } = figure.options;
    const picture = pictures[figure.place.picture];
    const hiding = "hide" in figure.controls;
    const hidden = hiding ? figure.place.hide : 0;
    const chosen = figure.place.word;
    const weights = figure.chosen("weights", "word");
    const right = picture.described[hidden][chosen];
    const wide = width >= 560;
    const top = 22;
    const side = wide ? 312 : Math.min(width - 80, 252);
    const step = side / size;
    const left = 2;
    const from = wide ? side + 36 : 0;
    const small = Math.min(wide ? 122 : 60, (wide ? width - from : side) / pictures.length - 12);
    const corner = (square) => [left + (square % size) * step, top + Math.floor(square / size) * step];
    const first = wide ? top : top + side + (hiding ? 26 : 12);
    const caption = this.caption(figure, picture, hidden, { width, wide, from, first });
    // As high as with the longest caption.
    const bottom = Math.max(
      ...pictures.map((each) => this.caption(figure, each, 0, { width, wide, from, first }).bottom),
    );
    return {
      width,
      height: Math.max(top + side + 3, bottom + (wide ? small + 26 : 0)),
      marks: [
        label("dashed: its own square", left, 14, { class: "quiet" }),
        scale(left + side),
        cells(weights, size, { left, top, step, height: step }),
        grid(size, left, top, step, "grid"),
        rect(left, top, side, side, { class: "grid" }),
        group({}, thingsOf(picture, size, left, top, step, 6, hidden)),
        group({}, right !== null && goldFrame(...corner(right), step, step, weights[right])),
        group(
          {},
          [...weights].map((weight, square) => {
            const [a, b] = corner(square);
            return (
              weight >= 0.095 &&
              label(weight.toFixed(2), a + step - 9, b + 18, { class: `end number ${onCell(weight)}` })
            );
          }),
        ),
        hiding &&
          picture.things.map(([, , square], k) => {
            const [a, b] = corner(square);
            return [
              group(
                {},
                k === hidden - 1 &&
                  label("hidden", a + step / 2, b + step / 2 + 10, {
                    class: `middle quiet ${onCell(weights[square])}`,
                  }),
              ),
              rect(a, b, step, step, picks({ hide: hidden === k + 1 ? 0 : k + 1 }, true)),
            ];
          }),
        // All pictures stand small beside the large one, to choose from: on a desk in a row below the caption, on a phone in a
        // column.
        pictures.map((each, k) => {
          const x = wide ? from + k * (small + 12) : width - small - 2;
          const y = wide ? Math.max(bottom + 24, top + side - small - 1) : top + 1 + k * (small + 12);
          return [
            wide && !k && label("the pictures", x, y - 8, { class: "quiet" }),
            rect(x, y, small, small, { class: k === figure.place.picture ? "chosen" : "grid", rx: 2 }),
            thingsOf(each, size, x, y, small / size),
            rect(
              x,
              y,
              small,
              small,
              picks({
                picture: k,
                ...(hiding && { hide: 0, word: Math.min(chosen, each.captions[0].filter(Boolean).length - 1) }),
              }),
            ),
          ];
        }),
        hiding &&
          label(hidden ? "the network writes now" : "the network writes", from + (wide ? 10 : 2), first - 8, {
            class: "quiet",
          }),
        caption.marks,
      ],
    };
  },

  // The caption in lines, each word in a box that is wide enough for a finger, below a small map of where it looks. A word
  // keeps its box whatever is hidden.
  caption(figure, picture, hidden, { width, wide, from, first }) {
    const { size } = figure.options;
    const before = picture.captions[0];
    const words = picture.captions[hidden];
    const described = picture.described[hidden];
    const chosen = figure.place.word;
    const tile = wide ? 44 : 26;
    const rowHeight = tile + 30;
    const rooms = words.map((_, i) =>
      Math.max(tile + (wide ? 14 : 6), (widest(picture.captions.map((each) => each[i])) * 14) / 13 + 10),
    );
    const columns = Math.max(1, Math.floor((width - from) / Math.max(...rooms)));
    let x = from;
    let y = first;
    const marks = words.map((word, i) => {
      if (!picture.captions.some((each) => each[i])) return false;
      const room = wide ? (width - from) / columns : rooms[i];
      if (x > from && x + room > width + 1) [x, y] = [from, y + rowHeight];
      const middle = x + room / 2;
      const line1 = y + tile + 22;
      const text = word || before[i];
      const half = textWidth(text, 14) / 2 + 3;
      const at = x + (room - tile) / 2;
      x += room;
      return group(
        {},
        i === chosen && rect(x - room + 1, y + 1, room - 2, rowHeight - 2, { class: figure.frame("word"), rx: 4 }),
        !word && [rect(at, y + 6, tile, tile, { class: "grid" }), grid(size, at, y + 6, tile / size, "lattice")],
        word && [
          stamp(figure.rowAt("weights", i), size, at, y + 6, tile, tile, []),
          grid(size, at, y + 6, tile / size, "lattice"),
          described[i] !== null && frameIn(described[i], size, at, y + 6, tile / size),
        ],
        word !== before[i] && word && rect(middle - half, line1 - 15, 2 * half, 20, { class: "trace", rx: 3 }),
        label(text, middle, line1, {
          class: `middle word ${word ? choice(word) : "quiet"} ${i === chosen ? "name" : ""}`,
        }),
        !word && text && line(middle - half + 3, line1 - 5, middle + half - 3, line1 - 5, { class: "rule" }),
        rect(x - room, y, room, rowHeight, picks({ word: i })),
      );
    });
    return { bottom: y + rowHeight, marks };
  },
};

// The lines between the squares of a picture, and the dashed frame of one of them in a small map.
const grid = (size, left, top, step, style) =>
  path(
    Array.from(
      { length: size - 1 },
      (_, k) =>
        `M${round(left + (k + 1) * step)},${round(top)}v${round(size * step)}M${round(left)},${round(top + (k + 1) * step)}h${round(size * step)}`,
    ).join(""),
    { class: style },
  );
const frameIn = (square, size, left, top, step) =>
  rect(left + (square % size) * step, top + Math.floor(square / size) * step, step, step, {
    class: "mini",
    "stroke-dasharray": "2 1.5",
  });
