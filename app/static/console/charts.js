// Small charts. Each says in words what it shows.

import { element, svg } from "./dom.js";
import { number } from "./words.js";

const SAMPLES = 60;
const HEIGHT = 30;
const samples = new Map(); // figures since the page was opened, by name

function frame(width, label, ...children) {
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label },
    ...children);
}

// The latest figure of something that is asked about again and again, with those before it.
export function live(name, value) {
  const values = [...(samples.get(name) ?? []), value].slice(-SAMPLES);
  samples.set(name, values);
  const highest = Math.max(1, ...values);
  const points = values.map((each, i) => `${(i * 100) / (SAMPLES - 1)},${29 - (each / highest) * 27}`).join(" ");
  return frame(100, `${name}: sekarang ${number(value)}, tertinggi ${number(highest)}`, svg("polyline", { points }));
}

export const forget = () => samples.clear();

// One column for each day.
export function columns(values, label) {
  const highest = Math.max(1, ...values);
  return frame(Math.max(1, values.length), label, ...values.map((each, i) => {
    const height = (each / highest) * (HEIGHT - 1);
    return svg("rect", { x: i + 0.1, y: HEIGHT - height, width: 0.8, height });
  }));
}

// Rows of a name, a figure and a bar. A part of the figure can be filled darker.
export function bars(rows) {
  const highest = Math.max(1, ...rows.map(([, value]) => value));
  return element("ul", { class: "bars" }, rows.map(([name, value, words]) => element("li", {},
    element("span", {}, name), element("b", {}, words ?? number(value)),
    svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { width: (value * 100) / highest, height: 4 })))));
}
