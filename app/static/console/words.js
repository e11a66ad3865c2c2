// Texts of the page in plain Indonesian: names, times and numbers.

export const number = (value) => value.toLocaleString("id-ID");

export function when(text) {
  if (!text) return "–";
  const parts = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
  return new Intl.DateTimeFormat("id-ID", parts).format(new Date(text));
}

export const day = (text) =>
  new Intl.DateTimeFormat("id-ID", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(text));

// Returns the Jakarta date `before` days ago as YYYY-MM-DD.
export function jakartaDay(before = 0) {
  const moment = new Date(Date.now() - before * 86400000);
  return new Intl.DateTimeFormat("sv-SE", { timeZone: "Asia/Jakarta" }).format(moment);
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} detik`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} menit`;
  return `${Math.round(seconds / 3600)} jam`;
}

export const joined = (parts) => parts.filter(Boolean).join(", ");

export const ROLES = { pasien: "pasien", pendamping: "pendamping", admin: "administrator", superadmin: "administrator utama" };
export const role = (name) => ROLES[name] ?? name;

export const CASE_STATES = { open: "Menunggu keputusan", kept: "Dibiarkan", hidden: "Disembunyikan" };
export const DECISIONS = { keep: "Biarkan", hide: "Sembunyikan" };
export const HIDDEN_BY = { reports: "Disembunyikan karena beberapa laporan", moderator: "Disembunyikan oleh moderator" };
export const REPORT_REASONS = {
  misinformation: "informasi keliru", spam: "iklan atau spam", hate: "kebencian", privacy: "data pribadi",
  self_harm: "menyakiti diri", other: "lainnya",
};

export const SENDER_STATES = { up: "berjalan", degraded: "terbatas", down: "berhenti" };
export const QUALITY = { green: "baik", yellow: "menurun", red: "buruk" };
export const QUEUES = { urgent: "Pengingat dan pesan penting", bulk: "Siaran dan kabar lain" };
export const OUTCOMES = { sent: "terkirim", failed: "gagal", missed: "terlewat", cancelled: "dibatalkan" };

export const CHANNELS = { message: "Pesan", push: "Notifikasi web" };
export const DELIVERY_KINDS = {
  reminder: "Pengingat", stock: "Persediaan obat", alert: "Kabar kepada pendamping", broadcast: "Siaran",
  forum_reply: "Balasan di forum", push: "Notifikasi web", password_reset: "Tautan kata sandi",
  security_notice: "Pemberitahuan keamanan", answer: "Jawaban otomatis", moderation: "Moderasi",
};
export const DELIVERY_STATES = {
  waiting: "menunggu", sent: "terkirim", delivered: "sampai", read: "dibaca", failed: "gagal", late: "terlambat",
  cancelled: "dibatalkan",
};

const PROBLEMS = [
  [/no worker serves the queue (\w+)/, (name) => `Tidak ada program yang mengirim: ${QUEUES[name] ?? name}.`],
  [/no clock is going/, () => "Penjadwal pengingat berhenti."],
  [/oldest due delivery has been waiting for (\d+)/, (seconds) => `Kiriman tertua sudah menunggu ${duration(seconds)}.`],
  [/^Redis is away/, () => "Antrean tugas tidak dapat dihubungi."],
  [/^no message leaves since .* UTC: (.*)/, (reason) => `Tidak ada pesan yang terkirim. Kata penyedia: ${reason}.`],
];

// Translates a problem that the service reports into plain Indonesian.
export function problem(text) {
  for (const [pattern, words] of PROBLEMS) {
    const found = pattern.exec(text);
    if (found) return words(...found.slice(1));
  }
  return `Ada gangguan lain: ${text}.`;
}
