// What is dragged to the left and to the right along a row of places, and clicked on from one place to the next.
const grips = (() => {
  const { BOLD, textWidth, titled } = texts;
  const { dragged, group, label, path, picks, rect, round } = marks;

  // A grip that says that it can be dragged, to the left and to the right, and what it is at now.
  /** @param {string} text */
  const gripHalf = (text) => (BOLD / 2) * textWidth(text) + 15;

  /** @param {number} x @param {number} y @param {string} text @param {string} [role] */
  const grip = (x, y, text, role = "handle") => {
    const half = gripHalf(text);
    return group(
      {},
      rect(x - half, y, 2 * half, 22, { class: role, rx: 11 }),
      path(`M${round(x - half + 10)},${y + 7}v8l-5,-4zM${round(x + half - 10)},${y + 7}v8l5,-4z`, { class: "paper" }),
      text && label(text, x, y + 15.5, { class: "middle name inverse" }),
    );
  };

  // What a grip says: on a desk also the name of its control.
  /** @param {string} name @param {string} text @param {boolean} wide */
  const gripText = (name, text, wide) => (wide ? `${titled(name)} ${text}` : text);

  // The position of `x` among places that rise: between two of them, 1.4 for example.
  /** @param {number} x @param {number[]} places */
  const among = (x, places) => {
    const next = places.findIndex((place) => place > x);
    if (next <= 0) return next ? places.length - 1 : 0;
    return next - 1 + (x - places[next - 1]) / (places[next] - places[next - 1]);
  };

  // What the arrows of a grip do: a click goes one value on or back, and whoever drags one of them holds the grip there.
  /**
   * @param {Figure} figure
   * @param {string} name
   * @param {number} x
   * @param {number} y
   * @param {string} text
   * @param {(x: number) => number} follow
   */
  const arrows = (figure, name, x, y, text, follow) =>
    group(
      {},
      [-1, 1].map((side) => {
        const next = figure.place[name] + side;
        const aside = side * (gripHalf(text) - 10);
        const reachable = next >= 0 && next < figure.controls[name].values.length;
        return (
          reachable &&
          dragged(
            name,
            (at) => ({ [name]: follow(at - aside) }),
            rect(x + aside - 13, y - 2, 26, 26, { ...picks({ [name]: next }, true), class: "drag" }),
          )
        );
      }),
    );

  // How a grip is moved: by a drag in an area around it, and by its arrows.
  /**
   * @param {Figure} figure
   * @param {string} name
   * @param {{ x: number, y: number, text: string }} held
   * @param {(x: number) => number} follow
   * @param {[number, number, number, number]} area
   */
  const gripMoved = (figure, name, { x, y, text }, follow, area) => [
    dragged(name, (at) => ({ [name]: follow(at) }), rect(...area, { class: "drag instead" })),
    arrows(figure, name, x, y, text, follow),
  ];

  return { gripHalf, grip, gripText, among, arrows, gripMoved };
})();
