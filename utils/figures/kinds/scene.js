// A picture in squares with the weights of the chosen word, and the caption beside it or, on a phone, below it. A click
// on a thing hides it, and one on its empty square brings it back.
kinds.scene = {
  draw(figure, width) {
    const layout = sceneLayout(figure, width);
    const { large } = layout;
    return {
      width,
      height: layout.height,
      marks: [
        label("dashed: its own square", large.left, 14, { class: "quiet" }),
        scale(large.left + large.side),
        largePicture(figure, large),
        hidingSquares(figure, large),
        figure.options.pictures.map((_, k) => smallPicture(figure, k, layout)),
        caption(figure, layout),
      ],
    };
  },
};

// The picture that is shown, with the number of the thing that is hidden, from 1, or 0.
const shownPicture = ({ options, place }) => ({ picture: options.pictures[place.picture], hidden: place.hide });

const columnAndRow = (square, size) => [square % size, Math.floor(square / size)];
const cornerOf = (square, { size, left, top, step }) => {
  const [column, row] = columnAndRow(square, size);
  return [left + column * step, top + row * step];
};

// `large` is the large picture, and `small` the side of the others. The caption begins at `aside` and `first`, and
// `bottom` is below the longest one.
const sceneLayout = (figure, width) => {
  const { pictures, size } = figure.options;
  const wide = isWide(width);
  const top = 22;
  const side = wide ? 312 : Math.min(width - 80, 252);
  const aside = wide ? side + 36 : 0;
  const first = wide ? top : top + side + 26;
  const small = Math.min(wide ? 122 : 60, (wide ? width - aside : side) / pictures.length - 12);
  const layout = { width, wide, large: { size, left: 2, top, side, step: side / size }, small, aside, first };
  const bottom = Math.max(...pictures.map((picture) => captionPlaces(picture, layout).bottom));
  return { ...layout, bottom, height: Math.max(top + side + 3, bottom + (wide ? small + 26 : 0)) };
};

// Things by their shape: functions of the middle and half the width. Corners are given as all their x and all their y.
const outline = (xs, ys) => (x, y, r, attributes) => {
  const corners = xs.map((a, i) => [x + a * r, y + ys[i] * r]);
  return polyline([...corners, corners[0]], attributes);
};
const THIRD = 1 / 3;
const things = {
  circle,
  square: outline([-0.9, 0.9, 0.9, -0.9], [-0.9, -0.9, 0.9, 0.9]),
  triangle: outline([0, 1, -1], [-1, 1, 1]),
  cross: outline(
    [-THIRD, THIRD, THIRD, 1, 1, THIRD, THIRD, -THIRD, -THIRD, -1, -1, -THIRD],
    [-1, -1, -THIRD, -THIRD, THIRD, THIRD, 1, 1, THIRD, THIRD, -THIRD, -THIRD],
  ),
};

const thingsOf = (picture, { size, left, top, step, down = 0 }, hidden = 0) =>
  picture.things.map(([shape, colour, square], k) => {
    const [column, row] = columnAndRow(square, size);
    return (
      k !== hidden - 1 &&
      things[shape](left + (column + 0.5) * step, top + (row + 0.5) * step + down, 0.24 * step, {
        class: "outlined",
        fill: colour,
      })
    );
  });

// The weights, the things, a frame around the square that the chosen word describes, and the numbers of large weights.
const largePicture = (figure, large) => {
  const { size, left, top, side, step } = large;
  const { picture, hidden } = shownPicture(figure);
  const weights = figure.chosen("weights", "word");
  const right = picture.described[hidden][figure.place.word];
  return [
    cells(weights, size, { left, top, step, height: step }),
    grid("grid", large),
    rect(left, top, side, side, { class: "grid" }),
    group({}, thingsOf(picture, { ...large, down: 6 }, hidden)),
    group({}, right !== null && goldFrame(...cornerOf(right, large), step, step, weights[right])),
    group(
      {},
      [...weights].map((weight, square) => {
        const [x, y] = cornerOf(square, large);
        const style = `end number ${onCell(weight)}`;
        return weight >= 0.095 && label(weight.toFixed(2), x + step - 9, y + 18, { class: style });
      }),
    ),
  ];
};

// The squares of the things, to hide one or to bring it back.
const hidingSquares = (figure, large) => {
  const { picture, hidden } = shownPicture(figure);
  const weights = figure.chosen("weights", "word");
  return picture.things.map(([, , square], k) => {
    const [x, y] = cornerOf(square, large);
    const middle = large.step / 2;
    const style = `middle quiet ${onCell(weights[square])}`;
    return [
      group({}, k === hidden - 1 && label("hidden", x + middle, y + middle + 10, { class: style })),
      rect(x, y, large.step, large.step, picks({ hide: hidden === k + 1 ? 0 : k + 1 }, true)),
    ];
  });
};

