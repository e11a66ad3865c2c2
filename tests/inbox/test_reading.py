"""Tests of `read`, which returns the meaning of a chat message."""

from hypothesis import given
from hypothesis import strategies as st

from app.inbox import reading
from app.inbox.reading import CandidateTime, Meaning, Word, read, read_reaction
from tests.helpers.offenders import assert_none
from tests.inbox.sentences import TABLE

TOKEN = "A" * 22

METFORMIN = CandidateTime(1, "obat", ("Obat gula darah", "Metformin"))
AMLODIPIN = CandidateTime(2, "obat", ("Amlodipin",))
LUNCH = CandidateTime(3, "makan", ("Makan siang",))
WALK = CandidateTime(4, "terapi", ("jalan kaki",))
VISIT = CandidateTime(5, "kontrol", ("Kontrol bulanan", "dr. Ani"))

ONE = (METFORMIN,)
TWO = (METFORMIN, AMLODIPIN)
ALL = (METFORMIN, LUNCH, WALK, VISIT)

#: Commands. They are the whole text, except polite words.
COMMANDS = {
    Word.STOP: ("BERHENTI", "berhenti!", "STOP", "stoppp", "Pak, STOP 🙏"),
    Word.STOP_REMINDERS: ("BERHENTI PENGINGAT", "stop pengingat", "Berhenti, pengingat."),
    Word.START: ("MULAI", "mulaiii", "mulai, terima kasih banyak"),
    Word.HELP: ("BANTUAN", "bantuan dok", "tolong", "TOLOOONG", "help"),
    Word.WRONG_NUMBER: ("SALAH NOMOR", "Salah, nomor", "salah sambung pak"),
    Word.RESET: ("RESET", "reset kak"),
}
CODES = {
    "VERIFIKASI K7MP4W": "K7MP4W", "verifikasi kk77-mm": "KK77MM", "Verifikasi: K7M P4W 🙏": "K7MP4W",
    "kak, verifikasi K7MP4W makasih": "K7MP4W", "VERIFIKASI": "",
}  # fmt: skip
#: Texts with the word of a command that are none.
NO_COMMANDS = (
    "putus obat 3 hari dok", "PUTUS", "PINDAH", "salah nomor 1, harusnya nomor 2", "salah no 2 sudah", "salah nomer",
    "mulai besok saya minum", "mulai?", "start", "henti jantung", "brhenti",
    "berhenti minum obat", "berhenti dulu", "stop darahnya keluar terus",
    "stop?", "stop pengingat obat dulu", "stop pengingat?", "tolong saya bingung", "bantuan?", "info", "reset sandi",
    "salah nomor?", "verifikasi nomor saya bagaimana", "verifikasi?", "✅ berhenti 2 hari", "sudah stop",
)  # fmt: skip


def test_every_sentence_has_its_expected_meaning():
    sentences = [(text, word) for word, texts in TABLE.items() for text in texts]
    read_otherwise = [(text, word) for text, word in sentences if read(text, ONE).word is not word]
    assert_none((f"{text!r}: not {word}" for text, word in read_otherwise), "Read otherwise:")
    assert len(sentences) >= 600


def test_a_command_is_recognized_only_as_the_whole_text():
    codes = {text: Meaning(Word.VERIFY, code=code) for text, code in CODES.items()}
    for times in ((), ONE, TWO):
        for word, texts in COMMANDS.items():
            assert_none((text for text in texts if read(text, times) != Meaning(word)), "Read otherwise:")
        assert {text: read(text, times) for text in CODES} == codes
        assert_none((text for text in NO_COMMANDS if read(text, times).word not in TABLE), "Read as a command:")


# --- the reminders that a text is about -----------------------------------------------------------------------------


