"""What people mean by what they write."""

from __future__ import annotations

import pytest

from app.inbox.words import Command, Word, read
from tests.helpers.offenders import assert_none

TOKEN = "A" * 22

#: What somebody writes, and what it says.
TABLE: dict[str, Command] = {
    # done
    "SUDAH": Command(Word.DONE),
    "sudah": Command(Word.DONE),
    "Sudah.": Command(Word.DONE),
    "sudaaaaah!!!": Command(Word.DONE),
    "SSUUDDAAHH": Command(Word.DONE),
    "  sudah  ": Command(Word.DONE),
    "*sudah*": Command(Word.DONE),
    "_Sudah_ ✅": Command(Word.DONE),
    "👍 sudah": Command(Word.DONE),
    "sudah 🙏🏽": Command(Word.DONE),
    "sudah minum obat tadi pagi": Command(Word.DONE),
    "sudah, terima kasih": Command(Word.DONE),
    "𝗦𝗨𝗗𝗔𝗛": Command(Word.DONE),
    "ＳＵＤＡＨ": Command(Word.DONE),
    "súdah": Command(Word.DONE),
    "sdh": Command(Word.DONE),
    "sdhh": Command(Word.DONE),
    "udah": Command(Word.DONE),
    "udahhh": Command(Word.DONE),
    "udh": Command(Word.DONE),
    "uda": Command(Word.DONE),
    "suda": Command(Word.DONE),
    "sudha": Command(Word.DONE),
    "sydah": Command(Word.DONE),
    "sufah": Command(Word.DONE),
    "dah": Command(Word.DONE),
    "DONE": Command(Word.DONE),
    "done ya": Command(Word.DONE),
    "Sudah diminum": Command(Word.DONE),
    "sudah\nterima kasih": Command(Word.DONE),
    # which of several
    "SUDAH 2": Command(Word.DONE, numbers=(2,)),
    "sudah2": Command(Word.DONE, numbers=(2,)),
    "sdh no 2": Command(Word.DONE, numbers=(2,)),
    "sudah nomor 3": Command(Word.DONE, numbers=(3,)),
    "sudah yang ke 1": Command(Word.DONE, numbers=(1,)),
    "sudah 1 dan 3": Command(Word.DONE, numbers=(1, 3)),
    "sudah 1, 2, 2": Command(Word.DONE, numbers=(1, 2)),
    "sudah ٢": Command(Word.DONE, numbers=(2,)),
    "sudah ፪": Command(Word.DONE),
    "sudah 2 tablet": Command(Word.DONE),
    "sudah jam 7": Command(Word.DONE),
    "sudah 07.00": Command(Word.DONE),
    "Sudah, 7:15": Command(Word.DONE),
    "sudah 1.02": Command(Word.DONE),
    "sudah 1.2": Command(Word.DONE, numbers=(1, 2)),
    "sudah 99999999999999999999": Command(Word.DONE, numbers=(999999,)),
    "lewati 1": Command(Word.SKIP, numbers=(1,)),
    "lewati 19.00": Command(Word.SKIP),
    # yes
    "OK": Command(Word.YES),
    "ok.": Command(Word.YES),
    "okeee": Command(Word.YES),
    "Oke": Command(Word.YES),
    "ya": Command(Word.YES),
    "Yaaa": Command(Word.YES),
    "iya": Command(Word.YES),
    "iya sudah": Command(Word.YES),
    # not yet
    "BELUM": Command(Word.NOT_YET),
    "blm": Command(Word.NOT_YET),
    "belom": Command(Word.NOT_YET),
    "beluuum": Command(Word.NOT_YET),
    "blum sempat": Command(Word.NOT_YET),
    "belum sudah": Command(Word.NOT_YET),
    # later
    "TUNDA": Command(Word.SNOOZE, minutes=30),
    "Tunda 30 menit": Command(Word.SNOOZE, minutes=30),
    "tunda 15": Command(Word.SNOOZE, minutes=15),
    "tunda15": Command(Word.SNOOZE, minutes=15),
    "tunda dulu": Command(Word.SNOOZE, minutes=30),
    "tunda 1 jam": Command(Word.SNOOZE, minutes=60),
    "tunda 2 jam ya": Command(Word.SNOOZE, minutes=120),
    "tunda sejam": Command(Word.SNOOZE, minutes=60),
    "tunda setengah jam": Command(Word.SNOOZE, minutes=30),
    "tunda 3 jam": Command(Word.SNOOZE, minutes=180),
    "tunda 4": Command(Word.SNOOZE, minutes=4),
    "tunda 121": Command(Word.SNOOZE, minutes=121),
    "TUNDA -5": Command(Word.SNOOZE, minutes=5),
    "tnda 20": Command(Word.SNOOZE, minutes=20),
    "tundaa 20": Command(Word.SNOOZE, minutes=20),
    # not this time
    "LEWATI": Command(Word.SKIP),
    "lewat": Command(Word.SKIP),
    "lewatin aja": Command(Word.SKIP),
    "SKIP": Command(Word.SKIP),
    "skippp": Command(Word.SKIP),
    "lwati": Command(Word.SKIP),
    # no more, and again
    "BERHENTI": Command(Word.STOP),
    "berhenti!": Command(Word.STOP),
    "brhenti": Command(Word.STOP),
    "STOP": Command(Word.STOP),
    "stoppp": Command(Word.STOP),
    "stop mengirim pesan": Command(Word.STOP),
    "BERHENTI PENGINGAT": Command(Word.STOP_REMINDERS),
    "stop pengingat": Command(Word.STOP_REMINDERS),
    "berhenti pengigat": Command(Word.STOP_REMINDERS),
    "MULAI": Command(Word.START),
    "mulaiii": Command(Word.START),
    "mulai lagi": Command(Word.START),
    # help
    "BANTUAN": Command(Word.HELP),
    "tolong": Command(Word.HELP),
    "TOLOOONG": Command(Word.HELP),
    "tolong saya sesak": Command(Word.HELP),
    "help": Command(Word.HELP),
    "bntuan": Command(Word.HELP),
    # of the number and the account
    "SALAH NOMOR": Command(Word.WRONG_NUMBER),
    "salah nomer pak": Command(Word.WRONG_NUMBER),
    "Salah, nomor": Command(Word.WRONG_NUMBER),
    "RESET": Command(Word.RESET),
    "reset kata sandi": Command(Word.RESET),
    "PUTUS": Command(Word.CUT),
    "VERIFIKASI K7MP4W": Command(Word.VERIFY, code="K7MP4W"),
    "verifikasi kk77-mm": Command(Word.VERIFY, code="kk77mm"),
    "Verifikasi: K7M P4W 🙏": Command(Word.VERIFY, code="K7MP4W"),
    "ferifikasi K7MP4W": Command(Word.VERIFY, code="K7MP4W"),
    "VERIFIKASI": Command(Word.VERIFY),
    # what is none of them, however near
    "": Command(Word.UNKNOWN),
    "👍": Command(Word.UNKNOWN),
    "...": Command(Word.UNKNOWN),
    "123": Command(Word.UNKNOWN),
    "susah": Command(Word.UNKNOWN),
    "mudah": Command(Word.UNKNOWN),
    "ludah": Command(Word.UNKNOWN),
    "salah": Command(Word.UNKNOWN),
    "salah minum obat": Command(Word.UNKNOWN),
    "saya sudah minum": Command(Word.UNKNOWN),
    "tidak sudah": Command(Word.UNKNOWN),
    "halo": Command(Word.UNKNOWN),
    "terima kasih telah menghubungi kami": Command(Word.UNKNOWN),
    "mula": Command(Word.UNKNOWN),
    "start": Command(Word.UNKNOWN),
    "dimulai": Command(Word.UNKNOWN),
    "putuskan": Command(Word.UNKNOWN),
    "tuna": Command(Word.UNKNOWN),
    "setop": Command(Word.STOP),
}


