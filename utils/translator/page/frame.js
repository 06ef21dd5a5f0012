// In a frame: the page around it gets to know the height, and says which colours it has.
(() => {
  if (parent !== window) {
    document.documentElement.classList.add("framed");
    for (const details of document.querySelectorAll("footer details")) details.removeAttribute("open");
    new ResizeObserver(() => parent.postMessage({ translatorHeight: document.body.offsetHeight }, "*")).observe(
      document.body,
    );
    addEventListener("message", ({ data }) => {
      if (/^(light|dark)$/.test(data?.colorScheme)) document.documentElement.style.colorScheme = data.colorScheme;
    });
  }
})();