#: Texts with the times that a message may mean, and the ids of the times that the text names.
NAMED = [
    ("sudah", TWO, ()),
    ("sudah metformin", TWO, (1,)),
    ("amlodipin sudah", TWO, (2,)),
    ("sudah amlodipin dan metformin", TWO, (1, 2)),
    ("sudah obat gula darah", TWO, (1,)),
    ("sudah metformiiin", TWO, (1,)),
    ("sudah minum amlodipin", ALL + TWO, (2,)),
    ("sudah makan siang", ALL, (3,)),
    ("sudah jalan kaki", ALL, (4,)),
    ("sudah dr ani", ALL, (5,)),
    ("sudah metformin", (METFORMIN, CandidateTime(6, "obat", ("Metformin",))), (1, 6)),
    ("sudah obat", (CandidateTime(7, "obat", ("Obat",)), AMLODIPIN), (7,)),
]  # fmt: skip


def test_a_name_selects_its_times():
    for text, times, named in NAMED:
        assert read(text, times) == Meaning(Word.DONE, named=named), text


def test_a_word_for_a_type_counts_only_if_all_times_have_this_type():
    words = {"minum": "obat", "obatnya": "obat", "makan": "makan", "terapi": "terapi", "kontrol": "kontrol"}
    for word, tipe in words.items():
        for time in ALL:
            assert read(f"sudah {word}", (time,)).word is (Word.DONE if time.tipe == tipe else Word.DOUBT), word
        assert read(f"sudah {word}", ALL).word is Word.DOUBT, word


def test_a_name_that_is_an_answer_is_no_name():
    for name in ("Sudah makan", "Belum sarapan", "Nanti malam", "Lewati saja", "2", "...", ""):
        times = (CandidateTime(1, "obat", (name,)),)
        assert read(f"sudah {name} belum", times).word is Word.DOUBT, name
        assert read(f"sudah {name}", times).named == (), name


def test_snooze_and_skip_apply_to_the_named_reminder():
    assert read("nanti amlodipin 45 menit", TWO) == Meaning(Word.SNOOZE, named=(2,), minutes=45)
    assert read("lewati amlodipin", TWO) == Meaning(Word.SKIP, named=(2,))
    assert read("belum amlodipin", TWO) == Meaning(Word.NOT_YET, named=(2,))


# --- numbers --------------------------------------------------------------------------------------------------------


NUMBERS = [
    ("1", (1,)), ("1 2", (1, 2)), ("1, 2", (1, 2)), ("1 dan 2", (1, 2)), ("no 2", (2,)), ("nomor 2", (2,)),
    ("2️⃣", (2,)), ("SUDAH 2", (2,)), ("sudah2", (2,)), ("sdh no 2", (2,)), ("sudah 1 dan 3", (1, 3)),
    ("sudah 1, 2, 2", (1, 2)), ("sudah ٢", (2,)), ("sudah 2 pak", (2,)), ("✅ 1", (1,)), ("0", (0,)),
    ("sudah 99999999999999999999", (99999999999999999999,)),
]  # fmt: skip


def test_numbers_select_reminders_of_a_list():
    for text, numbers in NUMBERS:
        assert read(text, TWO) == Meaning(Word.DONE, numbers), text
        assert read(text, ONE).word is Word.DOUBT, text
    assert read("lewati 1 dan 2", TWO) == Meaning(Word.SKIP, (1, 2))


#: Texts with numbers that select no reminder of a list.
OTHER_NUMBERS = [
    "sudah 2 tablet", "sudah jam 7", "jam 1", "sudah 07.00", "sudah 7:15", "sudah 1.2", "1,2", "1,3", "sudah ፪",
    "sudah yang 1", "sudah minum 1", "1 sudah", "1 ya", "1 sudah 2 belum", "sudah 1/2", "sudah ½", "sudah 1-3",
    "1 - 3", "1–3", "1..3", "1 sampai 3", "ok 1", "OK, 2", "ya 1", "👍 1", "ok sudah 1", "sudah 1 ?", "1?",
    "sudah metformin 2", "sudah lewati 2", "belum 2", "sudah 1 😭",
]  # fmt: skip


def test_other_numbers_have_no_meaning():
    assert_none((text for text in OTHER_NUMBERS if read(text, TWO) != Meaning(Word.DOUBT)), "Read otherwise:")


# --- postponing -----------------------------------------------------------------------------------------------------


