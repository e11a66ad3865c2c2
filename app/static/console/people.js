// Pengguna: search users, and actions of an administrator for each user.

import { button, choice, element, field, form, paragraph, put, reasonField, say } from "./dom.js";
import { fill, listBox } from "./pages.js";
import { api } from "./session.js";
import { CHANNELS, DELIVERY_KINDS, DELIVERY_STATES, joined, role, when } from "./words.js";

const FILTERS = {
  semua: ["Semua orang", {}],
  belum: ["Belum diverifikasi", { is_verified: "false" }],
  pasien: ["Pasien", { role: "pasien" }],
  pendamping: ["Pendamping", { role: "pendamping" }],
  admin: ["Administrator", { role: "admin" }],
};

let roles = null; // all roles, after they were loaded

export async function show(view) {
  const wanted = FILTERS[view.wanted] ? view.wanted : "semua";
  const found = listBox();
  const search = async () => {
    const q = asked.elements.q.value.trim();
    const [, filter] = FILTERS[asked.elements.filter.value];
    await fill(found, "/admins/users", { ...(q && { q }), ...filter }, {
      row: (user) => person(user, view),
      none: "Tidak ada yang cocok.",
      count: (total) => `${total} orang ditemukan.`,
    });
  };
  const labels = Object.fromEntries(Object.entries(FILTERS).map(([name, [words]]) => [name, words]));
  const asked = form("Cari", search,
    ...field("q", "Nama, nama pengguna, atau nomor HP", { type: "search", maxlength: 100 }), ...choice("filter", "Tampilkan", labels, wanted));
  put(view.place, asked, found);
  if (wanted !== "semua") await search();
  if (view.isOpen() && !matchMedia("(pointer: coarse)").matches) asked.elements.q.focus();
}

function person(user, view) {
  const node = element("article", { class: "card", tabindex: -1 });
  draw(node, user, view);
  return node;
}

function draw(node, user, view) {
  const panel = element("div", { class: "panel" });
  const parts = actions(user, view).map(([label, build]) => {
    const opener = button(label, async () => {
      const isOpen = opener.getAttribute("aria-expanded") === "true";
      for (const each of parts) each.setAttribute("aria-expanded", "false");
      put(panel);
      if (isOpen) return;
      opener.setAttribute("aria-expanded", "true");
      put(panel, await build(panel, (changed, text) => {
        draw(node, { ...user, ...changed }, view);
        node.focus();
        say(text, true);
      }));
    }, { "aria-expanded": "false" });
    return opener;
  });
  put(node, element("h3", {}, `${user.nama_ktp ?? "–"} (${user.username})`),
    paragraph(joined([user.roles.map(({ name }) => role(name)).join(" dan "), user.is_verified ? "sudah diverifikasi" : "belum diverifikasi"])),
    paragraph(joined([user.nomor_hp ?? "tanpa nomor HP", user.email, user.domicile]), "soft"),
    paragraph(`Terdaftar: ${when(user.created_at)}.`, "soft"),
    user.erasure_due_at ? paragraph(`Pemiliknya meminta akun dihapus pada ${when(user.erasure_due_at)}. Masuk sebelum itu membatalkannya.`, "bad") : null,
    element("div", { class: "row" }, parts), panel);
}

// Returns the actions: a label, and a function that builds the panel. `done` redraws the user.
function actions(user, view) {
  const isOther = user.id !== view.me.id;
  const isAdmin = user.roles.some(({ name }) => ["admin", "superadmin"].includes(name));
  return [
    [user.is_verified ? "Cabut verifikasi" : "Verifikasi", (_, done) => verify(user, done)],
    ["Tidak bisa masuk?", () => help(isAdmin)],
    ["Peran", (_, done) => changeRoles(user, view.me, done)],
    ["Akhiri semua sesi", (_, done) => endSessions(user, done)],
    user.nomor_hp ? ["Lepaskan nomor HP", (_, done) => freeNumber(user, done)] : null,
    isOther && isAdmin && isSuperadmin(view.me) ? ["Matikan verifikasi dua langkah", (_, done) => removeFactor(user, done)] : null,
    ["Yang dikirim", (panel) => deliveries(user, panel)],
  ].filter(Boolean);
}

