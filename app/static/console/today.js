// The first tab: today's state in sentences.

import { card, element, paragraph, put } from "./dom.js";
import { api, list } from "./session.js";
import { number, problem } from "./words.js";

const LOOK_EVERY_MS = 60000;

const link = (hash, text) => element("p", {}, element("a", { href: `#${hash}` }, text));

export async function show(view) {
  const [day, condition, open, appeals] = await Promise.all([
    api("GET", "/admins/overview/hari-ini"),
    api("GET", "/admins/operasi"),
    list("/admins/moderasi", { state: "open", per_page: 1, page: 1 }),
    list("/admins/moderasi", { banding: "true", per_page: 1, page: 1 }),
  ]);
  if (!view.isOpen()) return;
  put(view.place, element("div", { class: "grid" },
    reminders(day), patients(day), forum(open, appeals), service(condition)));
  setTimeout(() => again(view), LOOK_EVERY_MS);
}

// Reloads the tab. After a failure the old state is replaced by the error, because it may be stale.
function again(view) {
  if (!view.isOpen()) return;
  if (view.place.contains(document.activeElement)) { // do not redraw while a link has the focus
    setTimeout(() => again(view), LOOK_EVERY_MS);
    return;
  }
  show(view).catch((error) => {
    if (!view.isOpen()) return;
    put(view.place, card("Keadaan hari ini tidak dapat dibaca", paragraph(error.message, "bad")));
    setTimeout(() => again(view), LOOK_EVERY_MS);
  });
}

function reminders({ sent, failed, waiting, done }) {
  return card("Pengingat",
    element("p", { class: failed ? "bad large" : "large" }, `Hari ini ${number(sent)} pengingat terkirim, ${number(failed)} gagal.`),
    done ? paragraph(`${number(done)} sudah ditandai selesai.`) : null,
    waiting ? paragraph(`${number(waiting)} masih menunggu giliran kirim.`) : null);
}

function patients({ patients: count, unverified }) {
  return card("Pasien",
    paragraph(`Ada ${number(count)} pasien terdaftar.`, "large"),
    paragraph(`${number(unverified)} orang belum diverifikasi.`),
    unverified ? link("pengguna/belum", "Lihat siapa yang belum diverifikasi") : null);
}

function forum({ rows, total }, appeals) {
  const isUrgent = rows[0]?.urgent;
  return card("Forum",
    paragraph(total ? `${number(total)} tulisan menunggu keputusan.` : "Tidak ada tulisan yang menunggu keputusan.", "large"),
    isUrgent ? paragraph("Ada yang mendesak: mungkin seseorang dalam bahaya.", "bad") : null,
    appeals.total ? paragraph(`${number(appeals.total)} penulis mengajukan banding.`) : null,
    total ? link("moderasi", "Periksa tulisan") : null,
    appeals.total ? link("moderasi/banding", "Periksa banding") : null);
}

function service({ problems, broadcasts }) {
  return card("Layanan",
    problems.length ? problems.map((text) => paragraph(problem(text), "bad")) : paragraph("Semua berjalan baik.", "large"),
    broadcasts.paused ? paragraph("Siaran sedang dijeda.") : null,
    problems.length || broadcasts.paused ? link("layanan", "Lihat keadaan layanan") : null);
}
