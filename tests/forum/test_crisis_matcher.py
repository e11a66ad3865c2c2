"""Texts that match a phrase of the seeded list, and similar texts that must not match."""

from app.forum.service.crisis_matcher import contains_phrase, plain
from app.forum.service.crisis_phrases import CRISIS, EMERGENCY
from tests.helpers.offenders import assert_none

CRIES = (
    # the words of the seeded phrases
    "Aku ingin mati.", "Saya mau bunuh diri", "Lebih baik mati daripada begini terus", "Saya sering menyakiti diri",
    "Saya pernah menyakiti diri sendiri", "Kadang terpikir akhiri hidup", "Tidak ingin hidup lagi", "Capek hidup.",
    "Untuk apa saya hidup kalau hanya menyusahkan?", "Saya pantas mati", "Semoga saya mati dalam tidur",
    "Saya menyesal dilahirkan", "Selamat tinggal dunia", "Aku ingin tidur selamanya", "Hidup saya tidak berguna",
    "Semalam saya hampir gantung diri", "Saya sudah beli baygon, tinggal minum baygon",
    "Rasanya ingin lompat dari gedung",
    # slang and synonyms
    "Aku pengen mati", "gue pengin mati aja", "gw pgn mati", "Pengen banget mati rasanya",
    "ingin cepet mati, ingin cepat mati", "bundir aja kali ya", "Mending mati", "mendingan gue mati",
    "mending aku mati aja", "lbh baik mati", "ga mau hidup lagi", "gak pengen idup lagi", "nggak mau hidup",
    "enggak kuat hidup lagi", "udah gak sanggup hidup", "tdk ingin hidup", "capek idup", "cape bgt, cape hidup",
    "lelah hidup dengan penyakit ini", "bosen idup", "gada gunanya, tidak ada gunanya hidup", "buat apa hidup",
    "mengakhiri hidupku", "mau ngakhirin semuanya", "aku mau akhiri semua ini", "nyakitin diri sendiri",
    "melukai diri sendiri tiap malam", "nyilet tangan lagi", "iris nadi aja", "ngiris nadi", "loncat dari jembatan",
    "mau terjun dari jembatan", "pengen modar", "pengen mampus", "barcode di lengan nambah lagi", "hayang paeh",
    "aing hayang mati",
    # unusual spelling
    "GUEEE PENGEN MATIIII!!!", "ingin  mati", "INGIN MATI", "ingin\nmati", "ingin... mati", "ingin, mati",
    "bunuh-diri", "bunuhdiri", "b u n u h  d i r i", "b.u.n.u.h d.i.r.i", "i n g i n m a t i", "p3ng3n m4ti",
    "bunuh d1r1", "pen9en mati", "íngin máti", "𝓲𝓷𝓰𝓲𝓷 𝓶𝓪𝓽𝓲", "in\u200bgin ma\u00adti", "ｉｎｇｉｎ ｍａｔｉ",
    "😭 ingin mati 😭",
    "bunuh_diri", "#bunuhdiri", "\"ingin mati\"",
    # a thing, an animal or a way of life beside the phrase
    "Aku ingin mati. HP sudah aku matikan, jangan cari aku.", "Saya ingin mati. Air mata saya sudah habis.",
    "Tiap naik motor ingin mati rasanya", "Malam ini di mobil ingin mati rasanya", "aku capek hidup. Susah sekali.",
    "Minum obat kutu, ingin mati", "Lampu kumatikan. Ingin mati", "ingin mati total", "capek hidup miskin",
    "hp saya mau mati", "biar nyamuk cepat mati saja", "ingin mati-matian belajar", "tidak ingin hidup boros",
    # a negation that does not stand right before the phrase
    "Aku tidak. Ingin mati.", "Tidak! Bunuh diri saja.", "tidak, ingin mati", "Belum\nmau mati",
    "tidak saya ingin mati", "jangan bu, bunuh diri", "bukan saja ingin mati", "jangan jangan ingin mati",
    "jangan-jangan bunuh diri", "jgn2 bunuh diri", "tidak ingin mati. Ah, ingin mati",
    # left-out words
    "ingin sekali banget mati", "mau rasanya mati", "capek banget hidup", "ingin pak mati", "bunuh diri saja",
    "saya mati saja", "mati saja saya", "mati aja gue", "bunuh aku",
    # the other phrases
    "ingin meninggal", "ingin udahan", "pengen nyusul ibu", "ingin menyusul almarhum", "ujungnya mati",
    "kenapa saya tidak mati", "tidak bangun lagi", "gak mau bangun lagi", "kalau besok saya tidak ada",
    "kesel hidup", "tidak kuat lagi hidup", "biar selesai semua", "cabut nyawa", "lompat ke sungai",
    "minum obat sebanyak-banyaknya", "potong nadi", "takut pulang", "tidak ada alasan untuk hidup", "bakar diri",
    # mixed languages
    "I want to die", "suicide", "self harm lagi", "self-harm", "selfharm", "kill myself",
    "sudah tidak tahan, want to die",
)  # fmt: skip

