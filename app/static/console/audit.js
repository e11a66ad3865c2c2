// Catatan: the audit log as sentences.

import { choice, element, field, form, paragraph, put } from "./dom.js";
import { fill, listBox } from "./pages.js";
import { day, role, when } from "./words.js";

const REPORTS = { users: "pengguna", admins: "administrator", "activity-logs": "aktivitas", domicile: "domisili" };
const DECIDED = { keep: "membiarkan", hide: "menyembunyikan" };
const THINGS = {
  user: "pengguna", admins: "administrator", users: "pengguna", post: "tulisan",
  articles: "artikel", videos: "video", videoplatform: "video", faskes: "fasilitas kesehatan", dokter: "dokter", komunitas: "komunitas",
  kategori: "kategori", roles: "peran", emergency: "nomor darurat", "province-config": "susunan beranda provinsi",
};
const FIELDS = { nama_ktp: "nama", nomor_hp: "nomor HP", email: "e-mail", password: "kata sandi", image: "foto", username: "nama pengguna", domicile: "domisili" };

const because = ({ reason }) => (reason ? `, karena: ${reason}` : "");
const roles = (names) => names.map(role).join(" dan ");

// Returns the username of the person whom an entry is about, or the record's kind and number.
function who({ subject, subject_name }) {
  return subject_name ?? thing(subject);
}

// Returns the kind and number of a subject such as `faskes/3` or `post:5`.
function thing(subject) {
  const parts = subject.split(/[/:]/);
  const kind = THINGS[parts[0]] ?? parts[0];
  const id = parts.findLast((part) => /^\d+$/.test(part));
  return id ? `${kind} nomor ${id}` : `${kind} ${parts.slice(1).map(decodeURIComponent).join(" ")}`.trim();
}

function changed({ details }) {
  if ("is_verified" in details) return details.is_verified ? "memverifikasi" : "mencabut verifikasi";
  return `mengubah ${(details.fields ?? []).map((name) => FIELDS[name] ?? name).join(", ") || "data"}`;
}

function rolesChanged({ details }) {
  const parts = [];
  if (details.given?.length) parts.push(`memberi peran ${roles(details.given)} kepada`);
  if (details.taken?.length) parts.push(`mencabut peran ${roles(details.taken)} dari`);
  return parts.join(" dan ");
}

function exported({ subject, details }) {
  const [kind, name] = subject.split(":");
  const what = kind === "table" ? `tabel ${name}` : `laporan ${REPORTS[name] ?? name}`;
  const span = details.start ? `, ${day(details.start)} sampai ${day(details.end)}` : "";
  return `mengunduh ${what} sebagai ${(details.format ?? "").toUpperCase()}${span}`;
}

function deleted(entry) {
  const [kind, caregiver, patient] = entry.subject.split(":");
  if (kind === "caregiver_link") return `menghapus hubungan pendamping nomor ${caregiver} dengan pasien nomor ${patient}`;
  return `menghapus ${thing(entry.subject)}`;
}

// By action: the label in the filter, and a function that returns the sentence without its subject.
const ACTIONS = {
  user_changed: ["Data akun diubah", (entry) => `${changed(entry)} ${who(entry)}`],
  roles_changed: ["Peran diubah", (entry) => `${rolesChanged(entry)} ${who(entry)}`],
  sessions_ended: ["Sesi diakhiri", (entry) => `mengakhiri semua sesi ${who(entry)}${because(entry.details)}`],
  number_freed: ["Nomor HP dilepas", (entry) => `melepas nomor HP ${who(entry)}${because(entry.details)}`],
  second_factor_removed: ["Verifikasi dua langkah dimatikan", (entry) => `mematikan verifikasi dua langkah ${who(entry)}${because(entry.details)}`],
  moderated: ["Keputusan moderasi", (entry) => `${DECIDED[entry.details.decision] ?? "memutuskan"} ${thing(entry.subject)}`],
  pseudonym_read: ["Nama samaran dilihat", (entry) => `melihat nama samaran ${who(entry)}`],
  nik_read: ["NIK dilihat", (entry) => `melihat NIK ${who(entry)}`],
  export: ["Laporan diunduh", exported],
  admin_created: ["Administrator ditambahkan", (entry) => `menambahkan administrator ${who(entry)}`],
  deleted: ["Sesuatu dihapus", deleted],
  erased: ["Akun dihapus tuntas", (entry) => `menghapus tuntas ${thing(entry.subject)} atas permintaan pemiliknya`],
  broadcasts_paused: ["Siaran dijeda", () => "menjeda semua siaran"],
  broadcasts_resumed: ["Siaran dilanjutkan", () => "melanjutkan siaran"],
  sql: ["Perintah basis data", (entry) => `menjalankan perintah basis data${entry.details.query ? `: ${entry.details.query}` : ""}`],
};
const FILTERED = Object.entries(ACTIONS).map(([name, [label]]) => [name, label]).sort(([, one], [, other]) => one.localeCompare(other));

function sentence(entry) {
  const actor = entry.actor ?? (entry.actor_id === null ? "Pengelola layanan" : `Administrator yang sudah dihapus (nomor ${entry.actor_id})`);
  const [, said] = ACTIONS[entry.action] ?? [null, () => `melakukan perubahan pada ${thing(entry.subject)}`];
  return `${entry.action === "erased" ? "Layanan" : actor} ${said(entry)}.`;
}

export async function show(view) {
  const found = listBox();
  const search = () => {
    const q = asked.elements.q.value.trim(), action = asked.elements.action.value;
    return fill(found, "/admins/audit", { ...(q && { q }), ...(action && { action }) }, {
      row: (entry) => element("div", { class: "card", tabindex: -1 },
        paragraph(sentence(entry)), paragraph(`${when(entry.created_at)}${entry.ip ? `, dari alamat ${entry.ip}` : ""}`, "soft")),
      none: "Tidak ada catatan yang cocok.",
      count: (total) => `${total} catatan.`,
    });
  };
  const asked = form("Tampilkan", search,
    ...field("q", "Nama pengguna administrator", { type: "search", maxlength: 100 }),
    ...choice("action", "Kejadian", { "": "Semua kejadian", ...Object.fromEntries(FILTERED) }, ""));
  put(view.place, asked, found);
  await search();
}
