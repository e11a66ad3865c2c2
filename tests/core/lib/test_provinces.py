"""Recognition of the 38 provinces of Indonesia in all their spellings."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from app.core.lib.provinces import PROVINCES, canonical, timezone


def test_there_are_38_provinces_in_the_order_of_the_contract():
    assert len(PROVINCES) == len(set(PROVINCES)) == 38
    assert PROVINCES[0] == "Aceh"
    assert PROVINCES[10:14] == ("DKI Jakarta", "Jawa Barat", "Jawa Tengah", "DI Yogyakarta")
    papua = ("Papua", "Papua Barat", "Papua Selatan", "Papua Tengah", "Papua Pegunungan", "Papua Barat Daya")
    assert PROVINCES[-6:] == papua


def test_case_spaces_punctuation_and_the_word_province_are_ignored():
    patterns = ("{}", "  {}\t", "Provinsi {}", "PROV. {}", "Propinsi {}", "{} Province")
    written = {name: (name, name.upper(), name.replace(" ", "-"), name.replace(" ", "_")) for name in PROVINCES}
    spellings = {each.format(form): name for name, forms in written.items() for form in forms for each in patterns}
    spellings |= {f"Provinsi{name.replace(' ', '')}".lower(): name for name in PROVINCES}
    assert {spelling: canonical(spelling) for spelling in spellings} == spellings


#: Other names of provinces: aliases, English names, and the longest text that is read.
OTHER_NAMES = {
    "Aceh": ("Nanggroe Aceh Darussalam",),
    "Sumatera Utara": ("Sumatra Utara", "North Sumatra"),
    "Kepulauan Bangka Belitung": ("Bangka-Belitung Islands", "Babel"),
    "Kepulauan Riau": ("Kepri", "Kep. Riau"),
    "DKI Jakarta": ("Jakarta", "Provinsi Daerah Khusus Ibu Kota Jakarta", "Special Capital Region of Jakarta"),
    "Jawa Barat": ("West Java", "Jabar"),
    "Jawa Tengah": ("Central Java",),
    "Jawa Timur": ("East Java",),
    "DI Yogyakarta": ("Yogyakarta", "D.I. Yogyakarta", "Daerah Istimewa Yogyakarta", "DIY"),
    "Nusa Tenggara Barat": ("NTB",),
    "Nusa Tenggara Timur": ("N.T.T.",),
    "Sulawesi Tenggara": ("Southeast Sulawesi",),
    "Papua Selatan": ("South Papua",),
    "Papua Pegunungan": ("Highland Papua",),
    "Papua Barat Daya": ("South-West Papua",),
    "Bali": ("Bali".ljust(100),),
}


def test_other_names_of_provinces_are_recognised():
    expected = {name: province for province, names in OTHER_NAMES.items() for name in names}
    assert {name: canonical(name) for name in expected} == expected


def test_a_text_that_is_no_province_name_gives_none():
    texts = (
        "", " ", "Provinsi", "Jawa", "Nusa Tenggara", "Bandung", "ID-JB", "%", "default", "Jawa Barat Jawa Tengah",
        "Bali 東京", "Балі Bali", "Bali".ljust(101),
    )  # fmt: skip
    assert {text: canonical(text) for text in texts} == dict.fromkeys(texts)


def test_provinces_of_all_three_time_zones_have_the_correct_offset():
    zones = {
        7: ("Aceh", "DKI Jakarta", "Jawa Timur", "Kalimantan Barat", "Kalimantan Tengah"),
        8: ("Bali", "Nusa Tenggara Timur", "Kalimantan Selatan", "Kalimantan Utara", "Gorontalo"),
        9: ("Maluku", "Maluku Utara", "Papua", "Papua Barat Daya", "Papua Pegunungan"),
    }
    for hours, provinces in zones.items():
        offsets = {name: datetime(2026, 3, 2, tzinfo=ZoneInfo(timezone(name))).utcoffset() for name in provinces}
        assert offsets == dict.fromkeys(provinces, timedelta(hours=hours))