NO_CRIES = (
    # dead things, power cuts and idioms, without a phrase of the list
    "Semalam mati lampu.", "Kaki saya mati rasa", "Tangan kiri mati rasa sejak seminggu", "Mati listrik dua jam",
    "Alatnya mati total", "Jam dinding mati", "HP saya mati", "mati lampu", "mati rasa",
    "ayam saya mati", "takut mati", "tidak ingin mati", "Kipas angin mati",
    "Mesinnya mati langkah", "Mati gaya di rumah sakit", "Setengah mati saya mencarinya", "Harga mati",
    "Cinta mati pada sepak bola", "Belajar mati-matian", "Hidup segan mati tak mau",
    "Sumber air mati", "Mati suri", "Tidak ingin mati lampu lagi",
    "jangan mau mati rasa berkepanjangan", "Sel kulit mati", "Jaringan mati harus dibersihkan",
    "Mata ikan dan kulit mati", "Mati satu tumbuh seribu", "Semut mati semua", "Bayi lahir mati di desa kami",
    "Angka mati karena jantung", "Pajak mati motor saya",
    # fear of death
    "Saya takut mati", "Saya tidak ingin mati", "aku gak mau mati", "gue ga pengen mati muda", "belum mau mati",
    "Apakah saya akan mati?", "Ayah saya mati karena stroke", "Apakah diabetes bisa bikin mati?",
    # a phrase as part of a longer word
    "Cara mematikan alarm", "Penyakit ini mematikan?", "Angka kematian ibu", "simpati untuk semua",
    "Kopi tiwus mati2an", "Matinya kuman oleh sabun", "pengamatan gula darah", "ingin matikan notifikasi",
    "ingin matang",
    # harmless uses of the words diri, hidup, akhir and bunuh
    "Percaya diri", "diri sendiri", "Menjaga diri", "Sayangi dirimu", "Tahu diri", "Merawat diri sendiri",
    "Bunuh kuman", "Membunuh bakteri", "Antibiotik pembunuh kuman", "dibunuh", "Kehidupan baru", "hidup sehat",
    "ingin hidup sehat", "Semangat hidup!", "Gaya hidup", "jangan bunuh diri", "bukan bunuh diri",
    "gk ingin  mati", "Akhir pekan",
    "akhiri obrolan ini", "Akhirnya sembuh", "Sakit hati", "sakit diri saya kambuh",
    # harmless uses of the words gantung, potong, minum and others
    "Gantung baju", "Infus digantung", "Potong kuku", "potong rambut", "Sayat bawang", "Iris tipis", "Minum obat",
    "minum air putih", "Lompat tali", "loncat-loncat", "Tangan kebas", "Denyut nadi", "Barcode obat", "Self care",
    "Overdosis vitamin, apakah bahaya?", "KMS anak saya hilang", "Capek", "capek bekerja", "Bosan makan bubur", "",
    "Ingin sehat", "mau makan apa?", "Lebih baik tidur", "Mending istirahat", "Tidak kuat",
    "Selamat tinggal, sampai besok",
)  # fmt: skip


def test_every_crisis_sample_matches_a_seeded_phrase():
    def is_found(text):
        return bool(
            contains_phrase(CRISIS, text) and contains_phrase(CRISIS, "Judul", f"Halo semua.\n{text}\nTerima kasih.")
        )

    assert_none((f"{text!r}, read as {plain(text)!r}" for text in CRIES if not is_found(text)), "Not found:")


def test_no_harmless_sample_matches_a_seeded_phrase():
    found = {
        text: [phrase for phrase in CRISIS if contains_phrase([phrase], text)]
        for text in NO_CRIES
        if contains_phrase(CRISIS, text)
    }
    assert_none((f"{text!r} by {phrases}" for text, phrases in found.items()), "Found, but no cry for help:")


def test_a_phrase_split_between_title_and_content_does_not_match():
    assert not contains_phrase(CRISIS, "Apa yang ingin", "mati")


def test_no_phrase_is_a_duplicate():
    phrases = (*CRISIS, *EMERGENCY)
    assert len({plain(phrase) for phrase in phrases}) == len(phrases)
