// Replaces the rows every two seconds, unless somebody is selecting text or the page is hidden.
const PAUSE_MS = 2000;

async function refresh() {
  const fresh = document.getElementById("fresh");
  if (document.hidden || String(getSelection())) return;
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const rows = page.getElementById("rows");
    const shown = document.getElementById("rows");
    if (rows.innerHTML !== shown.innerHTML) shown.replaceWith(rows);
    fresh.textContent = "Refreshes by itself.";
  } catch {
    fresh.textContent = "The service does not answer; still trying.";
  }
}

setInterval(refresh, PAUSE_MS);
