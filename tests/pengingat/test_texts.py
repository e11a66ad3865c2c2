"""Texts of reminders."""

from datetime import UTC, datetime

import pytest

from app.pengingat.models import Pengingat
from app.pengingat.outgoing import texts
from app.pengingat.outgoing.texts import Recipient
from app.pengingat.timetable.schedule import Due
from app.pengingat.types.base import WALL
from tests.helpers.language import assert_readable
from tests.pengingat.answering import dose

SEVEN = datetime(2026, 3, 10, 0, 0, tzinfo=UTC)
SITI = Recipient("Siti Aminah")
METFORMIN = {
    "nama_obat": "Metformin",
    "frekuensi": 2,
    "aturan": "setelah makan",
    "jadwal": [dose("00:00", 1.0), dose("12:00", 0.5)],
}
DOSE = "waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB."
VISIT = {"nama_dokter": "dr. Ani", "spesialisasi": "Mata", "nama_faskes": "RSUD"}
LINK = f"https://sehat.example.org/k/{'t' * 22}"


def reminder(tipe, details, zone="Asia/Jakarta", judul="Judul"):
    return Pengingat(tipe=tipe, judul=judul, timezone=zone, details=details)


def due(slot="0"):
    return Due(SEVEN, SEVEN, slot)


def said(tipe, details, slot="0", zone="Asia/Jakarta", judul="Judul", to=SITI):
    """Return the text of a message about one time, without the title."""
    return f"{to.greeting}{texts.line(1, reminder(tipe, details, zone, judul), due(slot), to).plain}"


def push_of(tipe, details, slot="0", judul="Judul"):
    return texts.push([texts.line(1, reminder(tipe, details, judul=judul), due(slot), SITI)], SITI, is_list=False)[0]


def of_unit(unit, **fields):
    return {**METFORMIN, "jadwal": [{"jam": "00:00", "jumlah": 10.0, "satuan": unit}], **fields}


#: Type, details and slot of a due time, with the sentence of its message. `@` is the time.
SENTENCES = [
    ("obat", METFORMIN, "0", "waktunya minum Metformin (1 tablet, setelah makan) @"),
    ("obat", METFORMIN, "1", "waktunya minum Metformin (0,5 tablet, setelah makan) @"),
    ("obat", {**METFORMIN, "petunjuk": ""}, "0", "waktunya minum Metformin (1 tablet, setelah makan) @"),
    ("obat", {**METFORMIN, "petunjuk": None}, "0", "waktunya minum Metformin (1 tablet, setelah makan) @"),
    ("obat", of_unit("mg", petunjuk="tanpa  susu\n"), "0", "waktunya Metformin (10 mg, setelah makan, tanpa susu) @"),
    ("makan", {"sarapan": {"karbohidrat": "nasi", "serat": "apel", "lemak": ""}}, "sarapan",
     "waktunya sarapan @ Menu: nasi, apel."),
    ("makan", {}, "makan", "waktunya makan @"),
    ("terapi", {"jenis_terapi": "a\n\nb", "tempat_terapi": " RSUD "}, "0", "waktunya terapi a b di RSUD @"),
    ("terapi", {}, "0", "waktunya terapi Judul @"),
    ("kontrol", VISIT, "0", "jadwal kontrol dengan dr. Ani (Mata) di RSUD, Selasa, 10 Maret 2026 @"),
    ("kontrol", VISIT, "1h", "1 jam lagi jadwal kontrol dengan dr. Ani (Mata) di RSUD, Selasa, 10 Maret 2026 @"),
    ("kontrol", VISIT, "1d", "besok jadwal kontrol dengan dr. Ani (Mata) di RSUD, Selasa, 10 Maret 2026 @"),
    ("kontrol", {}, "0", "jadwal kontrol Judul, Selasa, 10 Maret 2026 @"),
    # Links are broken by blanks, and a missing blank after a full stop removes no word.
    ("obat", of_unit("mg", nama_obat="judi.com"), "0", "waktunya judi. com (10 mg, setelah makan) @"),
    ("obat", of_unit("mg", nama_obat="A 5mg.B 2mg"), "0", "waktunya A 5mg. B 2mg (10 mg, setelah makan) @"),
    ("obat", of_unit("s.id/abc"), "0", "waktunya Metformin (10 s. id/abc, setelah makan) @"),
    ("makan", {"sarapan": {"karbohidrat": "nasi https://a.b", "serat": "judi.com"}}, "sarapan",
     "waktunya sarapan @ Menu: nasi https a. b, judi. com."),
    ("terapi", {"jenis_terapi": "judi.com", "tempat_terapi": "x@RSUD"}, "0", "waktunya terapi judi. com di x RSUD @"),
    ("kontrol", {"nama_dokter": "dr.Ani", "nama_faskes": "RS.Sehat"}, "0",
     "jadwal kontrol dengan dr. Ani di RS. Sehat, Selasa, 10 Maret 2026 @"),
]  # fmt: skip