def test_every_text_says_what_the_table_has() -> None:
    assert_none((f"{text!r}: {read(text)}" for text in TABLE if read(text) != TABLE[text]), "Read otherwise:")


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 80


@pytest.mark.parametrize(
    ("pressed", "expected"),
    [
        (f"T:{TOKEN}", Command(Word.DONE, token=TOKEN)),
        (f"T:{TOKEN}:snooze", Command(Word.SNOOZE, token=TOKEN)),
        (f"T:{TOKEN}:skip", Command(Word.SKIP, token=TOKEN)),
    ],
)
def test_a_button_says_what_stands_on_it(pressed: str, expected: Command) -> None:
    assert read("apa saja", pressed) == expected


@pytest.mark.parametrize("pressed", ["", "x", "T:", f"T:{TOKEN}:delete", f"T:{TOKEN}x", f"t:{TOKEN}"])
def test_a_button_that_is_not_ours_says_what_is_written(pressed: str) -> None:
    assert read("SUDAH", pressed) == Command(Word.DONE)


def test_no_text_of_any_length_or_kind_breaks_the_reading() -> None:
    for text in ("a" * 1000, "\u0300" * 1000, "sudah " + "9" * 990, "\u202esudah", "²", "sudah ²", "tunda ½"):
        assert isinstance(read(text), Command)
