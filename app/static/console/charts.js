// Small charts, each with a text label for screen readers.

import { element, svg } from "./dom.js";
import { number } from "./words.js";

const SAMPLES = 60;
const HEIGHT = 30;
const samples = new Map(); // the last values by name, since the page was opened

function frame(width, label, ...children) {
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    ...children);
}

// Draws a line of a polled value: adds the latest value to the earlier ones.
export function live(name, value) {
  const values = [...(samples.get(name) ?? []), value].slice(-SAMPLES);
  samples.set(name, values);
  const highest = Math.max(1, ...values);
  const points = values.map((each, i) => `${(i * 100) / (SAMPLES - 1)},${29 - (each / highest) * 27}`).join(" ");
  return frame(100, `${name}: sekarang ${number(value)}, tertinggi ${number(highest)}`, svg("polyline", { points }));
}

export const forget = () => samples.clear();

// Draws one column per value.
export function columns(values, label) {
  const highest = Math.max(1, ...values);
  return frame(Math.max(1, values.length), label, ...values.map((each, i) => {
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