// All pictures stand small beside the large one, to choose from: on a desk in a row below the caption, on a phone in a
// column.
const smallPicture = (figure, k, { width, wide, large, small, aside, bottom }) => {
  const { size, top, side } = large;
  const { place, options } = figure;
  const picture = options.pictures[k];
  const x = wide ? aside + k * (small + 12) : width - small - 2;
  const y = wide ? Math.max(bottom + 24, top + side - small - 1) : top + 1 + k * (small + 12);
  const lastWord = picture.captions[0].filter(Boolean).length - 1;
  return [
    wide && !k && label("the pictures", x, y - 8, { class: "quiet" }),
    rect(x, y, small, small, { class: k === place.picture ? "chosen" : "grid", rx: 2 }),
    thingsOf(picture, { size, left: x, top: y, step: small / size }),
    rect(x, y, small, small, picks({ picture: k, hide: 0, word: Math.min(place.word, lastWord) })),
  ];
};

// Where the words of a caption stand: in lines, each word in a box that is wide enough for a finger. A word keeps its
// box whatever is hidden; a place without a word in all captions has none.
const captionPlaces = ({ captions }, { width, wide, aside, first }) => {
  const tile = wide ? 44 : 26;
  const height = tile + 30;
  const forms = captions[0].map((_, i) => captions.map((words) => words[i]));
  const needed = forms.map((words) => Math.max(tile + (wide ? 14 : 6), (widest(words) * 14) / 13 + 10));
  const columns = Math.max(1, Math.floor((width - aside) / Math.max(...needed)));
  const isUsed = (words) => words.some(Boolean);
  const rooms = forms.map((words, i) => (!isUsed(words) ? 0 : wide ? (width - aside) / columns : needed[i]));
  const places = flow(rooms, aside, width + 1, height);
  const boxes = places.map(({ x, y }, i) => (isUsed(forms[i]) ? { x, y: first + y, width: rooms[i], height } : null));
  return { tile, boxes, bottom: first + places.at(-1).y + height };
};

const caption = (figure, layout) => {
  const { wide, aside, first } = layout;
  const { picture, hidden } = shownPicture(figure);
  const { tile, boxes } = captionPlaces(picture, layout);
  const heading = hidden ? "the network writes now" : "the network writes";
  return [
    label(heading, aside + (wide ? 10 : 2), first - 8, { class: "quiet" }),
    boxes.map((box, i) => box && captionWord(figure, i, box, tile)),
  ];
};

// A word of the caption below a small map of where it looks. A new word stands on grey; one that is not written any
// more is struck through and has an empty map.
const captionWord = (figure, i, { x, y, width, height }, tile) => {
  const { size } = figure.options;
  const { picture, hidden } = shownPicture(figure);
  const before = picture.captions[0][i];
  const word = picture.captions[hidden][i];
  const square = picture.described[hidden][i];
  const chosen = i === figure.place.word;
  const map = { size, left: x + (width - tile) / 2, top: y + 6, step: tile / size };
  const text = word || before;
  const middle = x + width / 2;
  const half = textWidth(text, 14) / 2 + 3;
  const base = y + tile + 22;
  return group(
    {},
    chosen && rect(x + 1, y + 1, width - 2, height - 2, { class: figure.frame("word"), rx: 4 }),
    word
      ? stamp(figure.rowAt("weights", i), size, { x: map.left, y: map.top, width: tile, height: tile })
      : rect(map.left, map.top, tile, tile, { class: "grid" }),
    grid("lattice", map),
    word &&
      square !== null &&
      rect(...cornerOf(square, map), map.step, map.step, { class: "mini", "stroke-dasharray": "2 1.5" }),
    word && word !== before && rect(middle - half, base - 15, 2 * half, 20, { class: "trace", rx: 3 }),
    label(text, middle, base, { class: `middle word ${word ? choice(word) : "quiet"} ${chosen ? "name" : ""}` }),
    !word && text && line(middle - half + 3, base - 5, middle + half - 3, base - 5, { class: "rule" }),
    rect(x, y, width, height, picks({ word: i })),
  );
};

// The lines between the squares of a picture.
const grid = (style, { size, left, top, step }) => {
  const across = round(size * step);
  const lines = Array.from({ length: size - 1 }, (_, k) => {
    const down = `M${round(left + (k + 1) * step)},${round(top)}v${across}`;
    return `${down}M${round(left)},${round(top + (k + 1) * step)}h${across}`;
  });
  return path(lines.join(""), { class: style });
};
