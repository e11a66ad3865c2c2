"""Error messages for invalid input: Indonesian texts by field, and one sentence for the user."""

from app.core.lib import sentences
from app.core.lib.labels import label

LABELS = [
    ("nik", "NIK"),
    ("nama_obat", "Nama obat"),
    ("details.jadwal.0.jam", "Jam pada jadwal ke-1"),
    ("details.makan_siang.protein", "Protein pada makan siang"),
    ("details", "Rincian"),
    ("role_ids.2", "Peran ke-3"),
    ("quiet_hours.start", "Jam mulai pada jam tenang"),
    ("keys.p256dh", "P256dh pada keys"),
    ("nik.0.jam", "Jam pada NIK ke-1"),
]


def test_a_field_path_becomes_a_readable_indonesian_label():
    assert [(path, label(path.split("."))) for path, _ in LABELS] == LABELS


def test_nested_errors_become_dotted_paths():
    nested = {
        "details": {"jadwal": {0: {"jam": ["Missing data for required field."]}, "_schema": ["terlalu panjang."]}},
        "_schema": ["Invalid input type."],
    }
    assert sentences.flat(nested) == {
        "details.jadwal.0.jam": ["wajib diisi."],
        "details.jadwal": ["terlalu panjang."],
        "_schema": ["Isian ini tidak sesuai."],
    }


def test_only_the_first_hundred_errors_are_reported():
    nested = {"role_ids": {number: ["Not a valid integer."] for number in range(1000)}}
    errors = sentences.flat(nested)
    assert list(errors) == [f"role_ids.{number}" for number in range(100)]


def test_numbers_and_a_few_choices_stay_in_a_translated_sentence():
    assert sentences.indonesian("Length must be between 3 and 50.") == "harus 3 sampai 50 karakter."
    assert sentences.indonesian("Must be one of: obat, makan.") == "harus salah satu dari: obat, makan."
    assert sentences.indonesian("harus 16 digit angka.") == "harus 16 digit angka."
    choices = ", ".join("abcdefghij")
    assert sentences.indonesian(f"Must be one of: {choices}.") == "bukan salah satu dari pilihan."


WAITS = [
    (0, "1 detik"),
    (30, "30 detik"),
    (60, "1 menit"),
    (121, "3 menit"),
    (3541, "1 jam"),
    (7200, "2 jam"),
    (86_000, "1 hari"),
    (90_000, "2 hari"),
]


def test_a_waiting_time_is_rounded_up_to_a_readable_unit():
    assert [(seconds, sentences.wait(seconds)) for seconds, _ in WAITS] == WAITS
