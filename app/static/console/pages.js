// A list that loads one more page at a time.

import { button, element, put } from "./dom.js";
import { list } from "./session.js";
import { number } from "./words.js";

const ROWS = 20;

// Fills `box` with the first page and a button for the next page. Returns a function to call when a row leaves the list
// on the server, so that the next page skips no row.
export async function fill(box, path, query, { row, none, count }) {
  const seen = new Set();
  let gone = 0;
  const next = async () => {
    const page = Math.floor((seen.size - gone) / ROWS) + 1;
    const { rows, total } = await list(path, { ...query, per_page: ROWS, page });
    const fresh = rows.filter((each) => !seen.has(each.id));
    fresh.forEach((each) => seen.add(each.id));
    const isOver = rows.length < ROWS || (total !== null && seen.size - gone >= total);
    return { fresh, total, isOver };
  };
  const show = ({ fresh, isOver }) => {
    const more = button("Tampilkan berikutnya", async () => {
      const nodes = show(await next());
      more.replaceWith(...nodes);
      nodes[0].focus();
    });
    return [...fresh.map(row), isOver ? element("p", { class: "soft", tabindex: -1 }, seen.size ? "Itu semuanya." : none) : more];
  };
  const { total, ...first } = await next();
  box.firstChild.textContent = count && total ? count(number(total)) : "";
  put(box, box.firstChild, ...show(first));
  return () => { gone += 1; };
}

// Creates the box of a list. Its first line is the number of rows, which screen readers announce.
export const listBox = () => element("div", {}, element("p", { class: "soft count", "aria-live": "polite" }));
