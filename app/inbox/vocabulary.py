"""The words that the chat reads: data alone. `app.inbox.reading` says what follows from them.

A spelling is listed, never guessed: `susah` is one letter from `sudah`, and means something else. Letters that stand
twice in a row are written once here, because a stretched word is read so: `sudaaah`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- of a dose ------------------------------------------------------------------------------------------------------

#: Taken or done: Indonesian, its slips of the finger, other words for "finished", Javanese, Sundanese.
ALREADY = (
    _words("sudah suda sudh sdh udah uda udh dah")
    | _words("sudha sydah sydh sufah sudag sudsh")
    | _words("done selesai beres kelar")
    | _words("sampun mpun uwis wis wes uwes")
    | _words("atos parantos geus")
)
#: Words after `belum` that do not say "done": `belum selesai`.
FINISHED = _words("selesai beres kelar")
#: Taken, directly before a word of `ACT`: `habis minum`. Alone it says that the medicine has run out.
JUST_HAD = _words("habis")
#: Taken, before a word of `ACT` with nothing but `BETWEEN` between: `baru saja minum`.
JUST_NOW = _words("baru barusan tadi")
BETWEEN = _words("saya aku saja aja")
#: Taking a medicine. `makan` is in this group before a word of `MEDICINE`.
ACT = _words("minum diminum")
OF_ACT = "obat"
MEDICINE = _words("obat obatnya")
EAT = "makan"
#: Not taken yet.
NOT_YET = _words("belum belom blm blum blon belm belun beum bleum belu durung dereng")
#: Not taken yet, in two words.
NOT_YET_PAIRS = frozenset({("teu", "acan")})
#: To be asked again later.
LATER = _words(
    "tunda tnda tundah tundain tundalah tuda tunds tumda ditunda menunda nanti ntar entar bentar sebentar mengko engke"
)
#: Words that may accompany a word of `LATER`.
LATER_BESIDE = _words("dulu lagi deh")
#: Units of how much later, in minutes, and the words that are a span by themselves.
UNITS = {"menit": 1, "mnt": 1, "m": 1, "jam": 60, "j": 60}
SPANS = {("sejam",): 60, ("setengah", "jam"): 30}
#: Not this time.
SKIP = _words("lewati skip lewat lewatin lewatkan lwati lewti lewari skp sekip")
#: Words of `SKIP` that count only alone: `lewat` is also "past".
SKIP_ALONE = _words("lewat")
#: Refused: `ngak` is also `nggak`, as `sudah` is also `sudaah`.
NO = _words("tidak tdk gak ga gk ngak engak nga enga kagak ndak ora mboten henteu")
#: Read, which is not taken.
OK = _words("ok oke okay okey oki okeh ya y yes yah iya iyah baik siap")
#: Words of `OK` that are removed at the beginning and at the end of a text with other words.
OK_FIRST = _words("ok oke okay okey oki okeh baik iya iyah siap")
OK_LAST = _words("ok oke okay okey oki okeh")
#: Removed at the end of a text, after another word.
YA = _words("ya")

#: Words that change nothing.
FILLER = _words("saya aku obat obatnya tadi barusan baru saja aja semua semuanya kok dong nih sih ini itu yang dan")
#: Words of a kind of reminder that change nothing while one of that kind is meant. `obat` is filler always.
KINDS = {"makan": "makan", "terapi": "terapi", "kontrol": "kontrol"}
#: Words that may accompany the numbers of an answer.
NUMBERING = _words("dan no nomor nomer nmr")

#: Politeness, removed wherever it stands.
COURTESY = _words(
    "kak kakak bu pak bapak ibu dok dokter mas mbak min makasih makasi mksh mksih terimakasih trimakasih thanks thx "
    "trims tq alhamdulilah"
)
#: Politeness in several words, the longest first.
COURTESY_PHRASES = (
    ("terima", "kasih", "banyak"),
    ("trima", "kasih", "banyak"),
    ("makasih", "banyak"),
    ("terimakasih", "banyak"),
    ("terima", "kasih"),
    ("trima", "kasih"),
    ("matur", "nuwun"),
    ("hatur", "nuhun"),
)

# --- emoji, without the colour of a skin and without the sign for "as a picture" -------------------------------------

DONE_EMOJI = frozenset("\u2705\u2611\u2714\U0001f4af")  # check marks, a hundred
OK_EMOJI = frozenset("\U0001f44d\U0001f44c\U0001f64f")  # thumb, ring, folded hands
#: Crosses and other signs of a refusal: they make a text doubtful.
NO_EMOJI = frozenset("\u274c\u274e\u2716\u26d4\U0001f6ab\U0001f44e\U0001f645")

# --- of the person, by the first word alone ---------------------------------------------------------------------------

#: A command that lets messages come again, cuts a link or flags a number has one spelling.
COMMANDS = {
    "stop": _words("berhenti stop brhenti berhnti berhent berenti brenti henti berhentikan hentikan stp setop"),
    "start": _words("mulai"),
    "help": _words("bantuan tolong help bantu bantuin bntuan bantuam tlong tolng tolon tolongin hlp info menu"),
    "reset": _words("reset rset"),
    "cut": _words("putus"),
    "move": _words("pindah"),
    "verify": _words("verifikasi verifikas verfikasi veripikasi verivikasi ferifikasi verifikasih verif"),
}
#: After `berhenti`: reminders too.
OF_REMINDERS = _words("pengingat pengingatnya pengigat pngingat peringatan")
#: After `salah`.
NUMBER_OF_PHONE = _words("nomor nomer no nmr nomr nomo nomornya nomernya")
