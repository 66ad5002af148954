/** The icon of the HTML pages, as SVG. */
export const ICON_SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 15V7a6 6 0 0 1 12 0v8" fill="none" ' +
  'stroke="#1f2937" stroke-width="2"/><circle cx="8" cy="8" r="3" fill="#d60590"/></svg>';
