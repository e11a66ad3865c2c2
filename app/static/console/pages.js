// A list that grows by a page at a time.

import { button, element, put } from "./dom.js";
import { list } from "./session.js";
import { number } from "./words.js";

const ROWS = 20;

// Fills `box` with the first page, and a button for those that follow. Returns a function that says that a row has left
// the list, so that the next page does not skip one.
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

// Its first line says how many rows there are, also to screen readers.
export const listBox = () => element("div", {}, element("p", { class: "soft count", "aria-live": "polite" }));
