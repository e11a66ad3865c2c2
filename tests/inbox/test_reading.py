"""Tests of `read`, which returns the meaning of a chat message."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from app.inbox import vocabulary as words
from app.inbox.reading import CandidateTime, Context, Meaning, Word, read, read_reaction
from tests.helpers.offenders import assert_none
from tests.inbox.sentences import ASKED_BACK, DONE, TABLE

TOKEN = "A" * 22

METFORMIN = CandidateTime(1, "obat", ("Obat gula darah", "Metformin"))
AMLODIPIN = CandidateTime(2, "obat", ("Amlodipin",))
LUNCH = CandidateTime(3, "makan", ("Makan siang",))
WALK = CandidateTime(4, "terapi", ("jalan kaki",))
VISIT = CandidateTime(5, "kontrol", ("Kontrol bulanan", "dr. Ani"))

#: A context with one open reminder, for a medicine.
ONE = Context((METFORMIN,), is_open=True)
#: A context with two open medicines. The last message listed them with numbers.
TWO = Context((METFORMIN, AMLODIPIN), is_numbered=True, is_open=True)
#: The last message was about a meal. An earlier message was about a medicine, which is also open.
LUNCH_LAST = Context((LUNCH,), ((METFORMIN,),), is_open=True)
#: A context with open reminders of all types.
ALL = Context((METFORMIN, LUNCH, WALK, VISIT), is_numbered=True, is_open=True)

#: Commands. They are the whole text, except polite words. They have the same meaning in every context.
COMMANDS: dict[str, Meaning] = {
    "BERHENTI": Meaning(Word.STOP),
    "berhenti!": Meaning(Word.STOP),
    "brhenti": Meaning(Word.STOP),
    "STOP": Meaning(Word.STOP),
    "stoppp": Meaning(Word.STOP),
    "setop": Meaning(Word.STOP),
    "Pak, STOP 🙏": Meaning(Word.STOP),
    "BERHENTI PENGINGAT": Meaning(Word.STOP_REMINDERS),
    "stop pengingat": Meaning(Word.STOP_REMINDERS),
    "berhenti pengigat": Meaning(Word.STOP_REMINDERS),
    "MULAI": Meaning(Word.START),
    "mulaiii": Meaning(Word.START),
    "mulai, terima kasih banyak": Meaning(Word.START),
    "BANTUAN": Meaning(Word.HELP),
    "bantuan dok": Meaning(Word.HELP),
    "tolong": Meaning(Word.HELP),
    "TOLOOONG": Meaning(Word.HELP),
    "help": Meaning(Word.HELP),
    "bntuan": Meaning(Word.HELP),
    "SALAH NOMOR": Meaning(Word.WRONG_NUMBER),
    "salah nomer pak": Meaning(Word.WRONG_NUMBER),
    "Salah, nomor": Meaning(Word.WRONG_NUMBER),
    "salah sambung": Meaning(Word.WRONG_NUMBER),
    "RESET": Meaning(Word.RESET),
    "reset kak": Meaning(Word.RESET),
    "VERIFIKASI K7MP4W": Meaning(Word.VERIFY, code="K7MP4W"),
    "verifikasi kk77-mm": Meaning(Word.VERIFY, code="KK77MM"),
    "Verifikasi: K7M P4W 🙏": Meaning(Word.VERIFY, code="K7MP4W"),
    "ferifikasi K7MP4W": Meaning(Word.VERIFY, code="K7MP4W"),
    "kak, verifikasi K7MP4W makasih": Meaning(Word.VERIFY, code="K7MP4W"),
    "VERIFIKASI": Meaning(Word.VERIFY),
}

#: Texts that begin with the word of a command and are none.
NO_COMMANDS = (
    "putus obat 3 hari dok", "putus asa", "salah nomor 1, harusnya nomor 2", "salah nomor 1", "salah no 2 sudah",
    "mulai besok saya minum", "mulai lagi", "mulai?", "henti jantung", "berhenti minum obat", "berhenti dulu obatnya",
    "stop darahnya keluar terus", "stop mengirim pesan", "stop?", "stop pengingat obat dulu", "stop pengingat?",
    "tolong saya bingung", "tolong ingatkan lagi", "bantuan?", "info obat", "menu makan apa", "reset kata sandi",
    "reset?", "pindah rumah", "pindah?", "putus?", "salah nomor?", "verifikasi nomor saya bagaimana", "verifikasi?",
    "✅ berhenti 2 hari", "sudah stop", "jangan berhenti",
)  # fmt: skip


# --- the table of sentences -----------------------------------------------------------------------------------------


def test_every_sentence_has_its_expected_meaning() -> None:
    sentences = [(text, word) for word, texts in TABLE.items() for text in texts]
    assert_none(
        (f"{text!r}: {read(text, ONE).word}, not {word}" for text, word in sentences if read(text, ONE).word != word),
        "Read otherwise:",
    )
    assert len(sentences) >= 300


def test_no_sentence_with_another_meaning_is_read_as_done() -> None:
    taken = {*DONE, *ASKED_BACK}
    others = [text for texts in TABLE.values() for text in texts if text not in taken]
    assert len(others) >= 300
    assert_none((repr(text) for text in others if read(text, ONE).word is Word.DONE), "Recorded as taken:")


def test_at_most_a_quarter_of_done_sentences_are_asked_back() -> None:
    taken = [*DONE, *ASKED_BACK]
    asked_back = [text for text in taken if read(text, ONE).word is not Word.DONE]
    assert len(taken) >= 100
    assert len(asked_back) <= 0.25 * len(taken)


@pytest.mark.parametrize("context", [Context(), ONE, TWO], ids=["nothing", "one", "two"])
def test_a_command_is_recognized_as_the_whole_text(context: Context) -> None:
    read_otherwise = (f"{text!r}: {read(text, context)}" for text in COMMANDS if read(text, context) != COMMANDS[text])
    assert_none(read_otherwise, "Read otherwise:")


@pytest.mark.parametrize("context", [Context(), ONE, TWO], ids=["nothing", "one", "two"])
def test_a_text_that_begins_with_a_command_word_is_no_command(context: Context) -> None:
    commands = {meaning.word for meaning in COMMANDS.values()}
    read_as_command = (f"{text!r}: {read(text, context).word}" for text in NO_COMMANDS)
    assert_none((each for each in read_as_command if each.split(": ")[1] in commands), "Read as a command:")


def test_the_vocabulary_has_no_words_with_doubled_letters() -> None:
    groups = [each for name, each in vars(words).items() if name.isupper() and isinstance(each, frozenset)]
    spellings = [word for group in [*groups, *words.COMMANDS.values()] for word in group if isinstance(word, str)]
    assert len(spellings) > 150
    assert_none((word for word in spellings if re.search(r"([^\W\d_])\1", word)), "No text has these words:")


# --- the reminders that a text is about -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "context", "ids"),
    [
        ("sudah", TWO, (1, 2)),
        ("sudah metformin", TWO, (1,)),
        ("amlodipin sudah", TWO, (2,)),
        ("sudah amlodipin dan metformin", TWO, (1, 2)),
        ("sudah obat gula darah", TWO, (1,)),
        ("sudah metformiiin", TWO, (1,)),
        # a word for a type of reminder
        ("sudah minum", ALL, (1,)),
        ("sudah makan", ALL, (3,)),
        ("sudah makan obat", ALL, (1,)),
        ("sudah makan dan minum obat", ALL, (1, 3)),
        ("sudah makan siang", ALL, (3,)),
        ("sudah terapi", ALL, (4,)),
        ("sudah kontrol", ALL, (5,)),
        ("sudah jalan kaki", ALL, (4,)),
        # If a text contains the name of a reminder, a word for the type changes nothing.
        ("sudah minum metformin", TWO, (1,)),
        ("sudah minum metformin", ALL, (1,)),
        # A text is about a reminder of an earlier message only if it has the reminder's name or type.
        ("sudah", LUNCH_LAST, (3,)),
        ("sudah makan", LUNCH_LAST, (3,)),
        ("sudah metformin", LUNCH_LAST, (1,)),
        ("sudah minum obat", LUNCH_LAST, (1,)),
        ("sudah makan dan metformin", LUNCH_LAST, (1, 3)),
    ],
)
def test_names_and_types_select_among_the_open_reminders(text: str, context: Context, ids: tuple[int, ...]) -> None:
    meaning = read(text, context)
    assert (meaning.word, tuple(sorted(meaning.ids))) == (Word.DONE, ids)


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("sudah minum", Context((LUNCH,), is_open=True)),
        ("sudah makan", ONE),
        ("sudah terapi", ONE),
        ("sudah latihan", ALL),
        ("sudah gula darah", ONE),  # only a part of the title
        ("sudah obat, gula darah", ONE),
        ("sudah obat. gula darah", ONE),
        ("sudah dr. Ani", ALL),  # the name has punctuation
        ("sudah metformin", Context((AMLODIPIN,), is_open=True)),
    ],
)
def test_done_with_no_matching_open_reminder_is_read_as_doubt(text: str, context: Context) -> None:
    assert read(text, context).word is Word.DOUBT


@pytest.mark.parametrize("name", ["Sudah makan", "Belum sarapan", "Nanti malam", "Tidak wajib", "2", "...", ""])
def test_an_ambiguous_reminder_name_does_not_hide_a_refusal(name: str) -> None:
    context = Context((replace(METFORMIN, names=(name,)),), is_open=True)
    assert read(f"sudah {name} belum", context).word is not Word.DONE
    if name.strip(".") and name != "Sudah makan":
        assert read(f"sudah {name}", context).word is Word.DOUBT


def test_a_title_equal_to_a_known_phrase_selects_its_reminder() -> None:
    context = Context((CandidateTime(1, "obat", ("Minum obat",)), AMLODIPIN), is_open=True)
    assert read("sudah minum obat", context) == Meaning(Word.DONE, (1,))
    assert read("minum obat", context).word is Word.DOUBT
    assert read("mau minum obat", context).word is Word.DOUBT


@pytest.mark.parametrize("text", ["sudah habis\nminum", "tadi\nminum", "sudah makan\nobat", "sudah obat gula\ndarah"])
def test_a_phrase_split_over_two_lines_is_read_as_doubt(text: str) -> None:
    assert read(text, ONE).word is Word.DOUBT


def test_snooze_and_skip_apply_to_the_named_reminder() -> None:
    assert read("nanti amlodipin 45 menit", TWO) == Meaning(Word.SNOOZE, (2,), minutes=45)
    assert read("lewati amlodipin", TWO).ids == (2,)
    assert read("lewati terapi", ONE).word is Word.NO
    assert read("nanti terapi", ONE).word is Word.NO


# --- numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1", (1,)),
        ("2", (2,)),
        ("1 2", (1, 2)),
        ("1,2", (1, 2)),
        ("1 dan 2", (1, 2)),
        ("no 2", (2,)),
        ("nomor 2", (2,)),
        ("2️⃣", (2,)),
        ("SUDAH 2", (2,)),
        ("sudah2", (2,)),
        ("sdh no 2", (2,)),
        ("sudah nomor 3", (3,)),
        ("sudah 1 dan 3", (1, 3)),
        ("sudah 1, 2, 2", (1, 2)),
        ("sudah 1.2", (1, 2)),
        ("sudah ٢", (2,)),
        ("sudah 2 pak", (2,)),
        ("sudah 99999999999999999999", (999999,)),
    ],
)
def test_numbers_select_reminders_of_a_numbered_message(text: str, numbers: tuple[int, ...]) -> None:
    meaning = read(text, TWO)
    assert (meaning.word, meaning.numbers) == (Word.DONE, numbers)


def test_skip_accepts_the_numbers_of_reminders() -> None:
    assert read("lewati 1", TWO).numbers == (1,)
    assert read("lewati 1 dan 2", TWO).word is Word.SKIP


@pytest.mark.parametrize(
    "text",
    [
        "sudah 2 tablet", "sudah jam 7", "sudah 07.00", "sudah 7:15", "sudah 1.02", "sudah ፪", "sudah yang 1",
        "sudah minum 1", "1 sudah", "1 sudah 2 belum", "sudah 1/2", "sudah ½", "sudah 1-3", "ok sudah 1", "sudah 1 ?",
        "sudah metformin 2", "sudah lewati 2",
    ],
)  # fmt: skip
def test_done_with_an_unclear_number_is_read_as_doubt(text: str) -> None:
    assert read(text, TWO).word is Word.DOUBT


@pytest.mark.parametrize("text", ["ok 1", "OK, 2", "ya 1", "👍 1", "siap 2", "jam 1", "1 tablet", "1?", "1-3"])
def test_a_number_after_ok_or_with_other_words_is_read_as_unknown(text: str) -> None:
    assert read(text, TWO).word is Word.UNKNOWN


def test_a_number_is_not_accepted_without_a_numbered_message() -> None:
    assert read("1", ONE).word is Word.UNKNOWN
    assert read("sudah 1", ONE).word is Word.DOUBT
    assert read("lewati 1", ONE).word is Word.NO


# --- postponing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("TUNDA", 30), ("nanti", 30), ("nanti dulu", 30), ("tunda 15", 15), ("tunda15", 15), ("Tunda 45 menit", 45),
        ("nanti 10 menit lagi", 10), ("tunda 1 jam", 60), ("tunda 2 jam ya", 120), ("tunda sejam", 60),
        ("tunda setengah jam", 30), ("tunda 1 jam 30 menit", 90), ("tunda 1 jam 15", 75), ("tunda 3 jam", 180),
        ("tunda 4", 4), ("tunda 121", 121), ("tunda 0", 0), ("TUNDA -5", 5), ("belum, nanti 20 menit", 20),
    ],
)  # fmt: skip
def test_snooze_reads_the_duration_in_minutes(text: str, minutes: int) -> None:
    assert read(text, ONE) == Meaning(Word.SNOOZE, (1,), minutes=minutes, is_alone=False)


# --- "not yet" undoes an answer; texts when nothing is open ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("belum", Word.UNDO), ("Belum.", Word.UNDO), ("blm minum kak", Word.UNDO), ("belum selesai", Word.UNDO),
        ("belum metformin", Word.UNDO), ("belum?", Word.UNKNOWN), ("belum sempat", Word.NOT_YET),
        ("belum makan", Word.NOT_YET), ("belum 2", Word.NOT_YET), ("belum nanti", Word.SNOOZE),
        ("tidak", Word.NO), ("sudah belum", Word.DOUBT),
    ],
)  # fmt: skip
def test_only_a_plain_not_yet_is_read_as_undo(text: str, word: Word) -> None:
    assert read(text, replace(ONE, may_undo=True)).word is word


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("sudah?", Word.UNKNOWN), ("sudah muntah", Word.DOUBT), ("belum", Word.NOT_YET), ("ok", Word.OK),
        ("tidak", Word.NO), ("tidak bisa tidur", Word.UNKNOWN), ("lewat jam", Word.NO), ("halo", Word.UNKNOWN),
        ("✅", Word.DONE), ("✅😭", Word.UNKNOWN), ("makasih", Word.COURTESY),
    ],
)  # fmt: skip
def test_texts_without_an_open_reminder_have_their_expected_meaning(text: str, word: Word) -> None:
    meaning = read(text, Context())
    assert (meaning.word, meaning.ids) == (word, ())


# --- buttons, reactions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pressed", "expected"),
    [
        (f"T:{TOKEN}", Meaning(Word.DONE, token=TOKEN)),
        (f"T:{TOKEN}:snooze", Meaning(Word.SNOOZE, token=TOKEN)),
        (f"T:{TOKEN}:skip", Meaning(Word.SKIP, token=TOKEN)),
    ],
)
def test_a_button_payload_determines_the_meaning(pressed: str, expected: Meaning) -> None:
    assert read("apa saja", ONE, pressed) == expected


@pytest.mark.parametrize("pressed", ["", "x", "T:", f"T:{TOKEN}:delete", f"T:{TOKEN}x", f"t:{TOKEN}"])
def test_an_invalid_button_payload_falls_back_to_the_text(pressed: str) -> None:
    assert read("BELUM", ONE, pressed).word is Word.NOT_YET


@pytest.mark.parametrize(
    ("emoji", "word"),
    [
        ("✅", Word.DONE), ("☑️", Word.DONE), ("✔️", Word.DONE), ("✔", Word.DONE), ("💯", Word.DONE),
        ("👍", Word.OK), ("👍🏿", Word.OK), ("👌🏻", Word.OK), ("🙏", Word.OK),
        ("", Word.UNKNOWN), ("❤️", Word.UNKNOWN), ("❌", Word.UNKNOWN), ("😂", Word.UNKNOWN), ("✅✅", Word.DONE),
        ("✅👍", Word.UNKNOWN), ("sudah", Word.UNKNOWN),
    ],
)  # fmt: skip
def test_a_reaction_is_read_as_done_ok_or_unknown(emoji: str, word: Word) -> None:
    assert read_reaction(emoji) is word


# --- random texts ---------------------------------------------------------------------------------------------------

#: Words that do not change the meaning of "sudah".
HARMLESS = sorted(
    words.ALREADY | words.ACT | words.FILLER | words.PARTICLES | words.COURTESY | words.OK | {words.EAT, "metformin"}
)
#: Words that change the meaning of "sudah". A text with "sudah" and one of these words does not mean "done".
OUTSIDE = [
    *sorted(words.NOT_YET | words.LATER | words.LATER_BESIDE | words.SKIP | words.NO | words.NO_EMOJI),
    *sorted(words.NUMBERING - words.FILLER),
    *(
        "mual",
        "muntah",
        "besok",
        "kemarin",
        "mau",
        "lupa",
        "kalau",
        "amlodipin",
        "terapi",
        "kontrol",
        "7",
        "07.00",
        "?",
    ),
]

texts_of_harmless = st.lists(st.sampled_from(HARMLESS), max_size=6)
blanks = st.sampled_from([" ", "  ", "\n", ", ", ". ", "! ", " 👍 "])


@given(texts_of_harmless, st.lists(st.sampled_from(OUTSIDE), min_size=1, max_size=3), st.randoms(), blanks)
def test_done_with_a_word_that_changes_the_meaning_is_not_read_as_done(
    harmless: list[str], outside: list[str], random: object, blank: str
) -> None:
    said = ["sudah", *harmless, *outside]
    random.shuffle(said)  # type: ignore[attr-defined]
    assert read(blank.join(said), ONE).word is not Word.DONE


@given(texts_of_harmless, st.text(min_size=1, max_size=8), st.randoms())
def test_done_with_an_unknown_word_is_not_read_as_done(harmless: list[str], word: str, random: object) -> None:
    known = {*HARMLESS, *words.COMMANDS}
    assume(any(letter.isalpha() for letter in word))
    assume(read(word, ONE).word is Word.UNKNOWN and not set(word.casefold().split()) & known)
    assume(read(f"sudah {word}", ONE).word is not Word.DONE)
    said = ["sudah", *harmless, word]
    random.shuffle(said)  # type: ignore[attr-defined]
    assert read(" ".join(said), ONE).word is not Word.DONE


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_any_text_with_any_reminder_names_can_be_read(text: str, names: list[str]) -> None:
    meaning = read(text, Context((CandidateTime(1, "obat", tuple(names)),), is_numbered=True, is_open=True))
    assert isinstance(meaning, Meaning)


@given(texts_of_harmless, st.lists(st.lists(st.sampled_from([*HARMLESS, *OUTSIDE]), max_size=4).map(" ".join)))
def test_no_reminder_name_makes_a_refusal_read_as_done(harmless: list[str], names: list[str]) -> None:
    context = Context((CandidateTime(1, "obat", tuple(names)),), is_open=True)
    for refusal in ("belum", "tidak", "nanti", "lewati"):
        assert read(" ".join([*harmless, "sudah", refusal, *harmless]), context).word is not Word.DONE


def test_long_or_unusual_texts_can_be_read_without_an_error() -> None:
    for text in ("a" * 20_000, "\u0300" * 1000, "sudah " + "9" * 990, "\u202esudah", "²", "sudah ²", "tunda ½"):
        assert isinstance(read(text, TWO), Meaning)
