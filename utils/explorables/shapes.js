// Draws a whole array as a few polygons: returns the points of each, from the description that shapes.py writes and a
// function that reads the array, or the picked row of it. Each function does the same as the one of its name in shapes.py.

const hundredth = (number) => Math.round(100 * number) / 100;

const square = (x, y, side) =>
  [`${x},${y}`, `${x + side},${y}`, `${x + side},${y + side}`, `${x},${y + side}`, `${x},${y}`];

// Connects several outlines into one polygon through zero-width edges.
const joined = (left, y, corners) => `${left},${y} ${corners.join(" ")} ${left},${y} `;

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
    const bars = sides.map(([low, high], i) => {
      const end = hundredth(offset + slope * number(i));
      return level
        ? `${offset},${low} ${end},${low} ${end},${high} ${offset},${high} `
        : `${low},${offset} ${low},${end} ${high},${end} ${high},${offset} `;
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

  cells: (spec, number) => {
    const { left, top, step, columns, count, shades } = spec;
    spec.cells ??= Array.from({ length: count }, (_, i) => {
      const x = left + step * (i % columns), y = top + step * Math.floor(i / columns);
      const outer = square(x - 0.5, y - 0.5, step), inner = square(x + 0.5, y + 0.5, step - 2);
      const edge = [...outer, ...inner.reverse(), outer[0]];
      return { filled: joined(left, y, square(x, y, step - 1)), edge: joined(left, y - 0.5, edge) };
    });
    const layers = Array(shades + 1).fill("");
    spec.cells.forEach(({ filled, edge }, i) => {
      const value = number(i);
      const shade = Math.round(shades * Math.sqrt(Math.min(Math.max(value, 0), 1)));
      if (shade) layers[shade - 1] += filled;
      if (value !== 0) layers[shades] += edge;
    });
    return layers;
  },
};
