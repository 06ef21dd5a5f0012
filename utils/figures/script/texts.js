// Numbers and words as a figure writes them, and how much room they take.
const texts = (() => {
  /** @param {number} share @param {number} [digits] */
  const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)}%`;

  // A number with a true minus sign.
  /** @param {number} number @param {number} digits */
  const signed = (number, digits) =>
    number
      .toFixed(digits)
      .replace(/^-(0\.?0*)$/, "$1")
      .replace("-", "\u2212");

  // A number of an axis, with as many decimals as the step from one to the next has.
  /** @param {number} value @param {number} step */
  const tickText = (value, step) =>
    signed(value, [0, 1, 2, 3, 4].find((digits) => Math.abs(+step.toFixed(digits) - step) < 0.01 * step) ?? 4);

  // How a control is called: "top_p" is top-p, and "valid_length" valid length.
  /** @param {string} name */
  const titled = (name) => name.replace(/_(?=.$)/, "-").replaceAll("_", " ");

  // A lone full stop can hardly be seen.
  /** @param {string} word */
  const spelled = (word) => (/^[.。]$/.test(word) ? "full stop" : word);

  // About how wide a text is drawn; text of 13 pixels unless told.
  /** @param {string} text @param {number} [size] */
  const textWidth = (text, size = 13) =>
    [...("" + text)].reduce(
      (sum, c) => sum + (c > "\u2e7f" ? 1 : /[fijlrt.,;:!'() |]/.test(c) ? 0.34 : /[mwMW@]/.test(c) ? 0.86 : 0.57),
      0,
    ) * size;

  const BOLD = 1.08; // how much wider a bold text is

  /** @param {string[]} texts */
  const widest = (texts) => Math.max(...texts.map((text) => textWidth(text)));

  /** @param {string[]} texts */
  const longest = (texts) => texts.reduce((most, text) => (textWidth(text) > textWidth(most) ? text : most), "");

  // A number between 0 and 1 as it fits: whole, without its first 0, or not at all.
  /** @param {string} text @param {number} step */
  const fitted = (text, step) =>
    [text, text.replace(/^0\./, ".").replace(/^1\.0+$/, "1")].find((form) => textWidth(form, 12) < step);

  return { percent, signed, tickText, titled, spelled, textWidth, BOLD, widest, longest, fitted };
})();
