// Distributions as bars. A dashed line, which can be dragged, stands where the forbidden ones begin.
kinds.bars = {
  draw(figure, width) {
    const { panels, edge, role, unknown, compare } = figure.options, labels = figure.labels.bars;
    const side = width >= 560 && panels.length > 1, gap = 28, tall = width >= 560 ? 130 : 92;
    const across = side ? (width - gap * (panels.length - 1)) / panels.length : width;
    const left = 30, step = Math.min(110, (across - left - 6) / labels.length), right = left + labels.length * step;
    const limit = edge ? figure.value(edge) : Infinity, base = 44 + tall;
    const marks = panels.map(([array, title], k) => {
      // Panels below one another have the same columns, so only the last one names them.
      const named = side || k === panels.length - 1;
      const at = side ? `translate(${round(k * (across + gap))} 0)` : `translate(0 ${k * (base + 4)})`;
      const known = !figure.has(`${array}_known`) || figure.array(`${array}_known`)[0];
      const x = left + limit * step;
      // Weights share the axis from 0 to 1; probabilities of many words would be too low on it.
      const numbers = figure.drawn(array);
      const others = figure.compared(array) ?? [];
      const most = role === "weight" ? 1 : roundTop([...numbers, ...others]);
      return group({ transform: at },
        label(title, left, 14, { class: "name" }),
        compare && label(`dashed: ${compare[0].replaceAll("_", "-")} ${compare[1]}`, right, 14, { class: "end quiet" }),
        weightAxis(left, right, base, tall / most, role === "weight" ? [0, 0.5, 1] : [0, most]),
        group({}, known
          ? bars(numbers, { left, step, base, height: tall / most, room: tall, edge: limit, digits: step < 44 ? 2 : 3, role, zeros: !compare })
          : [labels.slice(limit).map((_, j) => hatch(left + (limit + j) * step, base - tall, step, tall)),
            label(unknown, (left + right) / 2, base - tall / 2 + 4, { class: "middle halo" })]),
        group({}, [...others].map((number, j) => rect(left + (j + 0.14) * step, base - (number * tall) / most, step * 0.72, (number * tall) / most, { class: "outline", rx: 2 }))),
        named && columnLabels(labels, left, step, base),
        edge && [
          line(x, base - tall - 14, x, base, { class: "edge" }),
          path(`M${round(x - 5)},${base - tall - 20}h10l-5,7z`, { class: "handle" }),
          dragged(edge, (at) => ({ [edge]: nearestStep(at - (side ? k * (across + gap) : 0), left, right, labels.length + 1) }),
            rect(left - 10, base - tall - 24, right - left + 20, tall + 24, { class: "drag" })),
        ]);
    });
    const last = labelsHeight(labels, step) + 4, under = side ? base + last : (base + 4) * panels.length + last;
    if (!figure.has("drawn")) return { width, height: under, marks };
    // The picture has room for the most dots that a label ever gets, so that its height stays.
    const size = step < 30 ? 6 : 8, perRow = Math.max(1, Math.floor((0.9 * step) / size)), rows = Math.ceil(Math.max(...figure.allOf("drawn")) / perRow);
    const dots = [...figure.array("drawn")].map((count, j) => Array.from({ length: count }, (_, i) =>
      circle(left + (j + 0.5) * step + ((i % perRow) - (Math.min(count, perRow) - 1) / 2) * size, under + 2 + (Math.floor(i / perRow) + 0.5) * size, size / 2 - 1, { class: "tally" })));
    return { width, height: under + 6 + rows * size, marks: [marks, group({}, dots)] };
  },
};
