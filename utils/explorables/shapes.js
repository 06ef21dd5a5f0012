// Whole arrays drawn as a few polygons: the points of each, from what shapes.py says and a function that reads the array,
// or the picked row of it. Twins of the functions there.

const hundredth = (number) => Math.round(100 * number) / 100;

const square = (x, y, side) =>
  [`${x},${y}`, `${x + side},${y}`, `${x + side},${y + side}`, `${x},${y + side}`, `${x},${y}`];

// One of several figures in a polygon: they hang on its left line by threads that go there and back.
const hung = (left, y, corners) => `${left},${y} ${corners.join(" ")} ${left},${y} `;

const shapes = {
  curve: ({ x, slope, offset }, number, picked, known) => {
    const stretches = [];
    x.forEach((at, i) => {
      if (!known(i)) return;
      const point = `${at},${hundredth(offset + slope * number(i))} `;
      if (i === 0 || !known(i - 1)) stretches.push(point);
      stretches[stretches.length - 1] += point;
    });
    return stretches;
  },

  bars: ({ sides, slope, offset, level }, number) => {
    const bars = sides.map(([one, other], i) => {
      const head = hundredth(offset + slope * number(i));
      return level
        ? `${offset},${one} ${head},${one} ${head},${other} ${offset},${other} `
        : `${one},${offset} ${one},${head} ${other},${head} ${other},${offset} `;
    });
    return [bars.join("")];
  },

  bands: ({ starts, ends, left, right, breadth }, number, picked) => {
    let points = "";
    (picked === undefined ? ends : [ends[picked]]).forEach((end, i) => starts.forEach((start, j) => {
      const slant = (end - start) / (right - left);
      const half = hundredth(0.5 * breadth * number(i * starts.length + j) * Math.sqrt(1 + slant * slant));
      if (!half) return;
      points += `${left},${hundredth(start - half)} ${right},${hundredth(end - half)} `;
      points += `${right},${hundredth(end + half)} ${left},${hundredth(start + half)} `;
    }));
    return [points];
  },

  cells: (said, number) => {
    const { left, top, step, columns, count, shades } = said;
    said.cells ??= Array.from({ length: count }, (_, i) => {
      const x = left + step * (i % columns), y = top + step * Math.floor(i / columns);
      const outer = square(x - 0.5, y - 0.5, step), inner = square(x + 0.5, y + 0.5, step - 2);
      const edge = [...outer, ...inner.reverse(), outer[0]];
      return { filled: hung(left, y, square(x, y, step - 1)), edge: hung(left, y - 0.5, edge) };
    });
    const drawn = Array(shades + 1).fill("");
    said.cells.forEach(({ filled, edge }, i) => {
      const value = number(i);
      const shade = Math.round(shades * Math.sqrt(Math.min(Math.max(value, 0), 1)));
      if (shade) drawn[shade - 1] += filled;
      if (value !== 0) drawn[shades] += edge;
    });
    return drawn;
  },
};
