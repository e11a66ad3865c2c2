// The main page of a client in one call: GET /pengingat/hari-ini.
const STATES = { pending: "belum dijawab", done: "sudah", skipped: "dilewati", missed: "terlewat" };
const at = (id) => document.getElementById(id);
let token = null;

async function api(method, path, body) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(`/api${path}`, { method, headers, body: body && JSON.stringify(body) });
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.message);
  return found;
}

/** Return the buttons of a dose: the possible answers, or undo. */
function answersTo(dose) {
  if (dose.pengingat_id === null) return [];
  const isAnswered = ["done", "skipped"].includes(dose.state);
  return [
    ...(dose.can_answer && !isAnswered ? [["done", "Sudah"]] : []),
    ...(dose.can_answer && dose.state === "pending" ? [["skipped", "Lewati"]] : []),
    ...(isAnswered ? [["undo", "Batalkan"]] : []),
  ];
}

function row(dose) {
  const item = Object.assign(document.createElement("li"), { className: "entry" });
  const heading = Object.assign(document.createElement("h2"), { textContent: `${dose.local_time} ${dose.judul}` });
  const about = [dose.what, STATES[dose.state]].filter(Boolean).join(" · ");
  item.append(heading, Object.assign(document.createElement("p"), { textContent: about }));
  for (const [status, title] of answersTo(dose)) {
    const button = Object.assign(document.createElement("button"), { textContent: title, type: "button" });
    button.addEventListener("click", attempt(async () => {
      const { due_at, slot } = dose;
      await api("POST", `/pengingat/${dose.pengingat_id}/konfirmasi`, { status, due_at, slot });
      await show();
    }));
    item.append(button, " ");
  }
  return item;
}

async function show() {
  const doses = await api("GET", "/pengingat/hari-ini");
  at("doses").replaceChildren(...doses.map(row));
  at("status").textContent = doses.length ? "" : "Hari ini tidak ada pengingat.";
}

function attempt(work) {
  return async (event) => {
    event.preventDefault();
    try {
      await work(event.target);
    } catch (error) {
      at("status").textContent = error.message;
    }
  };
}

at("login").addEventListener("submit", attempt(async ({ username, password }) => {
  token = null;
  token = (await api("POST", "/login", { username: username.value, password: password.value })).access_token;
  at("login").hidden = true;
  await show();
}));
