// Small charts, each with a text label for screen readers.

import { element, svg } from "./dom.js";
import { number } from "./words.js";

const HEIGHT = 30;

// Draws one column per value.
export function columns(values, label) {
  const highest = Math.max(1, ...values);
  return svg("svg", { class: "chart", viewBox: `0 0 ${Math.max(1, values.length)} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    ...values.map((each, i) => {
      const height = (each / highest) * (HEIGHT - 1);
      return svg("rect", { x: i + 0.1, y: HEIGHT - height, width: 0.8, height });
    }));
}

// Draws rows with a name, a number (or a text in its place) and a bar.
export function bars(rows) {
  const highest = Math.max(1, ...rows.map(([, value]) => value));
  return element("ul", { class: "bars" }, rows.map(([name, value, words]) => element("li", {},
    element("span", {}, name), element("b", {}, words ?? number(value)),
    svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { width: (value * 100) / highest, height: 4 })))));
}
