// Distributions as bars, row under row over the same labels. Where the forbidden bars begin stands a dashed line through
// all rows, which can be dragged.
kinds.bars = {
  draw(figure, width) {
    const { panels, edge, cut, draws, role, compare } = figure.options, { bars: labels, verdicts = [] } = figure.labels;
    // Of several rows, name and verdict stand beside each on a desk, and above each on a phone.
    const wide = width >= 560, several = panels.length > 1, beside = several && wide, names = 1.08 * widest(panels.map(([, title]) => title));
    const left = beside ? names + 14 : several ? 12 : 30, aside = beside && verdicts.length ? 28 + 1.08 * widest(verdicts) : 14;
    const step = Math.min(110, (width - left - aside) / labels.length), right = left + labels.length * step;
    const tall = several ? (wide ? 40 : 20) : wide ? 130 : 92, pitch = tall + (beside ? 20 : several ? 32 : 44);
    // Above a single row the title has a line of its own, with the button that draws.
    const head = cut || draws.length ? 30 : 0, above = head > 0 && !several, top = (edge || cut ? 26 : 0) + head, bottom = top + panels.length * pitch, limit = edge ? figure.controls[edge].values[figure.place[edge]] : Infinity;
    // How many bars a value of the cut leaves. The last one may stand for several things, of which a part is left: then its
    // height, relative to the first bar, is only this part of what the last value of the cut leaves.
    const leaves = (at) => {
      const [now, all] = [at, figure.controls[cut].values.length - 1].map((k) => figure.arrayAt(panels[0][0], { ...figure.place, [cut]: k }));
      const last = now.findLastIndex((number) => number > 0);
      return last + Math.min(1, (now[last] * all[0]) / (now[0] * all[last]));
    };
    const moving = edge ?? cut, stops = cut && figure.controls[cut].values.map((_, k) => leaves(k)), hand = moving && figure.position(moving), x = left + (cut ? stops[figure.place[cut]] : limit) * step, [before, behind] = cut ? ["kept", "left out"] : ["allowed", "forbidden"];
    const compared = compare && `dashed: ${titled(compare[0])} ${compare[1]}`;
    const newest = figure.has("newest") ? figure.array("newest")[0] : -1;
    const marks = panels.map(([array, title], k) => {
      const base = top + (k + 1) * pitch, verdict = verdicts.length ? figure.array("verdict")[k] : 0;
      // Weights share the axis from 0 to 1; probabilities of many words would be too low on it.
      // Between two values of a line a bar is not half left out or half forbidden.
      const numbers = moving ? figure.blend(array, figure.array(array)) : figure.drawn(array), others = figure.compared(array) ?? [];
      const most = role === "weight" ? 1 : roundTop([...numbers, ...others]), at = beside ? base - tall / 2 + 4 : base - pitch + 14;
      const end = beside ? right + 24 : right - 1.08 * textWidth(verdicts[verdict] ?? "");
      const shape = (number, j, style) => rect(left + (j + 0.14) * step, base - (number * tall) / most, step * 0.72, (number * tall) / most, { class: style, rx: 2 });
      return group({},
        limit < labels.length && hatch(x, base - tall - 12, right - x, tall + 12),
        label(title, beside ? left - 8 : above ? 0 : left, above ? 16 : at, { class: beside ? "end name" : above && wide ? "big" : "name" }),
        compared && !cut && label(compared, right, at, { class: "end quiet" }),
        several ? line(left, base, right, base, { class: "grid" }) : weightAxis(left, right, base, tall / most, role === "weight" ? [0, 0.5, 1] : [0, most]),
        // Weights that could not be computed are no zeros.
        bars(numbers, { values: figure.array(array), left, step, base, height: tall / most, allowed: [0, limit], digits: step < 44 || several ? 2 : 3, role, zeros: compare || verdict ? "none" : "allowed" }),
        newest >= 0 && shape(numbers[newest], newest, "newest"),
        Math.max(...numbers) === 0 && (verdict || limit === 0) && label(verdict ? "no weights" : "all 0", (left + Math.min(x, right)) / 2 > left + 40 ? (left + Math.min(x, right)) / 2 : (left + right) / 2, base - 6, { class: "middle halo" }),
        group({}, [...others].map((number, j) => shape(number, j, "outline"))),
        verdicts.length && [(verdict ? cross : tick)(end - 11, at - 4), label(verdicts[verdict], end, at, { class: verdict ? "name" : "" })]);
    });
    const under = bottom + labelsHeight(labels, step) + 4, named = columnLabels(labels, left, step, bottom);
    const held = moving && `${wide ? `${titled(moving)} ` : ""}${figure.controls[moving].labels[figure.place[moving]]}`, half = moving && gripHalf(held), middle = moving && Math.min(Math.max(left + (cut ? placeAt(stops, hand) : hand) * step, half), width - half);
    const handle = moving && [
      grip(middle, head, held),
      middle - textWidth(before) > half + 6 && label(before, middle - half - 6, head + 15, { class: "end" }), middle + textWidth(behind) < width - half - 6 && label(behind, middle + half + 6, head + 15),
      compared && cut && middle + half + 12 + textWidth(behind) < right - textWidth(compared) && label(compared, right, head + 15, { class: "end quiet" }),
      dragged(moving, (at) => ({ [moving]: cut ? among((at - left) / step, stops) : evenly(at, left, right, labels.length + 1) }), rect(left - 12, head - 8, right - left + 24, bottom - head + 8, { class: "drag instead" })),
    ];
    // The line lies behind the bars and their numbers.
    const along = moving && path(panels.map((_, k) => `M${round(x)},${k || (several && !beside) ? top + (k + 1) * pitch - tall - 12 : head + 20}V${top + (k + 1) * pitch}`).join(""), { class: "edge" });
    if (!figure.has("drawn")) return { width, height: under, marks: [along, marks, named, handle] };
    // The picture has room for the most dots that a label ever gets, so that its height stays.
    const size = step < 30 ? 7 : 12, perRow = Math.max(1, Math.floor((0.9 * step) / size)), rows = Math.ceil(Math.max(...figure.allOf("drawn")) / perRow);
    const dots = [...figure.array("drawn")].map((count, j) => Array.from({ length: count }, (_, i) =>
      circle(left + (j + 0.5) * step + ((i % perRow) - (Math.min(count, perRow) - 1) / 2) * size, under + 2 + (Math.floor(i / perRow) + 0.5) * size, size / 2 - (j === newest && i === count - 1 ? 0 : 1), { class: "tally" })));
    const foot = under + 6 + rows * size, [count, set] = draws, ended = count && figure.place[count] === figure.controls[count].values.length - 1;
    const another = count && button(ended ? "draw anew" : "draw one more", width - 1, 0, {
      [count]: ended ? 0 : figure.place[count] + 1, ...(set && { [set]: (figure.place[set] + ended) % figure.controls[set].values.length }),
    });
    return { width, height: foot, marks: [along, marks, named, handle, group({}, dots), another] };
  },
};
