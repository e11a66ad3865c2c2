// The operators' page, over the REST API alone. What is typed and what is read stay in this tab's memory: a reload ends
// the session. Text is only ever text (`textContent`); the policy of the page refuses anything else.
"use strict";

const LOOK_EVERY_MS = 5000;
const ANSWER_MS = 15000; // an answer that has not begun by then does not come
const ROWS = 50;
const SAMPLES = 60;
const DECISIONS = { keep: "Biarkan", hide: "Sembunyikan", delete: "Hapus" };
const STATES = { open: "Belum diputuskan", kept: "Dibiarkan", hidden: "Disembunyikan", deleted: "Dihapus" };
const REASONS = { misinformation: "informasi keliru", spam: "spam", hate: "kebencian", privacy: "data pribadi", self_harm: "menyakiti diri", other: "lainnya" };
const SENDER = { up: "berjalan", degraded: "terbatas", down: "berhenti" };
const CHANNELS = { message: "Pesan", push: "Notifikasi web" };
const OUTCOMES = { sent: "Terkirim", failed: "Gagal", retried: "Diulang", unknown: "Tidak pasti", needs_template: "Tanpa templat", taken_back: "Ditarik kembali" };
const KINDS = {
  reminder: "Pengingat", stock: "Persediaan obat", alert: "Kabar kepada pendamping", broadcast: "Siaran", forum_reply: "Balasan di forum", push: "Notifikasi web",
  password_reset: "Tautan kata sandi", phone_code: "Kode verifikasi", security_notice: "Pemberitahuan keamanan", answer: "Jawaban otomatis", moderation: "Moderasi",
};
const STATUSES = { waiting: "menunggu", sent: "terkirim", delivered: "sampai", read: "dibaca", failed: "gagal", late: "terlambat", cancelled: "dibatalkan" };

const main = document.getElementById("main");
const tabs = document.getElementById("tabs");
const message = document.getElementById("message");
const logoutButton = document.getElementById("logout");

let session = null; // {access_token, refresh_token}
let refreshing = null; // one refresh for all calls that wait for it
let timer = null;
let page = 0; // counts what is shown, so that a late answer does not land on another page
const samples = new Map(); // figures since the page was opened, by name

// --- small things ----------------------------------------------------------------------------------------------------

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function field(id, label, attributes = {}) {
  return [element("label", { for: id }, label), element("input", { id, name: id, ...attributes })];
}

function say(text) {
  message.textContent = text;
}

function when(text) {
  if (!text) return "–";
  const parts = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  return new Intl.DateTimeFormat("id-ID", parts).format(new Date(text));
}

function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} detik`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} menit`;
  return `${Math.round(seconds / 3600)} jam`;
}

function chart(name, value, label) {
  const values = samples.get(name) ?? [];
  values.push(value);
  if (values.length > SAMPLES) values.shift();
  samples.set(name, values);
  const highest = Math.max(1, ...values);
  const points = values.map((each, i) => `${(i * 100) / (SAMPLES - 1)},${29 - (each / highest) * 27}`).join(" ");
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "chart");
  svg.setAttribute("viewBox", "0 0 100 30");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `${label}: sekarang ${value}, tertinggi ${highest}`);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", points);
  svg.append(line);
  return svg;
}

// --- the API ---------------------------------------------------------------------------------------------------------

async function call(method, path, body, token) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  const options = { method, headers, signal: late.signal, body: body === undefined ? undefined : JSON.stringify(body) };
  let response, answer;
  try {
    response = await fetch(`/api${path}`, { ...options, credentials: "omit", cache: "no-store" });
    clearTimeout(timer); // what has begun to arrive, arrives
    const type = response.headers.get("Content-Type") ?? "";
    answer = type.includes("json") ? await response.json() : type.startsWith("image/") ? await response.blob() : null;
  } catch {
    throw Object.assign(new Error("Layanan tidak dapat dihubungi. Periksa jaringan Anda."), { status: 0 });
  }
  if (response.ok) return answer;
  throw Object.assign(new Error(answer?.message ?? `Layanan menjawab ${response.status}.`), {
    status: response.status, code: answer?.error,
  });
}

function refresh() {
  refreshing ??= call("POST", "/refresh", { refresh_token: session.refresh_token })
    .then((answer) => { session.access_token = answer.access_token; })
    .finally(() => { refreshing = null; });
  return refreshing;
}