def test_message_and_push_have_the_sentence_of_the_type_without_links(subtests):
    for tipe, details, slot, words in SENTENCES:
        with subtests.test(words):
            sentence = words.replace("@", "pukul 07.00 WIB.")
            assert said(tipe, details, slot) == f"Halo Siti, {sentence}"
            body = sentence[0].upper() + sentence[1:]
            assert push_of(tipe, details, slot) == {"title": "Pengingat: Judul", "body": body}


def test_times_are_shown_in_the_time_zone_of_the_reminder():
    for zone, time in {
        "Asia/Pontianak": "07.00 WIB", "Asia/Makassar": "08.00 WITA", "Asia/Jayapura": "09.00 WIT",
        "Europe/Berlin": "01.00 CET", "Asia/Kathmandu": "05.45 UTC+05:45", "Asia/Dubai": "04.00 UTC+04",
    }.items():  # fmt: skip
        assert said("obat", METFORMIN, zone=zone).endswith(f"pukul {time}.")


UNITS = {
    "suntikkan": "unit IU ampul vial pen",
    "teteskan": "tetes",
    "oleskan": "oles salep krim gel",
    "hirup": "semprot puff hirup inhalasi",
    "pakai": "suppositoria ovula plester koyo",
    "minum": "tablet kapsul pil kaplet butir biji strip ml cc sendok sachet bungkus",
}


def test_the_verb_follows_the_unit_and_an_unknown_unit_has_none():
    for verb, unit in [(verb, unit) for verb, units in UNITS.items() for unit in units.split()]:
        for written in (unit, unit.upper(), f" {unit.capitalize()} (kecil)"):
            expected = f"waktunya {verb} Metformin (10 {' '.join(written.split())}, setelah makan) pukul 07.00 WIB."
            assert said("obat", of_unit(written)) == f"Halo Siti, {expected}"
    for unit in ("takar", "tabletan", "mg", "1 tablet", "½", ""):
        assert said("obat", of_unit(unit)).startswith("Halo Siti, waktunya Metformin (10")


def test_the_description_of_an_occurrence_depends_on_type_and_slot():
    for tipe, details, slot, expected in (
        ("obat", METFORMIN, "1", "0,5 tablet, setelah makan"),
        ("obat", {**METFORMIN, "petunjuk": "jangan dengan susu"}, "0", "1 tablet, setelah makan, jangan dengan susu"),
        ("obat", METFORMIN, "2", ""),
        ("makan", {"sarapan": {"karbohidrat": "oatmeal", "serat": "apel"}}, "sarapan", "sarapan: oatmeal, apel"),
        ("makan", {"selingan": {}}, "selingan", "makan selingan"),
        ("makan", {}, "makan", ""),
        ("terapi", {"jenis_terapi": "Fisioterapi", "tempat_terapi": "RSUD"}, "0", "Fisioterapi di RSUD"),
        ("terapi", {"tempat_terapi": "RSUD"}, "0", "di RSUD"),
        ("terapi", {}, "0", ""),
        ("kontrol", VISIT, "1d", "dr. Ani (Mata) di RSUD"),
        ("kontrol", {}, "0", ""),
    ):
        assert texts.what(reminder(tipe, details), due(slot)) == expected


