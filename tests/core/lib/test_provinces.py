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
    spellings = {
        spelling: province
        for province in PROVINCES
        for spelling in (
            province,
            province.upper(),
            f"  {province.lower()}\t",
            province.replace(" ", "-"),
            province.replace(" ", "_"),
            province.replace(" ", ""),
            f"Provinsi {province}",
            f"PROV. {province}",
            f"Propinsi {province}",
            f"Provinsi{province.replace(' ', '')}",
            f"{province} Province",
        )
    }
    assert {spelling: canonical(spelling) for spelling in spellings} == spellings


OTHER_NAMES = {
    "Aceh": ("Nanggroe Aceh Darussalam",),
    "Sumatera Utara": ("Sumatra Utara", "North Sumatra"),
    "Sumatera Barat": ("West Sumatera",),
    "Sumatera Selatan": ("south sumatra",),
    "Kepulauan Bangka Belitung": ("Bangka Belitung", "Bangka-Belitung Islands", "Babel"),
    "Kepulauan Riau": ("Kepri", "Kep. Riau", "Riau Islands"),
    "DKI Jakarta": (
        "Jakarta",
        "Daerah Khusus Jakarta",
        "Daerah Khusus Ibukota Jakarta",
        "Provinsi Daerah Khusus Ibu Kota Jakarta",
        "D.K.I. Jakarta",
        "Special Capital Region of Jakarta",
    ),
    "Jawa Barat": ("West Java", "Jabar"),
    "Jawa Tengah": ("Central Java",),
    "Jawa Timur": ("East Java",),
    "DI Yogyakarta": (
        "Yogyakarta",
        "D.I. Yogyakarta",
        "Daerah Istimewa Yogyakarta",
        "Special Region of Yogyakarta",
        "DIY",
    ),
    "Nusa Tenggara Barat": ("NTB", "West Nusa Tenggara"),
    "Nusa Tenggara Timur": ("N.T.T.",),
    "Kalimantan Utara": ("Kaltara",),
    "Kalimantan Tengah": ("Central Kalimantan",),
    "Sulawesi Selatan": ("Sulsel",),
    "Sulawesi Tenggara": ("Southeast Sulawesi", "South East Sulawesi"),
    "Maluku Utara": ("North Maluku",),
    "Papua Barat": ("West Papua",),
    "Papua Selatan": ("South Papua",),
    "Papua Tengah": ("Central Papua",),
    "Papua Pegunungan": ("Highland Papua",),
    "Papua Barat Daya": ("Southwest Papua", "South-West Papua"),
    "Bali": ("Bali".ljust(100),),
}


def test_other_names_of_provinces_are_recognised():
    expected = {name: province for province, names in OTHER_NAMES.items() for name in names}
    assert {name: canonical(name) for name in expected} == expected


def test_a_text_that_is_no_province_name_gives_none():
    texts = (
        "", " ", "Provinsi", "Jawa", "Sumatera", "Kalimantan", "Nusa Tenggara", "Johor", "Bandung", "ID", "ID-JB", "%",
        "x" * 10_000, "default", "Jawa Barat Jawa Tengah", "Bali 東京", "Балі Bali",
        "Bali".ljust(101),
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