async function api(method, path, body) {
  const used = session?.access_token;
  try {
    return await call(method, path, body, used);
  } catch (error) {
    if (error.status !== 401 || !session) throw error;
    if (session.access_token === used) {
      try {
        await refresh();
      } catch (refused) {
        if (refused.status !== 401) throw refused;
        leave("Sesi Anda telah berakhir. Silakan masuk kembali.");
        throw refused;
      }
    }
    return call(method, path, body, session.access_token);
  }
}

// What a button or a form does: once at a time, and told when it goes wrong.
function doing(work) {
  return async (event) => {
    event.preventDefault();
    const button = event.submitter ?? event.currentTarget;
    if (button.disabled) return;
    button.disabled = true;
    say("");
    try {
      await work(event);
    } catch (error) {
      say(error.message);
    } finally {
      button.disabled = false;
    }
  };
}

// --- in and out ------------------------------------------------------------------------------------------------------

function showLogin() {
  const [otpLabel, otp] = field("otp", "Kode verifikasi", { autocomplete: "one-time-code", inputmode: "text", maxlength: 40 });
  otpLabel.hidden = otp.hidden = true;
  const form = element("form", {
    onsubmit: doing(async () => {
      const sent = { username: form.elements.username.value, password: form.elements.password.value };
      if (!otp.hidden) sent.otp = otp.value;
      try {
        session = await call("POST", "/login", sent);
      } catch (error) {
        if (error.code !== "otp_required") throw error;
        otpLabel.hidden = otp.hidden = false;
        otp.focus();
        throw error;
      }
      try {
        await api("GET", "/admins/operasi");
      } catch (error) {
        leave(error.message);
        return;
      }
      enter();
    }),
  },
  ...field("username", "Nama pengguna", { autocomplete: "username", required: true, autocapitalize: "none" }),
  ...field("password", "Kata sandi", { type: "password", autocomplete: "current-password", required: true }),
  otpLabel, otp,
  element("button", { type: "submit", class: "main" }, "Masuk"));
  main.replaceChildren(element("h2", {}, "Masuk sebagai admin"), form);
  form.elements.username.focus();
}

function enter() {
  tabs.replaceChildren(...PAGES.map(([name, label]) =>
    element("button", { type: "button", "data-page": name, onclick: () => show(name) }, label)));
  tabs.hidden = logoutButton.hidden = false;
  show("keadaan");
}

function leave(text = "") {
  session = null;
  samples.clear();
  clearTimeout(timer);
  page += 1;
  tabs.hidden = logoutButton.hidden = true;
  say(text);
  showLogin();
}

logoutButton.addEventListener("click", doing(async () => {
  try {
    await api("POST", "/logout");
  } finally {
    leave();
  }
}));