def test_an_amount_has_all_its_digits_and_no_exponent():
    for number, shown in {
        1.0: "1", 0.5: "0,5", 100000.0: "100000", 12345.75: "12345,75", 0.0000001: "0,0000001",
        0.1234567890123: "0,1234567890123",
    }.items():  # fmt: skip
        details = of_unit("tablet", jadwal=[{"jam": "00:00", "jumlah": number, "satuan": "tablet", WALL: "07:00"}])
        assert f"({shown} tablet, setelah makan)" in said("obat", details)
        assert texts.what(reminder("obat", details), due()) == f"{shown} tablet, setelah makan"
        assert f": {shown} tablet pukul" in reminder("obat", details).type.prescription(details)


def test_a_push_body_is_cut_to_the_maximum_length():
    body = push_of("obat", {**METFORMIN, "nama_obat": "x" * 3000})["body"]
    assert body.startswith("Waktunya minum")
    assert len(body) == texts.PUSH_CHARACTERS


def test_people_are_greeted_by_their_short_name():
    for name, short in {
        "Siti Aminah": "Siti", "Ani, S.Kep": "Ani", "dr.Ani Sp.PD": "Ani", "H. M. Yusuf": "Yusuf",
        "Prof. Dr. Ir. H. Joko Widodo": "Joko", "HJ. FATIMAH": "FATIMAH", "bapak haji Ahmad": "haji",
        "Bpk. Drs Budi": "Budi", "Ny Tn Sdr. Wati": "Wati", "Ibu Hj.": "Ibu Hj.", "I Gusti Ngurah Rai": "Gusti",
        "NI WAYAN SARI": "WAYAN", "Moh Hatta": "Hatta", "H M Abd Gani": "Gani", "St Aisyah": "Aisyah",
        "A. B. Susanto": "Susanto", "Ida Bagus": "Ida", "Nia": "Nia", "I": "I", "  ": "",
        **dict.fromkeys(["drg Ani", "dra Ani", "Drs Ani", "ir Ani", "prof Ani", "kh Ani", "nn Ani", "bp Ani"], "Ani"),
        **dict.fromkeys(["tn Ani", "Ibu Ani", "moch Ani", "muh Ani", "mhd Ani"], "Ani"),
    }.items():  # fmt: skip
        assert texts.first_name(name) == short


@pytest.mark.usefixtures("app")
def test_links_in_titles_and_names_are_broken_by_blanks():
    sentence = "aktunya terapi Menang di judi. com pukul 07.00 WIB."
    bad = "Menang di judi.com"
    assert push_of("terapi", {}, judul=bad) == {"title": "Pengingat: Menang di judi. com", "body": f"W{sentence}"}
    assert said("terapi", {}, judul=bad, to=Recipient("Siti.com")) == f"Halo com, w{sentence}"
    reader = Recipient("klaim.help", reader="Budi")
    assert said("terapi", {}, judul=bad, to=reader) == f"Pengingat untuk klaim. help: w{sentence}"


# --- titles and grouped messages ------------------------------------------------------------------------------------


def line(number, judul, tipe="obat", **details):
    return texts.line(number, reminder(tipe, details or METFORMIN, judul=judul), due(), SITI)


def message(judul, tipe="obat", **details):
    return texts.message([line(1, judul, tipe, **details)], SITI, "t" * 22, is_list=False, is_short=False)[0]["text"]


def listed(*lines, is_short=False):
    return str(texts.message(lines, SITI, "t" * 22, is_list=True, is_short=is_short)[0]["text"])


@pytest.fixture
def links(app, change_settings):
    change_settings(public_url="https://sehat.example.org")


@pytest.mark.usefixtures("app")
def test_the_default_configuration_sends_the_specified_text():
    assert message("Obat gula pagi") == f"Halo Siti, {DOSE}"
    assert listed(line(1, "Obat gula pagi"), line(2, "Makan pagi", "makan", sarapan={})) == (
        "Halo Siti, ada 2 pengingat:\n"
        "1. Waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB. Pengingat: Obat gula pagi.\n"
        "2. Waktunya makan pukul 07.00 WIB. Pengingat: Makan pagi."
    )


