// Layanan: the state of deliveries, the sender and broadcasts.

import { button, card, element, paragraph, put, say } from "./dom.js";
import { api } from "./session.js";
import { duration, joined, number, OUTCOMES, problem, QUALITY, QUEUES, SENDER_STATES, when } from "./words.js";

const LOOK_EVERY_MS = 5000;

export async function show(view) {
  const condition = await api("GET", "/admins/operasi");
  if (!view.isOpen()) return;
  const state = element("div"), sending = element("div");
  put(view.place, sending, state);
  drawSending(sending, condition);
  drawState(state, condition);
  setTimeout(() => watch(view, state), LOOK_EVERY_MS);
}

// Polls while the tab is open. After a failure the old state is replaced by the error, because it may be stale.
async function watch(view, state) {
  if (!view.isOpen()) return;
  try {
    const condition = await api("GET", "/admins/operasi");
    if (view.isOpen()) drawState(state, condition);
  } catch (error) {
    if (view.isOpen()) put(state, card("Keadaan tidak dapat dibaca", paragraph(error.message, "bad")));
  }
  setTimeout(() => watch(view, state), LOOK_EVERY_MS);
}

function drawState(place, { problems, queues, outcomes }) {
  const waiting = queues.map((queue) => {
    const name = QUEUES[queue.queue] ?? "Kiriman lain";
    return card(name,
      paragraph(queue.due ? `${number(queue.due)} menunggu dikirim, yang tertua ${duration(queue.oldest_due_s)}.` : "Tidak ada yang menunggu."),
      paragraph(queue.workers ? `${number(queue.workers)} program pengirim berjalan.` : "Tidak ada program pengirim yang berjalan.", queue.workers ? "soft" : "bad"));
  });
  const counted = Object.entries(outcomes).map(([name, total]) => `${number(total)} ${OUTCOMES[name] ?? name}`);
  put(place,
    problems.length ? card("Ada masalah", problems.map((text) => paragraph(problem(text), "bad"))) : card("Semua berjalan baik"),
    element("div", { class: "grid" }, waiting),
    card("Satu jam terakhir", paragraph(`${joined(counted)}.`)),
    paragraph(`Dibaca ${new Date().toLocaleTimeString("id-ID", { timeZoneName: "short" })}.`, "soft"));
}

function drawSending(place, { broadcasts, sender }) {
  const toggle = async () => {
    const { paused } = await api("PUT", "/admins/operasi/siaran", { paused: !broadcasts.paused });
    drawSending(place, await api("GET", "/admins/operasi"));
    place.querySelector("button")?.focus();
    say(paused ? "Semua siaran dijeda." : "Siaran berjalan lagi.", true);
  };
  put(place, element("div", { class: "grid" },
    card("Siaran", paragraph(broadcasts.paused ? "Dijeda." : "Berjalan."),
      paragraph(`${number(broadcasts.open)} siaran belum selesai.`, "soft"),
      button(broadcasts.paused ? "Lanjutkan siaran" : "Jeda siaran", toggle)),
    sender ? card("Pengirim pesan",
      paragraph(`${sender.provider} ${sender.number ?? ""}: ${SENDER_STATES[sender.state]} sejak ${when(sender.since)}.`, sender.state === "down" ? "bad" : ""),
      sender.reason ? paragraph(`Kata penyedia: ${sender.reason}`, "bad") : null,
      sender.quality ? paragraph(`Mutu nomor: ${QUALITY[sender.quality] ?? sender.quality}.`, "soft") : null,
      sender.limit_24h === null ? null : paragraph(`Batas: ${number(sender.limit_24h)} orang dalam 24 jam.`, "soft"),
      sender.quota === null ? null : paragraph(`Sisa kuota: ${number(sender.quota)} pesan.`, "soft"),
      paragraph(`Diperiksa: ${when(sender.checked_at)}.`, "soft"))
      : card("Pengirim pesan", paragraph("Belum ada keterangan."))));
}
