// What all parts of a page are made of.
const elements = (() => {
  /**
   * @template {keyof HTMLElementTagNameMap} T
   * @param {T} tag
   * @param {Attributes} [attributes]
   * @param {(string | Node)[]} children
   */
  const element = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const key in attributes) node.setAttribute(key, `${attributes[key]}`);
    node.append(...children);
    return node;
  };

  // Changes the text of an element that has nothing else, and keeps its node.
  /** @param {Element} node @param {string} text */
  const setText = (node, text) => {
    /** @type {Text} */ (node.firstChild).data = text;
  };

  // The nearest element around the target of an event, or that itself, that fits.
  /** @type {<T extends Element>(event: Event, selector: string) => T | null} */
  const around = ({ target }, selector) => (target instanceof Element ? target.closest(selector) : null);

  /** @param {string} text @param {() => void} press */
  const textButton = (text, press) => {
    const node = element("button", { type: "button" }, text);
    node.addEventListener("click", press);
    return node;
  };

  // Calls the function once no request has come for `wait` milliseconds.
  /** @param {number} wait @param {() => void} call */
  const debounce = (wait, call) => {
    let timer = 0;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(call, wait);
    };
  };

  return { element, textButton, setText, around, debounce };
})();