@pytest.mark.usefixtures("links")
def test_a_message_with_a_link_contains_a_title_that_says_something_new():
    for judul, title in {
        "Obat  gula\npagi": " Pengingat: Obat gula pagi.",
        "Jangan lupa!": " Pengingat: Jangan lupa!",
        "Menang di judi.com sekarang": " Pengingat: Menang di judi. com sekarang.",
        "Metfor": " Pengingat: Metfor.",  # only part of a word of the sentence
        **dict.fromkeys(
            ["Metformin", " METFORMIN ", "minum  metformin", "Obat Metformin pagi", "  ", "setelah makan"], ""
        ),
    }.items():
        assert message(judul) == f"Halo Siti, {DOSE}{title}\nJawab di sini: {LINK}"
    therapy = message("Fisioterapi", "terapi", tempat_terapi="RSUD")
    assert therapy.startswith("Halo Siti, waktunya terapi Fisioterapi di RSUD pukul 07.00 WIB.\n")
    text = listed(line(1, "Metformin"), line(2, "Metformin"))
    assert text.endswith(f"\nJawab semuanya di sini: {LINK}")
    assert text.count("https://") == 1


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(("count", "is_short", "named"), [(10, False, 10), (12, False, 10), (12, True, 8)])
def test_a_list_names_what_fits_and_counts_the_rest(count, is_short, named):
    lines = listed(*(line(n, "Metformin") for n in range(1, count + 1)), is_short=is_short).splitlines()
    assert lines[0] == f"Halo Siti, ada {count} pengingat:"
    assert [each.partition(".")[0] for each in lines[1 : named + 1]] == [str(n) for n in range(1, named + 1)]
    assert lines[named + 1 :] == ([f"Dan {count - named} lagi, lihat di aplikasi."] if count > named else [])


# --- instructions for an answer -------------------------------------------------------------------------------------

FONNTE = {"messaging_provider": "fonnte", "fonnte_webhook_token": "t" * 32}
WHATSAPP = {"messaging_provider": "whatsapp_cloud", "whatsapp_app_secret": "s"}
ANSWER_ONE = "Kalau sudah, balas SUDAH."
ANSWER_SEVERAL = "Kalau sudah semua, balas SUDAH. Kalau sebagian, balas nomornya, misalnya 1 2."


def test_a_message_without_buttons_explains_how_to_answer_before_its_link(app, change_settings):
    two = line(1, "Metformin"), line(2, "Metformin")
    change_settings(**FONNTE)
    assert message("Metformin") == f"Halo Siti, {DOSE}\n{ANSWER_ONE}"
    assert listed(*two).endswith(f"07.00 WIB.\n{ANSWER_SEVERAL}")
    change_settings(public_url="https://sehat.example.org")
    assert f"\n{ANSWER_ONE}\nJawab di sini: https://" in message("Metformin")
    assert f"\n{ANSWER_SEVERAL}\nJawab semuanya di sini: https://" in listed(*two)
    for text in (ANSWER_ONE, ANSWER_SEVERAL):
        assert_readable(text)


def test_a_message_with_buttons_has_answer_instructions_only_if_it_is_too_long_for_them(app, change_settings):
    change_settings(**WHATSAPP)
    assert message("Metformin") == f"Halo Siti, {DOSE}"
    assert ANSWER_SEVERAL not in listed(line(1, "Metformin"), line(2, "Metformin"))
    assert listed(*(line(n, "x" * 60) for n in range(1, 11))).endswith(ANSWER_SEVERAL)


def test_a_message_has_no_answer_instructions_without_a_webhook(app, change_settings):
    change_settings(messaging_provider="fonnte", fonnte_webhook_token=None, whatsapp_app_secret=None)
    assert message("Metformin") == f"Halo Siti, {DOSE}"
