// Things by their shape: functions of the middle and half the width.
const outline = (corners) => (x, y, r, attributes) => polyline([...corners, corners[0]].map(([a, b]) => [x + a * r, y + b * r]), attributes);
const T = 1 / 3;
const things = {
  circle,
  square: outline([[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
  triangle: outline([[0, -1], [1, 1], [-1, 1]]),
  cross: outline([[-T, -1], [T, -1], [T, -T], [1, -T], [1, T], [T, T], [T, 1], [-T, 1], [-T, T], [-1, T], [-1, -T], [-T, -T]]),
};

const thingsOf = (picture, size, left, top, step, down = 0) => picture.things.map(([shape, colour, square]) =>
  things[shape](left + ((square % size) + 0.5) * step, top + (Math.floor(square / size) + 0.5) * step + down, 0.24 * step, { class: "outlined", fill: colour }));

// A picture in squares with the weights of the chosen word, and the caption beside it or, on a phone, below it.
kinds.scene = {
  draw(figure, width) {
    const { pictures, size } = figure.options, picture = pictures[figure.place.picture];
    const { caption, described } = picture, chosen = figure.place.word, weights = figure.chosen("weights", "word");
    const wide = width >= 560, top = 22, side = wide ? 312 : Math.min(width - 80, 252), step = side / size;
    const left = 2, from = wide ? side + 36 : 0, tile = wide ? 44 : 26, rowHeight = tile + 30, small = Math.min(wide ? 122 : 60, (wide ? width - from : side) / pictures.length - 12);
    const corner = (square) => [left + (square % size) * step, top + Math.floor(square / size) * step];

    // The caption in lines, each word in a box that is wide enough for a finger, below a small map of where it looks.
    const boxes = [];
    let x = from, row = 0;
    const rooms = caption.map((word) => Math.max(tile + (wide ? 14 : 6), textWidth(word, 14) + 10)), columns = Math.max(1, Math.floor((width - from) / Math.max(...rooms)));
    for (const [i, word] of caption.entries()) {
      const room = wide ? (width - from) / columns : rooms[i];
      if (x > from && x + room > width + 1) [x, row] = [from, row + 1];
      boxes.push({ word, x, row, room });
      x += room;
    }
    const tall = rowHeight * (row + 1), first = wide ? top : top + side + 12;
    const frame = (square) => { const [a, b] = corner(square); return goldFrame(a, b, step, step, weights[square]); };
    return { width, height: Math.max(top + side + 3, first + tall + (wide ? small + 26 : 0)), marks: [
      label(wide ? "dashed: the right square" : "dashed: right", left, 14, { class: "quiet" }), scale(left + side),
      cells(weights, size, { left, top, step, height: step }),
      rect(left, top, side, side, { class: "grid" }),
      Array.from({ length: size - 1 }, (_, k) => [
        line(left + (k + 1) * step, top, left + (k + 1) * step, top + side, { class: "grid" }),
        line(left, top + (k + 1) * step, left + side, top + (k + 1) * step, { class: "grid" }),
      ]),
      thingsOf(picture, size, left, top, step, 6),
      group({}, described[chosen] !== null && frame(described[chosen])),
      group({}, [...weights].map((weight, square) => {
        const [a, b] = corner(square);
        return weight >= 0.095 && label(weight.toFixed(2), a + step - 9, b + 18, { class: `end number ${onCell(weight)}` });
      })),
      // A square that no word looks at chooses none.
      Array.from(weights, (_, square) => {
        const [a, b] = corner(square), word = looking(figure, "words", square);
        return figure.rowAt("weights", word)[square] >= 0.1 && rect(a, b, step, step, picks({ word }));
      }),
      // All pictures stand small beside the large one, to choose from: on a desk in a row below the caption, on a phone in a
      // column.
      pictures.map((each, k) => {
        const x = wide ? from + k * (small + 12) : width - small - 2, y = wide ? Math.max(first + tall + 24, top + side - small - 1) : top + 1 + k * (small + 12);
        return [
          wide && !k && label("the pictures", x, y - 8, { class: "quiet" }),
          rect(x, y, small, small, { class: k === figure.place.picture ? "chosen" : "grid", rx: 2 }), thingsOf(each, size, x, y, small / size),
          rect(x, y, small, small, picks({ picture: k })),
        ];
      }),
      boxes.map(({ word, x, row, room }, i) => {
        const y = first + row * rowHeight;
        return [
          i === chosen && rect(x + 1, y + 1, room - 2, rowHeight - 2, { class: figure.frame("word"), rx: 4 }),
          stamp(figure.rowAt("weights", i), size, x + (room - tile) / 2, y + 6, tile, tile, []),
          label(word, x + room / 2, y + tile + 22, { class: `middle word ${choice(word)} ${i === chosen ? "name" : ""}` }),
          rect(x, y, room, rowHeight, picks({ word: i })),
        ];
      }),
    ] };
  },
};