function show(name) {
  clearTimeout(timer);
  page += 1;
  say("");
  for (const button of tabs.children) {
    if (button.dataset.page === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  const [, label, view] = PAGES.find(([each]) => each === name);
  const place = element("section", { "aria-label": label });
  main.replaceChildren(element("h2", {}, label), place);
  view(place, page).catch((error) => say(error.message));
}

// --- the pages -------------------------------------------------------------------------------------------------------

async function showCondition(place, shown) {
  const condition = await api("GET", "/admins/operasi");
  if (shown !== page) return;
  const now = Date.now();
  const passed = now - (samples.get("looked at") ?? now); // more than a look's pause after another page
  samples.set("looked at", now);
  const problems = condition.problems.length
    ? element("div", { class: "card" }, element("h3", { class: "bad" }, "Ada masalah"),
      ...condition.problems.map((text) => element("p", { class: "bad" }, text)))
    : element("div", { class: "card" }, element("h3", {}, "Semua berjalan baik"));
  const queues = condition.queues.map((queue) => element("div", { class: "card" },
    element("h3", {}, `Antrean ${queue.queue}`),
    element("p", {}, `${queue.due} jatuh tempo, tertua ${duration(queue.oldest_due_s)}`),
    element("p", { class: "soft" }, `${queue.workers} pekerja, ${queue.jobs} tugas menunggu`),
    chart(`due ${queue.queue}`, queue.due, `Jatuh tempo di antrean ${queue.queue}`)));
  const counted = Object.entries(condition.outcomes ?? {}).map(([name, total]) => {
    const added = Math.max(0, total - (samples.get(`total ${name}`) ?? total)); // counted anew where Redis was emptied
    samples.set(`total ${name}`, total);
    return element("div", { class: "card" }, element("h3", {}, OUTCOMES[name] ?? name),
      passed ? element("p", {}, `${added} dalam ${duration(passed / 1000)} terakhir`) : null,
      element("p", { class: "soft" }, `${total.toLocaleString("id-ID")} seluruhnya`),
      chart(`rate ${name}`, passed ? Math.round((added * LOOK_EVERY_MS) / passed) : 0, OUTCOMES[name] ?? name));
  });
  place.replaceChildren(problems, element("div", { class: "grid" }, ...queues, ...counted),
    element("p", { class: "soft" }, `Dibaca ${new Date(now).toLocaleTimeString("id-ID", { timeZoneName: "short" })}.`));
}

// Looks again for as long as the page is open. What was seen before goes when a look fails: it may be so no longer.
async function watchCondition(place, shown) {
  try {
    await showCondition(place, shown);
  } catch (error) {
    if (shown === page) {
      place.replaceChildren(element("div", { class: "card" }, element("h3", { class: "bad" }, "Keadaan tidak dapat dibaca"),
        element("p", { class: "bad" }, error.message)));
    }
  }
  if (shown === page) timer = setTimeout(() => watchCondition(place, shown), LOOK_EVERY_MS);
}

async function showDeliveries(place, shown) {
  const list = element("div", { "aria-live": "polite" });
  const form = element("form", {
    onsubmit: doing(async () => {
      const found = await api("GET", `/admins/users?per_page=6&page=1&q=${encodeURIComponent(form.elements.person.value)}`);
      if (shown !== page) return;
      list.replaceChildren(...(found.length ? found.slice(0, 5).map((user) => element("div", { class: "card row" },
        element("span", {}, `${user.nama_ktp} (${user.username})`),
        element("button", { type: "button", onclick: doing(() => showDeliveriesOf(user, list, shown)) }, "Lihat pengiriman")))
        : [element("p", {}, "Tidak ada yang cocok.")]), found.length > 5 ? element("p", {}, "Ada lagi. Persempit pencarian.") : "");
    }),
  },
  ...field("person", "Nama, nama pengguna, atau nomor HP", { required: true, minlength: 3 }),
  element("button", { type: "submit", class: "main" }, "Cari"));
  place.replaceChildren(form, element("p", { class: "soft" }, "Orang itu dapat membaca bahwa pengirimannya dilihat."), list);
}

// The latest first, with what is still to come; older ones follow below.
async function showDeliveriesOf(user, list, shown) {
  const described = (part) => {
    const status = `${STATUSES[part.status] ?? part.status}${part.at ? ` sejak ${when(part.at)}` : ""}`;
    return element("p", { class: ["failed", "late"].includes(part.status) ? "bad" : "" },
      `${CHANNELS[part.channel] ?? part.channel}: ${status}${part.reason ? `. Yang dibacanya: “${part.reason}”` : ""}`);
  };
  const next = async (number) => {
    const rows = await api("GET", `/admins/users/${user.id}/pengiriman?per_page=${ROWS}&page=${number}`);
    const more = element("button", { type: "button", onclick: doing(async () => more.replaceWith(...await next(number + 1))) }, "Yang lebih lama");
    return [...rows.map((row) => element("div", { class: "card" },
      element("h3", {}, `${KINDS[row.kind] ?? row.kind}, ${when(row.due_at)}`), ...row.channels.map(described))),
    rows.length === ROWS ? more : element("p", {}, rows.length || number > 1 ? "Itu semuanya." : "Belum ada pengiriman.")];
  };
  const rows = await next(1);
  if (shown !== page) return;
  list.replaceChildren(element("h3", {}, `${user.nama_ktp} (${user.username})`), ...rows);
}

async function showSending(place, shown) {
  const { broadcasts, sender } = await api("GET", "/admins/operasi");
  if (shown !== page) return;
  const thenAnew = (change) => doing(async () => {
    await change();
    if (shown !== page) return;
    show("siaran"); // what was shown is no longer so, and the button that did it is gone
    main.focus();
  });
  const toggle = thenAnew(() => api("PUT", "/admins/operasi/siaran", { paused: !broadcasts.paused }));
  const resume = thenAnew(() => api("POST", "/admins/operasi/pengirim"));
  place.replaceChildren(
    element("div", { class: "card" }, element("h3", {}, "Siaran"),
      element("p", {}, broadcasts.paused ? "Dijeda." : "Berjalan."),
      broadcasts.reason ? element("p", { class: "bad" }, broadcasts.reason) : null, element("p", { class: "soft" }, `${broadcasts.open} siaran belum selesai`),
      element("button", { type: "button", class: "main", onclick: toggle }, broadcasts.paused ? "Lanjutkan siaran" : "Jeda siaran")),
    sender ? element("div", { class: "card" }, element("h3", {}, `Pengirim ${sender.provider}`),
      element("p", { class: sender.state === "down" ? "bad" : "" }, `${SENDER[sender.state]} sejak ${when(sender.since)}`),
      sender.reason ? element("p", { class: "bad" }, sender.reason) : null,
      element("p", { class: "soft" }, `Mutu: ${sender.quality ?? "–"}. Batas 24 jam: ${sender.limit_24h ?? "–"}. Sisa kuota: ${sender.quota ?? "–"}. Diperiksa: ${when(sender.checked_at)}.`),
      sender.state === "up" ? null : element("button", { type: "button", onclick: resume }, "Coba kirim lagi"))
      : element("div", { class: "card" }, element("h3", {}, "Pengirim"), element("p", {}, "Belum ada keterangan.")));
}

async function showCases(place, shown) {
  const [open, appealed] = await Promise.all([
    api("GET", "/admins/moderasi?state=open&per_page=50&page=1"), api("GET", "/admins/moderasi?banding=true&per_page=50&page=1"),
  ]);
  const cases = [...open, ...appealed.filter((each) => each.state !== "open")];
  if (shown !== page) return;
  const pictures = [];
  const cards = cases.map((each) => {
    const picture = each.has_image ? element("p", { class: "soft" }, "Memuat gambar…") : null;
    if (picture) pictures.push([picture, each]);
    const choices = Object.entries(DECISIONS).map(([value, label], i) => element("label", {},
      element("input", { type: "radio", name: "decision", value, required: true, checked: i === 0 }), label));
    const form = element("form", {
      onsubmit: doing(async () => {
        const sent = { decision: form.elements.decision.value, reason: form.elements[`reason-${each.id}`].value };
        const { state } = await api("PUT", `/admins/moderasi/${each.id}`, sent);
        card.replaceChildren(element("h3", {}, each.title ?? "(dihapus penulisnya)"), element("p", {}, `${STATES[state]}.`));
        card.focus(); // the other cards keep what is typed there
      }),
    },
    element("fieldset", {}, element("legend", {}, "Keputusan"), ...choices),
    ...field(`reason-${each.id}`, "Alasan, dibaca oleh penulisnya", { required: true, maxlength: 500 }),
    element("button", { type: "submit", class: "main" }, "Putuskan"));
    const card = element("article", { class: "card", tabindex: -1 },
      element("h3", { class: each.urgent ? "bad" : "" }, `${each.urgent ? "Mendesak: " : ""}${each.title ?? "(dihapus penulisnya)"}`),
      element("p", {}, each.content ?? ""),
      picture,
      element("p", { class: "soft" }, `${each.author_name ?? "–"}, ${when(each.created_at)}, ${STATES[each.state]}`),
      ...each.reports.map((report) => element("p", { class: "soft" }, `Laporan: ${REASONS[report.reason] ?? report.reason}${report.note ? `, ${report.note}` : ""}`)),
      each.appeal ? element("p", {}, `Banding: ${each.appeal}`) : null, form);
    return card;
  });
  place.replaceChildren(...(cards.length ? cards : [element("p", {}, "Tidak ada kasus yang menunggu.")]));
  showPictures(pictures, shown);
}

// Puts each picture in the place of the text that waits for it, one after the other. An `<img>` alone sends no token, so the
// script fetches them; the address that stands for one ends as soon as it is decoded.
async function showPictures(pictures, shown) {
  for (const [waiting, each] of pictures) {
    if (shown !== page) return;
    if (!waiting.isConnected) continue; // its case is decided
    try {
      const url = URL.createObjectURL(await api("GET", `/admins/moderasi/${each.id}/gambar`));
      const image = element("img", { src: url, alt: `Gambar pada ${each.reply_id ? "balasan di utas" : "utas"} “${each.title}”` });
      await image.decode().finally(() => URL.revokeObjectURL(url));
      waiting.replaceWith(image);
    } catch {
      waiting.textContent = "Gambar tidak dapat ditampilkan.";
    }
  }
}

async function showAudit(place, shown) {
  const entries = await api("GET", "/admins/audit?per_page=50&page=1");
  if (shown !== page) return;
  place.replaceChildren(...entries.map((entry) => element("div", { class: "card" },
    element("p", {}, `${entry.actor ?? "operator"}: ${entry.action}, ${entry.subject}`),
    element("p", { class: "soft" }, `${when(entry.created_at)}${entry.ip ? `, ${entry.ip}` : ""}`))));
}

const PAGES = [
  ["keadaan", "Keadaan", watchCondition],
  ["pengiriman", "Pengiriman", showDeliveries],
  ["siaran", "Siaran dan pengirim", showSending],
  ["moderasi", "Moderasi", showCases],
  ["audit", "Audit", showAudit],
];

showLogin();
