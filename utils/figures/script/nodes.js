// Puts the marks of a picture into the page, as nodes of SVG.
const nodes = (() => {
  /** @type {(mark: Mark) => PictureNode} */
  const svgNode = ({ tag, attributes, children, text, drag }) => {
    const node = /** @type {PictureNode} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
    for (const key in attributes) if (attributes[key] !== undefined) node.setAttribute(key, `${attributes[key]}`);
    if (text === undefined) node.append(...children.map(svgNode));
    else node.textContent = text;
    node.drag = drag;
    return node;
  };

  /** @param {PictureNode} node @param {Mark} now @param {Mark} old */
  const refresh = (node, now, old) => {
    for (const key in { ...old.attributes, ...now.attributes }) {
      const value = now.attributes[key];
      if (value === undefined) node.removeAttribute(key);
      else if (value !== old.attributes[key]) node.setAttribute(key, `${value}`);
    }
    node.drag = now.drag;
    if (now.text === undefined) patch(node, now.children, old.children);
    else if (now.text !== old.text) node.textContent = now.text;
  };

  // Makes the children of a node the keyed marks that a picture consists of now. A mark that was there before keeps its
  // node.
  /** @param {SVGElement} node @param {KeyedMark[]} marks @param {KeyedMark[]} before */
  const patch = (node, marks, before) => {
    const nodes = /** @type {PictureNode[]} */ ([...node.childNodes]);
    const kept = new Map(before.map((old, i) => [`${old.tag} ${old.key}`, { old, child: nodes[i] }]));
    const children = marks.map((now) => {
      const found = kept.get(`${now.tag} ${now.key}`);
      if (!found) return svgNode(now);
      refresh(found.child, now, found.old);
      kept.delete(`${now.tag} ${now.key}`);
      return found.child;
    });
    for (const { child } of kept.values()) child.remove();
    children.forEach((child, i) => {
      if (node.childNodes[i] !== child) node.insertBefore(child, node.childNodes[i] ?? null);
    });
  };

  return { patch };
})();
