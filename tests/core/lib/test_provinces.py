"""Recognition of the 38 provinces of Indonesia in all their spellings."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from app.core.lib.provinces import PROVINCES, canonical, timezone


def test_there_are_38_provinces_in_the_order_of_the_contract():
    assert len(PROVINCES) == len(set(PROVINCES)) == 38
    assert PROVINCES[0] == "Aceh"
    assert PROVINCES[10:14] == ("DKI Jakarta", "Jawa Barat", "Jawa Tengah", "DI Yogyakarta")
    assert PROVINCES[-6:] == (
        "Papua",
        "Papua Barat",
        "Papua Selatan",
        "Papua Tengah",
        "Papua Pegunungan",
        "Papua Barat Daya",
    )


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
    "Nanggroe Aceh Darussalam": "Aceh",
    "Sumatra Utara": "Sumatera Utara",
    "North Sumatra": "Sumatera Utara",
    "West Sumatera": "Sumatera Barat",
    "south sumatra": "Sumatera Selatan",
    "Bangka Belitung": "Kepulauan Bangka Belitung",
    "Bangka-Belitung Islands": "Kepulauan Bangka Belitung",
    "Babel": "Kepulauan Bangka Belitung",
    "Kepri": "Kepulauan Riau",
    "Kep. Riau": "Kepulauan Riau",
    "Riau Islands": "Kepulauan Riau",
    "Jakarta": "DKI Jakarta",
    "Daerah Khusus Jakarta": "DKI Jakarta",
    "Daerah Khusus Ibukota Jakarta": "DKI Jakarta",
    "Provinsi Daerah Khusus Ibu Kota Jakarta": "DKI Jakarta",
    "D.K.I. Jakarta": "DKI Jakarta",
    "Special Capital Region of Jakarta": "DKI Jakarta",
    "West Java": "Jawa Barat",
    "Jabar": "Jawa Barat",
    "Central Java": "Jawa Tengah",
    "East Java": "Jawa Timur",
    "Yogyakarta": "DI Yogyakarta",
    "D.I. Yogyakarta": "DI Yogyakarta",
    "Daerah Istimewa Yogyakarta": "DI Yogyakarta",
    "Special Region of Yogyakarta": "DI Yogyakarta",
    "DIY": "DI Yogyakarta",
    "NTB": "Nusa Tenggara Barat",
    "West Nusa Tenggara": "Nusa Tenggara Barat",
    "N.T.T.": "Nusa Tenggara Timur",
    "Kaltara": "Kalimantan Utara",
    "Central Kalimantan": "Kalimantan Tengah",
    "Sulsel": "Sulawesi Selatan",
    "Southeast Sulawesi": "Sulawesi Tenggara",
    "South East Sulawesi": "Sulawesi Tenggara",
    "North Maluku": "Maluku Utara",
    "West Papua": "Papua Barat",
    "South Papua": "Papua Selatan",
    "Central Papua": "Papua Tengah",
    "Highland Papua": "Papua Pegunungan",
    "Southwest Papua": "Papua Barat Daya",
    "South-West Papua": "Papua Barat Daya",
    "Bali".ljust(100): "Bali",
}


def test_other_names_of_provinces_are_recognised():
    assert {name: canonical(name) for name in OTHER_NAMES} == OTHER_NAMES


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
