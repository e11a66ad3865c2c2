"""Lists of Indonesian words that users write to us by chat. `app.inbox.reading` uses these lists.

Every accepted spelling is listed, because similar words can have different meanings: `sudah` means done, `susah` means
difficult. Repeated letters are written once, because `reading` removes repetitions: `sudaaah` becomes `sudah`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# --- words about a dose ---------------------------------------------------------------------------------------------

#: Words that mean "taken" or "done". The lines are: Indonesian words, Indonesian words with typing mistakes, words for
#: "finished" and "just now", Javanese words, Sundanese words.
ALREADY = (
    _words("sudah suda sudh sdh udah uda udh")
    | _words("sudha sydah sydh sufah sudag sudsh")
    | _words("done selesai beres kelar barusan")
    | _words("sampun mpun uwis wis wes uwes")
    | _words("atos parantos geus")
)
#: Words that mean "taken" or "goodbye". The service asks which is meant.
MAYBE = _words("dah")
#: Words for "finished". After `belum` ("not yet") they do not mean "done": `belum selesai`.
FINISHED = _words("selesai beres kelar")
#: Words for taking a medicine. `makan` ("eat") also counts before a word of `MEDICINE`.
ACT = _words("minum diminum")
OF_ACT = "obat"
MEDICINE = _words("obat obatnya")
EAT = "makan"
#: Words that mean "not taken yet".
NOT_YET = _words("belum belom blm blum blon belm belun beum bleum belu durung dereng")
#: Pairs of words that mean "not taken yet".
NOT_YET_PAIRS = frozenset({("teu", "acan")})
#: Words that mean "remind me later".
LATER = _words(
    "tunda tnda tundah tundain tundalah tuda tunds tumda ditunda menunda nanti ntar entar bentar sebentar mengko engke"
)
#: Words that may stand next to a word of `LATER`.
LATER_BESIDE = _words("dulu lagi deh saja aja")
#: `UNITS` has the number of minutes of each unit of time. `SPANS` has the number of minutes of delays that are written
#: without digits.
UNITS = {"menit": 1, "mnt": 1, "m": 1, "jam": 60, "j": 60}
SPANS = {("sejam",): 60, ("setengah", "jam"): 30}
#: Words that mean "skip this dose".
SKIP = _words("lewati skip lewat lewatin lewatkan lwati lewti lewari skp sekip")
#: Words of `SKIP` that mean "skip" only if the text has no other word, because `lewat` also means "past".
SKIP_ALONE = _words("lewat")
#: Words that may stand after a word of `SKIP`.
SKIP_BESIDE = _words("saja aja")
#: Words that mean "no". `ngak` also covers `nggak`, because repeated letters are removed.
NO = _words("tidak tdk gak ga gk ngak engak nga enga kagak ndak ora mboten henteu")
#: Words that mean "OK" or "yes". They say that the user has read the message, but not that the dose was taken.
OK = _words("ok oke okay okey oki okeh ya y yes yah iya iyah baik siap")
#: Words of `OK` that are removed at the beginning of a text with more than one word.
OK_FIRST = _words("ok oke okay okey oki okeh baik iya iyah siap")
#: Word for "yes" that is removed at the end of a text with more than one word.
YA = _words("ya")

#: Words that do not change the meaning of a text.
FILLER = _words("saya aku obat obatnya tadi semua semuanya dan")
#: Particles. They do not change the meaning of a text after its first word of `ALREADY` or `SKIP`. At the beginning or
#: before such a word they may do so: `kok sudah` ("why already").
PARTICLES = _words("kok dong nih sih")
#: Words that name a type of reminder, with that type. `obat` (medicine) is not listed because it is in `FILLER`.
KINDS = {"makan": "makan", "terapi": "terapi", "kontrol": "kontrol"}
#: Words that may stand between numbers: "1 dan 2".
NUMBERING = _words("dan no nomor nomer nmr")

#: Polite words. They are removed everywhere in a text. `bapak`, `ibu` and `kakak` are missing, because a caregiver may
#: mean a person: "Bapak sudah".
COURTESY = _words(
    "kak bu pak dok dokter mas mbak min makasih makasi mksh mksih terimakasih trimakasih thanks thx "
    "trims tq alhamdulilah"
)
#: Polite phrases. Longer phrases come first, because the first match is used.
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

# --- emoji, without skin tone and variation selector ----------------------------------------------------------------

DONE_EMOJI = frozenset("\u2705\u2611\u2714\U0001f4af")  # check marks and "100"
OK_EMOJI = frozenset("\U0001f44d\U0001f44c\U0001f64f")  # thumb, OK hand, folded hands
#: Crosses and other signs of refusal. A text with one of them is not read as "done".
NO_EMOJI = frozenset("\u274c\u274e\u2716\u26d4\U0001f6ab\U0001f44e\U0001f645")

# --- commands, as the whole text --------------------------------------------------------------------------------------

#: Accepted spellings of each command. `start` has only one spelling, because of its lasting effect.
COMMANDS = {
    "stop": _words("berhenti stop brhenti berhnti berhent berenti brenti henti berhentikan hentikan stp setop"),
    "start": _words("mulai"),
    "help": _words("bantuan tolong help bantu bantuin bntuan bantuam tlong tolng tolon tolongin hlp info menu"),
    "reset": _words("reset rset"),
    "verify": _words("verifikasi verifikas verfikasi veripikasi verivikasi ferifikasi verifikasih verif"),
}
#: Words for "reminder". After `berhenti` ("stop"), such a word means that the user stops reminders too.
OF_REMINDERS = _words("pengingat pengingatnya pengigat pngingat peringatan")
#: Words for "number" and "connection". After `salah` ("wrong"), such a word means that the phone number is wrong.
NUMBER_OF_PHONE = _words("nomor nomer no nmr nomr nomo nomornya nomernya sambung")
