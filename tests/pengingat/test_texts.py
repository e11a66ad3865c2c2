"""Texts of reminders and stock notices."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.pengingat.models import Pengingat
from app.pengingat.outgoing import texts
from app.pengingat.outgoing.texts import Recipient
from app.pengingat.timetable.schedule import Due
from tests.helpers.language import assert_readable

SEVEN = datetime(2026, 3, 10, 0, 0, tzinfo=UTC)


def reminder(tipe, details, zone="Asia/Jakarta"):
    return Pengingat(tipe=tipe, judul="Judul", timezone=zone, details=details)


SITI = Recipient("Siti Aminah")


def said(tipe, details, slot="0", zone="Asia/Jakarta", to=SITI):
    return plain(reminder(tipe, details, zone), Due(SEVEN, SEVEN, slot), to)


def plain(pengingat, due, to=SITI):
    """Return the text of a message about one time, without the title."""
    return f"{to.greeting}{texts.line(1, pengingat, due, to).plain}"


def push_of(pengingat, due, to=SITI):
    return texts.push([texts.line(1, pengingat, due, to)], to, is_list=False)[0]


METFORMIN = {
    "nama_obat": "Metformin",
    "frekuensi": 2,
    "aturan": "setelah makan",
    "jadwal": [
        {"jam": "00:00", "jumlah": 1.0, "satuan": "tablet"},
        {"jam": "12:00", "jumlah": 0.5, "satuan": "tablet"},
    ],
}


def test_a_dose_message_contains_medicine_amount_and_time():
    expected = "Halo Siti, waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB."
    assert said("obat", METFORMIN) == expected


def test_each_dose_says_its_own_amount():
    assert "(0,5 tablet, setelah makan)" in said("obat", METFORMIN, "1")


@pytest.mark.parametrize(
    ("zone", "time"),
    [
        ("Asia/Jakarta", "07.00 WIB"),
        ("Asia/Pontianak", "07.00 WIB"),
        ("Asia/Makassar", "08.00 WITA"),
        ("Asia/Jayapura", "09.00 WIT"),
        ("Europe/Berlin", "01.00 CET"),
        ("Asia/Kathmandu", "05.45 UTC+05:45"),
        ("Asia/Dubai", "04.00 UTC+04"),
    ],
)
def test_times_are_shown_in_the_time_zone_of_the_reminder(zone, time):
    assert said("obat", METFORMIN, zone=zone).endswith(f"pukul {time}.")


UNITS = {
    "suntikkan": "unit IU ampul vial pen",
    "teteskan": "tetes",
    "oleskan": "oles salep krim gel",
    "hirup": "semprot puff hirup inhalasi",
    "pakai": "suppositoria ovula plester koyo",
    "minum": "tablet kapsul pil kaplet butir biji strip ml cc sendok sachet bungkus",
}


@pytest.mark.parametrize(("verb", "unit"), [(verb, unit) for verb, units in UNITS.items() for unit in units.split()])
def test_the_verb_follows_the_unit(verb, unit):
    for written in (unit, unit.upper(), f" {unit.capitalize()} (kecil)"):
        details = {**METFORMIN, "jadwal": [{"jam": "00:00", "jumlah": 10.0, "satuan": written}]}
        expected = f"waktunya {verb} Metformin (10 {' '.join(written.split())}, setelah makan) pukul 07.00 WIB."
        assert said("obat", details) == f"Halo Siti, {expected}"


@pytest.mark.parametrize("unit", ["takar", "tabletan", "mg", "1 tablet", "½", ""])
def test_a_message_with_an_unknown_unit_has_no_verb(unit):
    details = {**METFORMIN, "nama_obat": "Insulin", "jadwal": [{"jam": "00:00", "jumlah": 10.0, "satuan": unit}]}
    assert said("obat", details).startswith("Halo Siti, waktunya Insulin (10")


def test_the_petunjuk_is_shown_after_the_dose():
    details = {**METFORMIN, "petunjuk": "jangan  dengan\nsusu"}
    dose = "minum Metformin (1 tablet, setelah makan, jangan dengan susu) pukul 07.00 WIB."
    assert said("obat", details) == f"Halo Siti, waktunya {dose}"
    assert push_of(reminder("obat", details), Due(SEVEN, SEVEN, "0"), SITI)["body"] == f"Waktunya {dose}"


@pytest.mark.parametrize("kept", [None, ""])
def test_an_empty_petunjuk_is_not_shown(kept):
    assert "(1 tablet, setelah makan) pukul" in said("obat", {**METFORMIN, "petunjuk": kept})


@pytest.mark.parametrize(
    ("tipe", "details", "slot", "expected"),
    [
        ("obat", METFORMIN, "1", "0,5 tablet, setelah makan"),
        ("obat", {**METFORMIN, "petunjuk": "jangan dengan susu"}, "0", "1 tablet, setelah makan, jangan dengan susu"),
        ("obat", METFORMIN, "2", ""),
        ("makan", {"sarapan": {"karbohidrat": "oatmeal", "serat": "apel"}}, "sarapan", "sarapan: oatmeal, apel"),
        ("makan", {"selingan": {}}, "selingan", "makan selingan"),
        ("makan", {}, "makan", ""),
        ("terapi", {"jenis_terapi": "Fisioterapi", "tempat_terapi": "RSUD"}, "0", "Fisioterapi di RSUD"),
        ("terapi", {"tempat_terapi": "RSUD"}, "0", "di RSUD"),
        ("terapi", {}, "0", ""),
        (
            "kontrol",
            {"nama_dokter": "dr. Ani", "spesialisasi": "Mata", "nama_faskes": "RS"},
            "1d",
            "dr. Ani (Mata) di RS",
        ),
        ("kontrol", {}, "0", ""),
    ],
)
def test_the_description_of_an_occurrence_depends_on_type_and_slot(tipe, details, slot, expected):
    assert texts.what(reminder(tipe, details), Due(SEVEN, SEVEN, slot)) == expected


def test_a_meal_message_contains_the_menu():
    details = {"sarapan": {"jam": "00:00", "karbohidrat": "nasi merah", "protein": "telur", "lemak": ""}}
    assert said("makan", details, "sarapan") == (
        "Halo Siti, waktunya sarapan pukul 07.00 WIB. Menu: nasi merah, telur."
    )


def test_a_meal_without_a_named_slot_is_called_makan():
    assert said("makan", {}, "makan") == "Halo Siti, waktunya makan pukul 07.00 WIB."


def test_a_therapy_message_contains_type_and_place_or_else_the_title():
    details = {"jenis_terapi": "Fisioterapi", "tempat_terapi": "RSUD Cibabat"}
    assert said("terapi", details) == ("Halo Siti, waktunya terapi Fisioterapi di RSUD Cibabat pukul 07.00 WIB.")
    assert said("terapi", {}) == "Halo Siti, waktunya terapi Judul pukul 07.00 WIB."


def test_a_visit_message_contains_doctor_place_and_date():
    details = {"nama_dokter": "dr. Ani", "spesialisasi": "Penyakit Dalam", "nama_faskes": "RSUD Cibabat"}
    rest = "jadwal kontrol dengan dr. Ani (Penyakit Dalam) di RSUD Cibabat, Selasa, 10 Maret 2026 pukul 07.00 WIB."
    assert said("kontrol", details) == f"Halo Siti, {rest}"
    assert said("kontrol", details, "1h") == f"Halo Siti, 1 jam lagi {rest}"
    assert said("kontrol", details, "1d") == f"Halo Siti, besok {rest}"
    assert "jadwal kontrol Judul," in said("kontrol", {})


def test_line_breaks_in_user_text_are_replaced_by_spaces():
    assert "terapi a b di c" in said("terapi", {"jenis_terapi": "a\n\nb", "tempat_terapi": " c "})


def test_a_push_body_is_cut_to_the_maximum_length():
    details = {**METFORMIN, "nama_obat": "x" * 3000}
    push = push_of(reminder("obat", details), Due(SEVEN, SEVEN, "0"), SITI)
    assert push["title"] == "Pengingat: Judul"
    assert push["body"].startswith("Waktunya minum")
    assert len(push["body"]) == texts.PUSH_CHARACTERS


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Siti Aminah", "Siti"),
        ("Ani, S.Kep", "Ani"),
        ("dr. Ani, Sp.PD", "Ani"),
        ("dr.Ani Sp.PD", "Ani"),
        ("M.Yusuf", "Yusuf"),
        ("H. M. Yusuf", "Yusuf"),
        ("Prof. Dr. Ir. H. Joko Widodo", "Joko"),
        ("drg Rina", "Rina"),
        ("Hj Fatimah", "Fatimah"),
        ("HJ. FATIMAH", "FATIMAH"),
        ("Ibu Siti", "Siti"),
        ("bapak haji Ahmad", "haji"),
        ("Bpk. Drs Budi", "Budi"),
        ("Ny Tn Sdr. Wati", "Wati"),
        ("dr.", "dr."),
        ("Ibu", "Ibu"),
        ("Ibu Hj.", "Ibu Hj."),
        ("I Made Suastika", "Made"),
        ("I Gusti Ngurah Rai", "Gusti"),
        ("Ni Luh Putu", "Luh"),
        ("NI WAYAN SARI", "WAYAN"),
        ("M Yusuf", "Yusuf"),
        ("Moh Hatta", "Hatta"),
        ("Moh. Hatta", "Hatta"),
        ("Moch Ridwan", "Ridwan"),
        ("abd Rahman", "Rahman"),
        ("St Aisyah", "Aisyah"),
        ("St. Aisyah", "Aisyah"),
        ("H M Abd Gani", "Gani"),
        ("Bapak I Ketut", "Ketut"),
        ("A. B. Susanto", "Susanto"),
        ("B J Habibie", "Habibie"),
        ("Ida Bagus", "Ida"),
        ("Nia", "Nia"),
        ("I", "I"),
        ("Ni M.", "Ni M."),
        ("dr. I", "dr. I"),
        ("  ", ""),
    ],
)
def test_people_are_greeted_by_their_short_name(name, short):
    assert texts.first_name(name) == short


def test_a_missing_blank_after_a_full_stop_removes_no_word():
    details = {**METFORMIN, "nama_obat": "Metformin 500mg.Glimepirid 2mg"}
    assert "minum Metformin 500mg. Glimepirid 2mg (1 tablet" in said("obat", details)


#: Details with links, and the expected part of the message.
WITH_LINKS = [
    ("obat", {**METFORMIN, "nama_obat": "judi.com"}, "0", "minum judi. com (1 tablet, setelah makan) pukul"),
    (
        "obat",
        {**METFORMIN, "jadwal": [{"jam": "00:00", "jumlah": 1.0, "satuan": "s.id/abc"}]},
        "0",
        "Metformin (1 s. id/abc, setelah makan) pukul",
    ),
    (
        "makan",
        {"sarapan": {"karbohidrat": "nasi https://a.b", "serat": "judi.com"}},
        "sarapan",
        "nasi https a. b, judi. com",
    ),
    ("terapi", {"jenis_terapi": "Pijat judi.com", "tempat_terapi": "siti@RSUD"}, "0", "Pijat judi. com di siti RSUD"),
    ("kontrol", {"nama_dokter": "dr.Ani", "nama_faskes": "RS.Sehat"}, "0", "kontrol dengan dr. Ani di RS. Sehat,"),
]


@pytest.mark.parametrize(("tipe", "details", "slot", "expected"), WITH_LINKS)
def test_links_in_details_are_broken_by_blanks(tipe, details, slot, expected):
    due = Due(SEVEN, SEVEN, slot)
    assert expected in plain(reminder(tipe, details), due, SITI)
    assert expected in push_of(reminder(tipe, details), due, SITI)["body"]


@pytest.mark.usefixtures("app")
def test_links_in_titles_and_names_are_broken_by_blanks():
    pengingat = Pengingat(tipe="terapi", judul="Menang di judi.com", timezone="Asia/Jakarta", details={})
    due = Due(SEVEN, SEVEN, "0")
    sentence = "aktunya terapi Menang di judi. com pukul 07.00 WIB."
    assert push_of(pengingat, due, SITI) == {"title": "Pengingat: Menang di judi. com", "body": f"W{sentence}"}
    assert plain(pengingat, due, Recipient("Siti.com")) == f"Halo com, w{sentence}"
    reader = Recipient("klaim.help", reader="Budi")
    assert plain(pengingat, due, reader) == f"Pengingat untuk klaim. help: w{sentence}"


# --- titles and grouped messages ------------------------------------------------------------------------------------


def line(number, judul, tipe="obat", to=SITI, **details):
    pengingat = reminder(tipe, details or METFORMIN)
    pengingat.judul = judul
    return texts.line(number, pengingat, Due(SEVEN, SEVEN, "0"), to)


def payload(judul, tipe="obat", to=SITI, **details):
    return texts.message([line(1, judul, tipe, to, **details)], to, "t" * 22, is_list=False, is_short=False)[0]


def listed(*lines, is_short=False):
    return str(texts.message(lines, SITI, "t" * 22, is_list=True, is_short=is_short)[0]["text"])


DOSE = "waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB."


@pytest.fixture
def links(app, monkeypatch):
    config = replace(app.extensions["config"], public_url="https://sehat.example.org")
    monkeypatch.setitem(app.extensions, "config", config)


@pytest.mark.usefixtures("app")
def test_the_default_configuration_sends_the_specified_text():
    assert payload("Obat gula pagi")["text"] == f"Halo Siti, {DOSE}"


@pytest.mark.usefixtures("links")
def test_a_message_with_a_link_contains_the_title():
    link = f"https://sehat.example.org/k/{'t' * 22}"
    said = f"Halo Siti, {DOSE} Pengingat: Obat gula pagi.\nJawab di sini: {link}"
    assert payload("Obat  gula\npagi")["text"] == said
    assert payload("Jangan lupa!")["text"].endswith(f"Pengingat: Jangan lupa!\nJawab di sini: {link}")


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize(
    "judul", ["Metformin", " METFORMIN ", "minum  metformin", "Obat Metformin pagi", "", "  ", "setelah makan"]
)
def test_a_title_that_says_nothing_new_is_left_out(judul):
    assert line(1, judul).news == ""
    assert payload(judul)["text"].startswith(f"Halo Siti, {DOSE}\n")


@pytest.mark.usefixtures("links")
def test_a_title_that_is_only_part_of_a_word_of_the_sentence_is_kept():
    assert line(1, "Metfor").news == " Pengingat: Metfor."


@pytest.mark.usefixtures("links")
def test_a_therapy_title_that_is_in_the_sentence_is_not_repeated():
    text = payload("Fisioterapi", "terapi", tempat_terapi="RSUD")["text"]
    assert text.startswith("Halo Siti, waktunya terapi Fisioterapi di RSUD pukul 07.00 WIB.\n")


@pytest.mark.usefixtures("links")
def test_links_in_the_title_of_a_message_with_a_link_are_broken():
    assert " Pengingat: Menang di judi. com sekarang." in payload("Menang di judi.com sekarang")["text"]


@pytest.mark.usefixtures("app")
def test_a_joint_message_numbers_its_reminders_and_shows_their_titles():
    assert listed(line(1, "Obat gula pagi"), line(2, "Makan pagi", "makan", sarapan={})) == (
        "Halo Siti, ada 2 pengingat:\n"
        "1. Waktunya minum Metformin (1 tablet, setelah makan) pukul 07.00 WIB. Pengingat: Obat gula pagi.\n"
        "2. Waktunya makan pukul 07.00 WIB. Pengingat: Makan pagi."
    )


@pytest.mark.usefixtures("links")
def test_a_joint_message_has_one_link():
    text = listed(line(1, "Metformin"), line(2, "Metformin"))
    assert text.endswith(f"\nJawab semuanya di sini: https://sehat.example.org/k/{'t' * 22}")
    assert text.count("https://") == 1


@pytest.mark.usefixtures("app")
@pytest.mark.parametrize(
    ("count", "is_short", "named"), [(10, False, 10), (12, False, 10), (12, True, 8), (2, True, 2)]
)
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


def configure(app, monkeypatch, **values):
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], **values))


def test_a_message_without_buttons_explains_how_to_answer(app, monkeypatch):
    configure(app, monkeypatch, **FONNTE)
    assert payload("Metformin")["text"] == f"Halo Siti, {DOSE}\n{ANSWER_ONE}"
    several = listed(line(1, "Metformin"), line(2, "Metformin"))
    assert several.endswith(f"07.00 WIB.\n{ANSWER_SEVERAL}")
    assert ANSWER_ONE not in several


@pytest.mark.usefixtures("links")
def test_the_answer_instructions_are_before_the_link(app, monkeypatch):
    configure(app, monkeypatch, **FONNTE)
    assert f"\n{ANSWER_ONE}\nJawab di sini: https://" in str(payload("Metformin")["text"])
    several = listed(line(1, "Metformin"), line(2, "Metformin"))
    assert f"\n{ANSWER_SEVERAL}\nJawab semuanya di sini: https://" in several


def test_a_message_with_buttons_has_no_answer_instructions(app, monkeypatch):
    configure(app, monkeypatch, **WHATSAPP)
    assert payload("Metformin")["text"] == f"Halo Siti, {DOSE}"
    assert ANSWER_SEVERAL not in listed(line(1, "Metformin"), line(2, "Metformin"))


def test_a_text_that_is_too_long_for_buttons_says_how_to_answer_it(app, monkeypatch):
    configure(app, monkeypatch, **WHATSAPP)
    text = listed(*(line(n, "x" * 60) for n in range(1, 11)))
    assert text.endswith(ANSWER_SEVERAL)


def test_a_message_has_no_answer_instructions_without_a_webhook(app, monkeypatch):
    configure(app, monkeypatch, messaging_provider="fonnte", fonnte_webhook_token=None, whatsapp_app_secret=None)
    assert payload("Metformin")["text"] == f"Halo Siti, {DOSE}"


@pytest.mark.parametrize("text", [ANSWER_ONE, ANSWER_SEVERAL])
def test_the_answer_instructions_are_readable(text):
    assert_readable(text)
