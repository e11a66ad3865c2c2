// Laporan: the overview as numbers and charts, and reports as files.

import { bars, columns } from "./charts.js";
import { button, card, element, field, form, paragraph, put, say } from "./dom.js";
import { api, file } from "./session.js";
import { day, jakartaDay, number } from "./words.js";

const REPORTS = {
  users: ["Pengguna", "Nama, kontak, peran, domisili, dan tanggal daftar setiap orang."],
  domicile: ["Domisili", "Jumlah orang per provinsi."],
  "activity-logs": ["Aktivitas", "Apa yang dilakukan orang di aplikasi, dengan waktunya."],
  admins: ["Administrator", "Siapa saja yang menjadi administrator."],
};
const FORMATS = { xlsx: "XLSX", pdf: "PDF", csv: "CSV" };
const PROVINCES = 10;

export async function show(view) {
  const figures = element("div");
  const range = form("Tampilkan", async ({ start, end }) => showFigures(figures, { start: start.value, end: end.value }),
    element("div", { class: "row" },
      element("div", {}, field("start", "Dari tanggal", { type: "date", required: true, value: jakartaDay(29) })),
      element("div", {}, field("end", "Sampai tanggal", { type: "date", required: true, value: jakartaDay() }))));
  put(view.place, element("h3", {}, "Unduh laporan"), downloads(), element("h3", {}, "Angka"), range, figures);
  await showFigures(figures, { start: jakartaDay(29), end: jakartaDay() });
}

function downloads() {
  const [startLabel, start] = field("from", "Dari tanggal", { type: "date" });
  const [endLabel, end] = field("until", "Sampai tanggal", { type: "date" });
  const rows = Object.entries(REPORTS).map(([name, [title, text]]) => element("div", { class: "line report" },
    element("div", {}, element("h4", {}, title), paragraph(text, "soft")),
    element("div", { class: "row" }, Object.entries(FORMATS).map(([format, label]) =>
      button(label, () => download(name, format, start.value, end.value), { "aria-label": `${title} sebagai ${label}` })))));
  return element("div", { class: "card" },
    paragraph("XLSX dan PDF untuk dibaca orang, CSV untuk program lain. PDF memuat 5.000 baris pertama."),
    element("div", { class: "row" }, element("div", {}, startLabel, start), element("div", {}, endLabel, end)),
    paragraph("Tanpa tanggal, laporan memuat semuanya.", "soft"), ...rows);
}

async function download(report, format, start, end) {
  say("Laporan sedang disiapkan…", true);
  const query = new URLSearchParams({ format, ...(start && { start }), ...(end && { end }) });
  const { body, name } = await file(`/admins/export/${report}?${query}`);
  const url = URL.createObjectURL(body);
  element("a", { href: url, download: name ?? `${report}.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  say(`Laporan diunduh: ${name}.`, true);
}

async function showFigures(place, range) {
  const overview = await api("GET", `/admins/overview?${new URLSearchParams(range)}`);
  const { totals } = overview;
  const figure = (value, label) => element("div", { class: "figure" }, element("b", {}, number(value)), element("span", {}, label));
  const span = `${day(overview.range.start)} sampai ${day(overview.range.end)}`;
  const sum = (rows, name) => rows.reduce((all, row) => all + row[name], 0);
  const joined = sum(overview.growth, "users");
  const most = Math.max(0, ...overview.activity.map((row) => row.active_users));
  put(place,
    element("div", { class: "figures" },
      figure(totals.pasien, "pasien"), figure(totals.pendamping, "pendamping"), figure(totals.users, "semua orang"),
      figure(totals.verified, "sudah diverifikasi"), figure(totals.reminders, "pengingat"), figure(totals.threads, "utas forum"),
      figure(totals.replies, "balasan forum"), figure(totals.faskes, "fasilitas kesehatan"), figure(totals.dokter, "dokter"),
      figure(totals.articles, "artikel"), figure(totals.videos, "video"), figure(totals.komunitas, "komunitas")),
    paragraph(`Angka di atas berlaku sekarang. Grafik: ${span}.`, "soft"),
    element("div", { class: "grid" },
      card("Pendaftar baru", paragraph(`${number(joined)} orang mendaftar.`),
        columns(overview.growth.map((row) => row.users), `Pendaftar baru per hari, ${span}: ${number(joined)} orang`)),
      card("Orang yang aktif", paragraph(`Paling banyak ${number(most)} orang dalam sehari.`),
        columns(overview.activity.map((row) => row.active_users), `Orang yang aktif per hari, ${span}: paling banyak ${number(most)}`)),
      card("Pengingat", bars(overview.reminder_categories.map((row) =>
        [row.tipe[0].toUpperCase() + row.tipe.slice(1), row.count, `${number(row.count)}, ${number(row.done)} selesai`]))),
      card("Forum", bars(overview.forum_categories.map((row) => [row.name, row.threads + row.replies]))),
      card("Provinsi", bars(overview.by_province.slice(0, PROVINCES).map((row) => [row.province ?? "Tidak diisi", row.count])),
        overview.by_province.length > PROVINCES ? paragraph("Selengkapnya ada di laporan Domisili.", "soft") : null)));
}