function verify(user, done) {
  const text = user.is_verified ? "Cabut tanda verifikasi dari orang ini?" : "Pastikan nama dan nomornya benar milik orang ini.";
  return [paragraph(text), button(user.is_verified ? "Ya, cabut" : "Ya, verifikasi", async () => {
    const changed = await api("PUT", `/admins/users/${user.id}`, { is_verified: !user.is_verified });
    done(changed, changed.is_verified ? `${user.nama_ktp} sudah diverifikasi.` : `Verifikasi ${user.nama_ktp} dicabut.`);
  }, { class: "main" })];
}

function help(isAdmin) {
  return element("ul", {}, [
    "Salah kata sandi berulang kali: tunggu lima menit, lalu coba lagi. Kuncinya terbuka sendiri.",
    "Lupa kata sandi: pilih “Lupa kata sandi” di aplikasi. Tautannya dikirim ke nomor HP di akun.",
    "Ponsel hilang atau dicuri: pilih “Akhiri semua sesi” di sini.",
    "Nomor HP sudah dipakai orang lain: pilih “Lepaskan nomor HP” di sini.",
    isAdmin ? "Kehilangan kode verifikasi dua langkah: administrator utama dapat mematikannya di sini." : null,
  ].filter(Boolean).map((text) => element("li", {}, text)));
}

function isSuperadmin(me) {
  return me.roles.some(({ name }) => name === "superadmin");
}

async function changeRoles(user, me, done) {
  roles ??= await api("GET", "/roles");
  const boxes = roles.map(({ id, name }) => element("label", {},
    element("input", { type: "checkbox", name: "role", value: id, checked: user.role_ids.includes(id),
      disabled: name === "superadmin" && !isSuperadmin(me) }), role(name)));
  const asked = form("Simpan peran", async () => {
    const chosen = [...asked.querySelectorAll("input:checked")].map(({ value }) => Number(value));
    done(await api("PUT", `/admins/users/${user.id}`, { role_ids: chosen }), `Peran ${user.nama_ktp} disimpan.`);
  }, element("fieldset", {}, element("legend", {}, "Peran"), ...boxes));
  return asked;
}

function endSessions(user, done) {
  return form("Akhiri semua sesi", async ({ reason }) => {
    await api("DELETE", `/admins/users/${user.id}/sesi`, { reason: reason.value });
    done({}, `${user.nama_ktp} sudah dikeluarkan dari semua perangkat.`);
  }, paragraph("Orang ini harus masuk lagi di setiap perangkat, dan diberi tahu lewat pesan."), ...reasonField());
}

function freeNumber(user, done) {
  return form("Lepaskan nomor", async ({ reason }) => {
    done(await api("DELETE", `/admins/users/${user.id}/phone`, { reason: reason.value }), `Nomor HP ${user.nama_ktp} dilepas.`);
  }, paragraph(`Nomor ${user.nomor_hp} tidak lagi milik akun ini. Pengingat lewat pesan berhenti sampai ada nomor baru.`),
  ...reasonField("Alasan, dibaca oleh orangnya"));
}

function removeFactor(user, done) {
  return form("Matikan verifikasi dua langkah", async ({ reason, password, otp }) => {
    const sent = { reason: reason.value, password: password.value, ...(otp.value && { otp: otp.value }) };
    await api("DELETE", `/admins/${user.id}/otp`, sent);
    done({}, `Verifikasi dua langkah ${user.nama_ktp} dimatikan, dan semua sesinya berakhir.`);
  },
  paragraph("Pastikan dahulu bahwa permintaan ini benar dari orangnya."), ...reasonField(),
  ...field("password", "Kata sandi Anda sendiri", { type: "password", autocomplete: "current-password", required: true }),
  ...field("otp", "Kode verifikasi Anda, jika Anda memakainya", { autocomplete: "one-time-code", maxlength: 40 }));
}

async function deliveries(user, panel) {
  const described = (part) => {
    const status = `${DELIVERY_STATES[part.status] ?? part.status}${part.at ? ` sejak ${when(part.at)}` : ""}`;
    return paragraph(`${CHANNELS[part.channel] ?? part.channel}: ${status}${part.reason ? `. Yang dibacanya: “${part.reason}”` : ""}`,
      ["failed", "late"].includes(part.status) ? "bad" : "");
  };
  const box = listBox();
  put(panel, box);
  await fill(box, `/admins/users/${user.id}/pengiriman`, {}, {
    row: (row) => element("div", { class: "line", tabindex: -1 },
      element("h4", {}, `${DELIVERY_KINDS[row.kind] ?? "Pesan"}, ${when(row.due_at)}`), ...row.channels.map(described)),
    none: "Belum ada pengiriman.",
  });
  return box;
}
