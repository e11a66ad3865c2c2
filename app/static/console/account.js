// Akun saya: the user's second factor and its recovery codes.

import { card, element, field, form, paragraph, put } from "./dom.js";
import { api } from "./session.js";
import { number, role } from "./words.js";

const FEW = 3;

export async function show(view) {
  const { active, recovery_codes_left: left } = await api("GET", "/profile/otp");
  if (!view.isOpen()) return;
  const { me, place } = view;
  put(place,
    card(`${me.nama_ktp} (${me.username})`, paragraph(me.roles.map(({ name }) => role(name)).join(" dan "))),
    card("Verifikasi dua langkah", paragraph(active ? "Aktif: saat masuk Anda diminta kode dari aplikasi autentikator." : "Belum aktif. Aktifkan di profil Anda di aplikasi."),
      active ? paragraph(`Sisa kode pemulihan: ${number(left)}.`, left <= FEW ? "bad" : "") : null),
    active ? newCodes() : "");
}

function newCodes() {
  const place = card("Kode pemulihan baru");
  const asked = form("Buat kode baru", async ({ password, otp }) => {
    const { recovery_codes: codes } = await api("POST", "/profile/otp/recovery-codes", { password: password.value, otp: otp.value });
    asked.replaceWith(paragraph("Simpan kode ini di tempat aman. Kode hanya ditampilkan sekali, dan kode lama tidak berlaku lagi."),
      element("ul", { class: "codes" }, codes.map((code) => element("li", {}, element("code", {}, code)))));
    place.focus();
  },
  paragraph("Kode lama berakhir begitu kode baru dibuat."),
  ...field("password", "Kata sandi Anda", { type: "password", autocomplete: "current-password", required: true }),
  ...field("otp", "Kode verifikasi sekarang", { autocomplete: "one-time-code", required: true, maxlength: 40 }));
  place.setAttribute("tabindex", "-1");
  place.append(asked);
  return place;
}
