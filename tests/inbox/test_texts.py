"""Tests of the words of our answers. Users learn them, and a document for users quotes them, so they do not change."""

from app.inbox import texts
from tests.helpers.language import assert_readable

#: Texts that do not depend on the user, by their names in `texts`.
TEXTS = {
    "HELP": "Ini balasan otomatis, jadi belum ada petugas yang membacanya. Keadaan darurat: 119 atau 112. Hati sedang "
    "berat: 119 ext. 8. Untuk menjawab pengingat, balas SUDAH, BELUM, NANTI atau LEWATI. Kalau mau berhenti, balas "
    "BERHENTI PENGINGAT. Kalau ini bukan nomor Anda, balas SALAH NOMOR.",
    "DOUBT": "Maaf, kami belum paham. Balas SUDAH, BELUM, NANTI atau LEWATI. Ini balasan otomatis. Gawat darurat: 119. "
    "Hati sedang berat: 119 ext. 8.",
    "DOUBT_ANSWERED": "Maaf, kami belum paham. Kalau ternyata belum, balas BELUM. Ini balasan otomatis. Gawat darurat: "
    "119. Hati sedang berat: 119 ext. 8.",
    "CONDOLENCE": "Kami turut berduka cita. Kalau pengingat ini mau dihentikan, balas BERHENTI PENGINGAT. Hati sedang "
    "berat: 119 ext. 8.",
    "ONLY_TEXT": "Maaf, kami hanya bisa membaca tulisan. Kalau sudah, balas SUDAH.",
    "UNDONE": "Baik, kami batalkan catatannya.",
    "RANGE": "Waktu tunda harus 5 sampai 120 menit. Contoh: TUNDA 30.",
    "STOPPED": "Pengingat tetap kami kirim. Kalau itu juga mau dihentikan, balas BERHENTI PENGINGAT. Kabar umum sudah "
    "kami hentikan. Kalau mau mulai lagi, balas MULAI.",
    "STOPPED_ALL": "Kami tidak akan mengirim kabar umum dan pengingat lagi. Kalau mau mulai lagi, balas MULAI.",
    "STARTED": "Kabar umum dan pengingat kami kirim lagi ke nomor ini. Kalau mau berhenti, balas BERHENTI.",
    "WRONG_NUMBER": "Terima kasih, dan maaf. Kami tidak akan mengirim pengingat dan kabar lagi ke nomor ini.",
}


def test_each_text_has_its_exact_words():
    assert {name: getattr(texts, name) for name in TEXTS} == TEXTS


def test_each_text_is_plain_indonesian(subtests):
    for name in (*TEXTS, "STILL_WRONG"):
        with subtests.test(name):
            assert_readable(getattr(texts, name))
            assert len(getattr(texts, name)) <= 350
