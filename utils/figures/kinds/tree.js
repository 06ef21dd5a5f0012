// The hypotheses that a search keeps, step by step: a tree that grows to the right on a desk, and down on a phone.
kinds.tree = (() => {
  const { isWide, label, path, picks, rect, round } = marks;
  const { percent, spelled, textWidth } = texts;

  /**
   * A hypothesis: its place in its step and in the step before, and whether it is on the way to the best one, is still
   * a beginning of one that is kept, or was dropped.
   *
   * @typedef {{ rank: number, step: number, parent: number, word: string, share: number, state: "best" | "alive" | "dropped" }} Leaf
   */
  /** @typedef {ReturnType<typeof treeLayout>} Layout */

  /** @param {Figure} figure @param {number} width */
  const draw = (figure, width) => {
    const layout = treeLayout(figure, width);
    const columns = leavesOf(figure);
    return {
      width,
      height: layout.height,
      marks: [
        columns.map((leaves) => leaves.map((leaf) => branch(leaf, columns[leaf.step - 1], layout))),
        columns.map((leaves) => leaves.map((leaf) => leafMarks(leaf, layout))),
        label("step", 2, 13, { class: "quiet" }),
        stepNames(figure, layout),
      ],
    };
  };

  // Where a hypothesis lies. On a phone the tree is turned, so that a word has the room of a rank.
  /** @param {Figure} figure @param {number} width */
  const treeLayout = (figure, width) => {
    const [steps, most] = figure.shape("kept");
    const wide = isWide(width);
    const [along, across] = wide ? [(width - 40) / steps, 44] : [44, (width - 24) / most];
    /** @param {number} step @param {number} rank */
    const at = (step, rank) =>
      wide
        ? { x: 40 + (step + 0.5) * along, y: 40 + rank * across }
        : { x: 24 + (rank + 0.5) * across, y: 42 + step * along };
    const { y } = at(steps - 1, most - 1);
    return { width, wide, steps, along, at, height: y + 28 };
  };

  // The hypotheses of the steps so far. What becomes of each is known from the last step back to the first.
  /** @param {Figure} figure @returns {Leaf[][]} */
  const leavesOf = (figure) => {
    const [steps, most] = figure.shape("kept");
    const [kept, parent, word, share] = ["kept", "parent", "word", "share"].map((key) => figure.array(key));
    const ranks = Array.from({ length: most }, (_, rank) => rank);
    const ended = Array.from({ length: steps }, (_, step) => kept[step * most]).lastIndexOf(1);
    /** @type {Leaf[][]} */
    const columns = [];
    let [best, alive] = [0, new Set(ranks)];
    for (let step = Math.min(figure.place.step, ended); step >= 0; step--) {
      columns[step] = ranks
        .filter((rank) => kept[step * most + rank])
        .map((rank) => {
          const i = step * most + rank;
          const state = rank === best ? "best" : alive.has(rank) ? "alive" : "dropped";
          const name = spelled(figure.labels.words[word[i]]);
          return { rank, step, parent: parent[i], word: name, share: share[i], state };
        });
      alive = new Set(columns[step].flatMap((leaf) => (leaf.state === "dropped" ? [] : [leaf.parent])));
      best = parent[step * most + best];
    }
    return columns;
  };

  const LINES = { best: "course done", alive: "way", dropped: "grid" };
  const WORDS = { best: "middle name", alive: "middle", dropped: "middle pale" };

  // The line from the hypothesis that is continued; all of the first step come from one point.
  /** @param {Leaf} leaf @param {Leaf[] | undefined} before @param {Layout} layout */
  const branch = ({ rank, step, parent, word, state }, before, { wide, at }) => {
    const from = at(step - 1, before ? parent : 0);
    const to = at(step, rank);
    const [start, end] = wide
      ? [before ? from.x + textWidth(before[parent].word) / 2 + 5 : 30, to.x - textWidth(word) / 2 - 5]
      : [before ? from.y + 20 : 16, to.y - 13];
    const middle = (start + end) / 2;
    const places = wide
      ? [start, from.y, middle, from.y, middle, to.y, end, to.y]
      : [from.x, start, from.x, middle, to.x, middle, to.x, end];
    const [x, y, ...others] = places.map(round);
    return path(`M${x},${y}C${others.join(" ")}`, { class: `${LINES[state]} branch` });
  };

  // The last word of a hypothesis, and its probability below.
  /** @param {Leaf} leaf @param {Layout} layout */
  const leafMarks = ({ rank, step, word, share, state }, { at }) => {
    const { x, y } = at(step, rank);
    return [
      label(word, x, y + 4, { class: WORDS[state] }),
      label(share < 0.005 ? "<1%" : percent(share), x, y + 17, { class: "middle number quiet" }),
    ];
  };

  // The number of each step; a click in its column goes there.
  /** @param {Figure} figure @param {Layout} layout */
  const stepNames = (figure, { width, wide, steps, along, at, height }) =>
    Array.from({ length: steps }, (_, step) => {
      const { x, y } = at(step, 0);
      const style = step === figure.place.step ? "name" : "quiet";
      return wide
        ? [
            label(step + 1, x, 13, { class: `middle ${style}` }),
            rect(x - along / 2, 0, along, height, picks({ step }, true)),
          ]
        : [
            label(step + 1, 2, y + 4, { class: style }),
            rect(0, y - along / 2 + 4, width, along, picks({ step }, true)),
          ];
    });

  return { draw };
})();
