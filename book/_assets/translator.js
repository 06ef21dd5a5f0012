"use strict";

// Frames with a translator that `attention-course export` has written: each is as high as its page, and has the
// colours of the book. From the disk a frame is another origin, so the two talk by messages.
(() => {
  const frames = () =>
    [...document.querySelectorAll("iframe.translator")].filter((frame) => frame instanceof HTMLIFrameElement);
  /** @param {HTMLIFrameElement} frame */
  const colour = (frame) => {
    const { colorScheme } = getComputedStyle(document.documentElement);
    frame.contentWindow?.postMessage({ colorScheme: colorScheme.split(" ")[0] }, "*");
  };
  addEventListener("message", ({ source, data }) => {
    const frame = frames().find(({ contentWindow }) => contentWindow === source);
    if (!frame || !Number.isFinite(data?.translatorHeight)) return;
    frame.style.height = `${data.translatorHeight + 8}px`;
    colour(frame);
  });
  // A folded page loads when the reader unfolds it; `loading="lazy"` would load it as soon as the reader is near.
  addEventListener(
    "toggle",
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement) || !target.open) return;
      const frame = target.querySelector("iframe[data-src]");
      if (frame instanceof HTMLIFrameElement) frame.src ||= frame.dataset.src ?? "";
    },
    true,
  );
  new MutationObserver(() => frames().forEach(colour)).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
})();
