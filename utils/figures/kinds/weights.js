// One or two heat maps of queries by keys, and beside the rows of one the words that are written, or the picture whose
// squares are the keys.
kinds.weights = (() => {
  const { cross, group, isWide, label, pathsByValue, rect, round } = marks;
  const { allowedKeys, goldFrame, goldName, heatMaps, withSmallMaps } = maps;
  const { rowOf } = mathematics;
  const { BOLD, spelled, widest } = texts;
  const { writtenFirst } = numbers;

  /**
   * @typedef {Figure<{ panels: [string, string][], edge?: string | null, squares?: [number, number] | null }>} Weights
   */
  /** @typedef {ReturnType<typeof besideRows>} Beside */

  /** @param {Weights} figure @param {number} width */
  const draw = (figure, width) => {
    const { panels, edge, squares } = figure.options;
    const { queries, written } = figure.labels;
    const wide = isWide(width);
    const picture = squares && pictureLookedAt(figure, squares, wide ? 212 : 132);
    const limit = edge ? figure.value(edge) : Infinity;
    const masked = allowedKeys(figure, () => limit);
    const forbidden = edge && "hatched: forbidden";
    const beside = written && besideRows(figure, wide);
    const least = !wide ? 24 : panels.length > 1 ? 32 : 26;
    const dashed = figure.has("gold") && `dashed: ${goldName(figure)}`;
    const maps = heatMaps(figure, picture && wide ? width - picture.width - 28 : width, {
      ...{ panels, masked, beside, everywhere: panels.length === 1 && !picture },
      legend: [dashed, masked.hatched && forbidden, written && "grey ✕: wrong at first"],
      longest: [dashed, forbidden],
      // Few rows are higher.
      row: !wide && panels.length > 1 ? 24 : Math.max(least, Math.min(40, 110 / queries.length)),
      /** @param {MapPlace} place */
      more: (place) => written && writtenWords(figure, place, beside),
    });
    return picture ? withSmallMaps(width, maps, picture) : maps;
  };

  // The picture in its squares, with the weights of the chosen query on its white ground, so that they change no colour
  // of a thing. It is as bright in a dark page.
  /** @param {Weights} figure @param {[number, number]} squares @param {number} side */
  const pictureLookedAt = (figure, [rows, columns], side) => {
    const [tall, across] = figure.shape("image");
    const height = (side * tall) / across;
    const [step, row] = [side / columns, height / rows];
    const weights = figure.chosen("weights", "query");
    /** @type {[number, number, number, number][]} */
    const places = [...weights].map((_, at) => [(at % columns) * step, Math.floor(at / columns) * row, step, row]);
    const gold = figure.has("gold") ? figure.rowAt("gold", figure.place.query) : [];
    const marks = group(
      { class: "bright" },
      rect(0, 0, side, height, { fill: WHITE }),
      places.map((place, at) => rect(...place, { class: "weight", "fill-opacity": round(0.7 * weights[at]) })),
      pixels(figure.array("image"), side / across, across),
      places.map((place, at) => [group({}, gold[at] > 0 && goldFrame(...place, 0)), rect(...place, { class: "grid" })]),
    );
    return { width: side, height: height + 1, marks: [marks] };
  };

  const WHITE = "rgb(255,255,255)";

  // An image of this width in pixels, each as large as `size`; what is white is left out.
  /** @param {Numbers} image @param {number} size @param {number} width */
  const pixels = (image, size, width) => {
    const colours = Array.from({ length: image.length / 3 }, (_, at) => {
      return `rgb(${[...rowOf(image, at, 3)].map((part) => Math.round(255 * part))})`;
    });
    const place = { step: size, height: size };
    return pathsByValue(colours, width, place, (fill) => {
      return { fill: fill === WHITE ? "none" : fill, "shape-rendering": "crispEdges" };
    });
  };

  // The room beside the rows: on the left for the right words, and on the right for the written words and for where a
  // word was lost. On a phone it leaves little for the cells.
  /** @param {Weights} figure @param {boolean} wide */
  const besideRows = (figure, wide) => {
    const { queries, written } = figure.labels;
    const named = widest(queries.map(spelled));
    const since = wide ? 50 : 0;
    const words = [...new Set(figure.allOf("written"))].map((i) => spelled(written[i]));
    return {
      left: wide ? Math.max(BOLD * named + 12, 74) : named + 8,
      aside: since + (wide ? 26 : 21) + widest(["it writes", ...words]),
      since,
    };
  };

  // Beside each row the word that is written, with a cross if it is wrong, pale if it is so from the start. Where there
  // is room, a word that was lost has the value of the axis at which it was first wrong.
  /** @param {Weights} figure @param {MapPlace} place @param {Beside} beside */
  const writtenWords = (figure, { first, right, middle }, { left, aside, since }) => {
    const { queries, written } = figure.labels;
    const now = figure.array("written");
    const [played] = figure.play;
    const before = writtenFirst(figure);
    /** @param {number} i */
    const isLost = (i) => written[now[i]] !== queries[i] && written[before[i]] === queries[i];
    /** @param {number} k @param {number} i */
    const writtenAt = (k, i) => written[figure.arrayAt("written", { ...figure.place, [played]: k })[i]];
    /** @param {number} i */
    const firstWrong = (i) => figure.controls[played].labels.find((_, k) => writtenAt(k, i) !== queries[i]);
    const lostAt = label("lost at", right + aside, 14, { class: "end quiet" });
    return [
      label(left < 74 ? "right" : "right word", first - 7, 14, { class: "end quiet" }),
      label("it writes", right + 20, 14, { class: "quiet" }),
      group({}, since && queries.some((_, i) => isLost(i)) && lostAt),
      queries.map((query, i) => {
        const word = written[now[i]];
        const lost = isLost(i);
        return [
          group({}, since && lost && label(firstWrong(i) ?? "", right + aside, middle(i), { class: "end" })),
          word !== query && cross(right + 12, middle(i) - 4, lost ? "" : "faded"),
          label(spelled(word), right + 20, middle(i), { class: lost ? "name" : word === query ? "" : "quiet" }),
        ];
      }),
    ];
  };

  return { draw };
})();