DELAYS = [
    ("TUNDA", 30), ("tunda 15", 15), ("tunda15", 15), ("Tunda 45 menit", 45), ("nanti 10 menit lagi", 10),
    ("tunda 1 jam", 60), ("tunda 2 jam ya", 120), ("tunda 3 jam", 180), ("tunda 4", 4), ("tunda 0", 0),
    ("TUNDA -5", 5), ("10 menit lagi", 10), ("1 jam lagi", 60), ("tunda 1 jam 30 menit", 30), ("nanti jam 9", 30),
    ("nanti jam 9 malam", 30), ("nanti pukul 9", 30), ("tunda 07.00", 30), ("nanti 20 menit, jam 9", 20),
    ("makan dulu", 30), ("minum obat dulu", 30), ("ntar abis magrib ya", 30),
]  # fmt: skip


def test_snooze_reads_the_only_number_as_minutes():
    for text, minutes in DELAYS:
        for times in ((), ONE, TWO, (LUNCH,)):
            assert read(text, times) == Meaning(Word.SNOOZE, minutes=minutes), text


def test_snooze_with_not_yet_says_so():
    for text in ("belum, nanti 20 menit", "teu acan, nanti 20"):
        assert read(text, ONE) == Meaning(Word.SNOOZE, minutes=20, says_not_yet=True)


# --- buttons, reactions ---------------------------------------------------------------------------------------------


def test_a_button_payload_determines_the_meaning():
    for suffix, word in (("", Word.DONE), (":snooze", Word.SNOOZE), (":skip", Word.SKIP)):
        assert read("apa saja", ONE, f"T:{TOKEN}{suffix}") == Meaning(word, token=TOKEN)
    for pressed in ("", "x", "T:", f"T:{TOKEN}:delete", f"T:{TOKEN}x", f"t:{TOKEN}"):
        assert read("BELUM", ONE, pressed).word is Word.NOT_YET


def test_a_reaction_is_read_as_done_ok_or_doubt():
    for word, signs in {
        Word.DONE: ("✅", "☑️", "✔️", "✔", "💯", "✅✅"),
        Word.OK: ("👍", "👍🏿", "👌🏻", "🙏"),
        Word.DOUBT: ("", "❤️", "❌", "✅👍", "sudah"),
    }.items():
        assert [read_reaction(sign) for sign in signs] == [word] * len(signs), signs


# --- random texts ---------------------------------------------------------------------------------------------------

#: Words that do not change the meaning of "sudah" after it.
HARMLESS = sorted(
    reading.ALREADY | reading.FILLER | reading.PARTICLES | reading.COURTESY | {"minum", "obat", "metformin"}
)
#: Words and signs beside which "sudah" never means "done".
OUTSIDE = [
    *sorted(reading.NOT_YET | reading.NOT_YET_BESIDE | reading.LATER | reading.SKIP), "mual", "muntah", "besok", "mau",
    "lupa", "kalau", "amlodipin", "terapi", "tidak", "7", "07.00", "?", "😭", "❌", "½",
]  # fmt: skip
BLANKS = st.sampled_from([" ", "\n", ", ", ". ", "! ", " 👍 "])


@given(st.lists(st.sampled_from(HARMLESS), max_size=6), st.sampled_from(OUTSIDE), st.randoms(), BLANKS)
def test_done_with_a_word_of_no_list_is_not_read_as_done(harmless, outside, random, blank):
    said = ["sudah", *harmless]
    assert read(blank.join(said), ONE) == Meaning(Word.DONE, named=(1,) if "metformin" in said else ())
    said.append(outside)
    random.shuffle(said)
    assert read(blank.join(said), ONE).word is not Word.DONE


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_with_any_reminder_names_can_be_read(text, names):
    times = (CandidateTime(1, "obat", tuple(names)), AMLODIPIN)
    assert isinstance(read(text, times), Meaning)
    assert read(f"{text} belum", times).word is not Word.DONE


def test_long_or_unusual_texts_can_be_read_without_an_error():
    for text in ("a" * 20_000, "\u0300" * 1000, "sudah " + "9" * 990, "1 - " * 5000, "²", "sudah ²", "tunda ½"):
        assert isinstance(read(text, TWO), Meaning)
