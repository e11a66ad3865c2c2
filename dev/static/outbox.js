// Replaces the rows every two seconds, unless text is selected or the page is hidden.
const PAUSE_MS = 2000;
let shownHtml = document.getElementById("rows").innerHTML;

async function refresh() {
  const fresh = document.getElementById("fresh");
  if (document.hidden || String(getSelection())) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = page.getElementById("rows");
    if (rows.innerHTML !== shownHtml) replace(rows);
    fresh.textContent = "The page refreshes every two seconds.";
  } catch {
    fresh.textContent = "The service does not respond. Trying again.";
  }
}

// Keep open entries open, and keep the keyboard focus.
function replace(rows) {
  shownHtml = rows.innerHTML;
  const focused = document.activeElement?.id;
  for (const { id } of document.querySelectorAll("#rows details[open]")) {
    const details = rows.querySelector(`#${id}`);
    if (details) details.open = true;
  }
  document.getElementById("rows").replaceWith(rows);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

setInterval(refresh, PAUSE_MS);
