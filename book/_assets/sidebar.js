"use strict";

// The contents beside the page begin at its top; a reader of a late chapter wants to see where that chapter is.
addEventListener("DOMContentLoaded", () => {
  const sidebar = document.querySelector(".bd-sidebar-primary");
  const here = sidebar?.querySelector("li.current.active");
  if (!sidebar || !here) return;
  const { top, height } = here.getBoundingClientRect();
  sidebar.scrollTop += top - sidebar.getBoundingClientRect().top - (sidebar.clientHeight - height) / 2;
});
