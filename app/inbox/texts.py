"""Indonesian texts of our answers to chat messages. Links in names are broken."""

from __future__ import annotations

from app.core.lib.break_links import break_links
from app.core.lib.local_time import clock_time
from app.pengingat.ledger import upcoming
from app.pengingat.one_tap import message_answers
from app.pengingat.one_tap.links import AnswerTargets
from app.pengingat.outgoing.texts import begun_large, first_name
from app.pengingat.types.registry import TYPES

DONE, SKIPPED = "sudah kami catat", "kali ini dilewati"

HELP = (
    "Ini balasan otomatis, jadi belum ada petugas yang membacanya. Keadaan darurat: 119 atau 112. "
    "Hati sedang berat: 119 ext. 8. Untuk menjawab pengingat, balas SUDAH, BELUM, NANTI atau LEWATI. "
    "Kalau mau berhenti, balas BERHENTI PENGINGAT. Kalau ini bukan nomor Anda, balas SALAH NOMOR."
)
_DOUBT = "Maaf, kami belum paham. {} Ini balasan otomatis. Gawat darurat: 119. Hati sedang berat: 119 ext. 8."
DOUBT = _DOUBT.format("Balas SUDAH, BELUM, NANTI atau LEWATI.")
#: Question in the hour after an answer, while no newer reminder is open.
DOUBT_ANSWERED = _DOUBT.format("Kalau ternyata belum, balas BELUM.")
CONDOLENCE = (
    "Kami turut berduka cita. Kalau pengingat ini mau dihentikan, balas BERHENTI PENGINGAT. "
    "Hati sedang berat: 119 ext. 8."
)
ONLY_TEXT = "Maaf, kami hanya bisa membaca tulisan. Kalau sudah, balas SUDAH."
UNDONE = "Baik, kami batalkan catatannya."
RANGE = "Waktu tunda harus 5 sampai 120 menit. Contoh: TUNDA 30."
STOPPED = (
    "Pengingat tetap kami kirim. Kalau itu juga mau dihentikan, balas BERHENTI PENGINGAT. "
    "Kabar umum sudah kami hentikan. Kalau mau mulai lagi, balas MULAI."
)
STOPPED_ALL = "Kami tidak akan mengirim kabar umum dan pengingat lagi. Kalau mau mulai lagi, balas MULAI."
STARTED = "Kabar umum dan pengingat kami kirim lagi ke nomor ini. Kalau mau berhenti, balas BERHENTI."
WRONG_NUMBER = "Terima kasih, dan maaf. Kami tidak akan mengirim pengingat dan kabar lagi ke nomor ini."
STILL_WRONG = (
    "Nomor ini pernah dijawab SALAH NOMOR, jadi pengingat tidak kami kirim ke sini. "
    "Kalau mau menerimanya lagi, pastikan nomor ini di aplikasi, pada profil Anda."
)


def done(name: str, answered: AnswerTargets) -> str:
    """Return for example `Terima kasih, Siti. Obat pukul 07.00 WIB sudah kami catat.`"""
    return f"{_to('Terima kasih', name)} {_each(answered, DONE)}"


def skipped(name: str, answered: AnswerTargets) -> str:
    return f"{_to('Baik', name)} {_each(answered, SKIPPED)}"


def snoozed(name: str, answered: AnswerTargets) -> str:
    until = max(row.snoozed_until or row.due_at for row in answered.occurrences)
    return f"{_to('Baik', name)} Kami ingatkan lagi pukul {clock_time(until.astimezone(answered.zone))}."


def not_yet(name: str) -> str:
    return f"{_to('Baik', name)[:-1]}, kami tunggu."


def ok(name: str) -> str:
    return f"{_to('Baik', name)} Kalau sudah, balas SUDAH."


def _to(lead: str, name: str) -> str:
    shown = first_name(name)
    return f"{lead}, {shown}." if shown else f"{lead}."


def _each(answered: AnswerTargets, how: str) -> str:
    """Describe one reminder by its time. Name several, so that the user can contradict. Add the name of a dependent."""
    whom = break_links(answered.whom)
    if len(answered.occurrences) > 1:
        names = ", ".join(message_answers.labels(answered.occurrences))
        return f"{begun_large(how)}{' untuk ' + whom if whom else ''}: {names}."
    (row,) = answered.occurrences
    kind = f"{begun_large(TYPES[row.tipe].noun)} {whom}".rstrip()
    at = upcoming.due_of(row).occurrence  # of the dose, meal or visit: the reminder may be sent before this time
    return f"{kind} pukul {clock_time(at.astimezone(answered.zone))} {how}."
