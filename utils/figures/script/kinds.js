// How each kind of figure is drawn: each file of the folder `kinds` adds its own.
/** @type {Record<string, Kind>} */
const kinds = {};
