// The little mathematics that the page computes itself when a reader drags a point. The tests compare each function
// with the one of PyTorch or of this course that it repeats.
const mathematics = (() => {
  /** @param {number[]} a @param {number[]} b */
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

  /** @param {number[][]} matrix @param {number[]} vector */
  const times = (matrix, vector) => matrix.map((row) => dot(row, vector));

  /** @template T @param {T[]} list */
  const last = (list) => list[list.length - 1];

  // The position of the largest number and of the smallest; of several the first.
  /** @param {Numbers} numbers */
  const argmax = (numbers) => numbers.indexOf(Math.max(...numbers));

  /** @param {Numbers} numbers */
  const argmin = (numbers) => numbers.indexOf(Math.min(...numbers));

  /**
   * @template {Numbers | string[]} T
   * @param {T} numbers
   * @param {number} at
   * @param {number} size
   * @returns {T}
   */
  const rowOf = (numbers, at, size) => /** @type {T} */ (numbers.slice(at * size, (at + 1) * size));

  /** @param {number[]} scores */
  const softmax = (scores) => {
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const total = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => power / total);
  };

  // The score of a query and a key that are projected.
  /** @type {Record<string, (scorer: Scorer, q: number[], k: number[]) => number>} */
  const scored = {
    distance: ({ scale }, q, k) => (-scale / 2) * q.reduce((sum, x, i) => sum + (x - k[i]) ** 2, 0),
    dot: ({ scale }, q, k) => scale * dot(q, k),
    cosine: ({ scale }, q, k) => (scale * dot(q, k)) / (Math.sqrt(dot(q, q) * dot(k, k)) || 1),
    additive: ({ w_v }, q, k) =>
      dot(
        w_v,
        q.map((x, i) => Math.tanh(x + k[i])),
      ),
  };

  // A function of a query: its scores for several keys. Matrices that were trained project both, the keys only once.
  /** @param {Scorer} scorer @param {number[][]} keys */
  const scoresOf = (scorer, keys) => {
    const projected = keys.map((key) => times(scorer.w_k, key));
    /** @param {number[]} query */
    return (query) => {
      const q = times(scorer.w_q, query);
      return projected.map((k) => scored[scorer.form](scorer, q, k));
    };
  };

  return { last, argmax, argmin, dot, rowOf, softmax, scoresOf };
})();
