"use strict";

// The theme's icons stand in its pages from the start. Watching for more would make every change of a figure dearer.
window.FontAwesomeConfig = { observeMutations: false };
