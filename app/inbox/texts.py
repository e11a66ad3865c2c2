"""What we write back: one short text each, in plain Indonesian, in which nobody else finds room for an address."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from app.accounts.verification import Proof
from app.core.contact import ask_administrator
from app.core.lib.addresses import without_addresses
from app.pengingat.ledger import upcoming
from app.pengingat.models import Occurrence
from app.pengingat.one_tap.links import Asked
from app.pengingat.outgoing.texts import clock_time, first_name
from app.pengingat.timetable.tipe import Tipe

KINDS = {Tipe.OBAT: "Obat", Tipe.MAKAN: "Makan", Tipe.TERAPI: "Terapi", Tipe.KONTROL: "Pengingat kontrol"}
DID = {
    Tipe.OBAT: "dicatat sudah diminum",
    Tipe.MAKAN: "dicatat sudah",
    Tipe.TERAPI: "dicatat sudah dilakukan",
    Tipe.KONTROL: "dicatat sudah dibaca",
}

HELP = (
    "Pesan ini dijawab otomatis, tidak ada petugas yang membaca. Keadaan darurat: 119 atau 112. "
    "Untuk menjawab pengingat, balas SUDAH, BELUM, TUNDA 30 atau LEWATI. Untuk berhenti, balas BERHENTI."
)
RANGE = "Waktu tunda harus 5 sampai 120 menit. Contoh: TUNDA 30."
SEVERAL = "Ada {count} jadwal yang belum dijawab. Balas SUDAH, atau SUDAH dengan nomornya, misalnya SUDAH 1."
NOTHING_OPEN = "Tidak ada jadwal yang menunggu jawaban Anda."
STOPPED = (
    "Kabar umum tidak akan dikirim lagi ke nomor ini. Pengingat tetap dikirim. "
    "Untuk mengakhirinya juga, balas BERHENTI PENGINGAT. Untuk memulai lagi, balas MULAI."
)
STOPPED_ALL = "Kabar umum dan pengingat tidak akan dikirim lagi ke nomor ini. Untuk memulai lagi, balas MULAI."
STARTED = "Kabar umum dan pengingat dikirim lagi ke nomor ini. Untuk berhenti, balas BERHENTI."
WRONG_NUMBER = "Terima kasih, dan maaf. Pengingat dan kabar tidak akan dikirim lagi ke nomor ini."
STILL_WRONG = (
    "Nomor ini pernah dijawab SALAH NOMOR, jadi pengingat tidak dikirim ke sini. "
    "Untuk menerimanya lagi, buktikan nomor ini di aplikasi, pada profil Anda."
)
CUT = "Hubungan dengan pendamping {pendamping} sudah diputus."
CUT_ALREADY = "Hubungan dengan pendamping itu sudah putus. Hubungan yang lain dapat Anda putus di aplikasi."
NOTHING_TO_CUT = (
    "Tidak ada pendamping baru dalam 7 hari terakhir. Hubungan yang lebih lama dapat Anda putus di aplikasi."
)
#: By what came of a code that somebody wrote from the number that it was made for.
PROOFS = {
    Proof.PROVEN: "Terima kasih. Nomor ini sudah kami pastikan milik Anda.",
    Proof.UNKNOWN_CODE: "Kode salah atau sudah kedaluwarsa. Silakan minta kode yang baru di aplikasi.",
}


MOVED = "Baik. Nomor ini sekarang dipakai akun {akun}. Kalau ini keliru, balas SALAH NOMOR dalam 24 jam."
NOTHING_TO_MOVE = "Tidak ada permintaan pindah nomor yang terbuka. Silakan minta lagi di aplikasi."
MOVED_BACK = "Terima kasih. Nomor ini sudah kami lepas lagi dari akun yang baru, seperti sebelum pindah."


def moved(username: str) -> str:
    return MOVED.format(akun=without_addresses(username) or "itu")


def done(name: str, answered: Asked) -> str:
    """`Terima kasih, Siti. Obat pukul 07.00 WIB dicatat sudah diminum.`"""
    return f"{_to('Terima kasih', name)} {_each(answered, DID)}"


def skipped(name: str, answered: Asked) -> str:
    return f"{_to('Baik', name)} {_each(answered, dict.fromkeys(Tipe, 'dicatat dilewati'))}"


def snoozed(name: str, answered: Asked) -> str:
    until = max(row.snoozed_until or row.due_at for row in answered.occurrences)
    return f"{_to('Baik', name)} Kami ingatkan lagi pukul {clock_time(until.astimezone(answered.zone))}."


def not_yet(name: str) -> str:
    return f"{_to('Baik', name)} Jadwal tetap terbuka. Balas SUDAH bila sudah, atau TUNDA 30."


def cut(name: str) -> str:
    text = CUT.format(pendamping=first_name(name) or "itu")
    return text + ask_administrator("Kalau Anda merasa tidak aman,")


def stopped_all() -> str:
    return STOPPED_ALL + ask_administrator("Kalau perlu bantuan,")


def _to(lead: str, name: str) -> str:
    shown = first_name(name)
    return f"{lead}, {shown}." if shown else f"{lead}."


def _each(answered: Asked, said: dict[Tipe, str]) -> str:
    """A sentence for one, the number of them for several."""
    if len(answered.occurrences) > 1:
        how = "dilewati" if said is not DID else "selesai"
        return f"{len(answered.occurrences)} jadwal dicatat {how}."
    (row,) = answered.occurrences
    tipe = Tipe(row.tipe)
    return f"{KINDS[tipe]} pukul {clock_time(_moment(row, answered.zone))} {said[tipe]}."


def _moment(row: Occurrence, zone: ZoneInfo) -> datetime:
    """When the dose, the meal or the visit itself is, not the notice of it."""
    return upcoming.due_of(row).occurrence.astimezone(zone)
