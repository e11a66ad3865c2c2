"""Seed data of the forum: categories, crisis phrases and emergency phrases.

Broadcasts about a thread go to people with the preference tag of the thread's category. The first category has no
tag, so the recipients of broadcasts about its threads need no tag.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from app.core.database.session import db
from app.forum.models import CrisisPhrase, ForumCategory, PhraseKind
from app.forum.service.crisis_matcher import plain

CATEGORIES: tuple[tuple[str, str | None], ...] = (
    ("Umum", None),
    ("Medis", "medical"),
    ("Kesehatan Mental", "mental_health"),
    ("Islam", "islam"),
    ("Kristen", "kristen"),
    ("Katolik", "katolik"),
    ("Hindu", "hindu"),
    ("Buddha", "buddha"),
    ("Konghucu", "konghucu"),
    ("Kepercayaan Lain", "other_belief"),
)

#: Phrases that express a wish to die or to hurt oneself. `app.forum.service.crisis_matcher` also finds other
#: spellings and slang. For example, the phrase `ingin mati` also matches `pengen mati`.
PHRASES: tuple[str, ...] = (
    # phrases of people who wish to die
    "ingin mati", "saya mau mati", "mau mati saja", "mending mati", "lebih baik mati", "lebih baik saya mati",
    "mati saja saya", "saya mati saja", "biar saya mati", "biarkan saya mati", "pantas mati",
    "harusnya saya mati", "seharusnya saya mati", "andai saya mati", "semoga saya mati", "semoga cepat mati",
    "cepat mati saja", "ingin cepat mati", "kenapa saya tidak mati", "menunggu mati saja", "mending saya mati",
    "ingin banget mati", "ingin sekali mati", "ingin rasanya mati",
    "ingin meninggal saja", "lebih baik meninggal", "lebih baik saya tidak ada", "ingin menghilang selamanya",
    "ingin lenyap", "ingin pergi dari dunia", "tinggalkan dunia ini", "meninggalkan dunia ini",
    "selamat tinggal dunia", "ingin tidur selamanya", "tidak ingin bangun lagi", "tidak mau bangun lagi",
    # phrases of people who no longer want to live
    "tidak ingin hidup", "tidak mau hidup", "tidak sanggup hidup", "tidak kuat hidup", "tidak kuat lagi hidup",
    "tidak tahan hidup", "tidak tahan lagi hidup", "tidak sanggup lagi hidup", "hidup tidak ada gunanya",
    "hidup saya tidak ada gunanya", "hidup tidak berguna", "hidup saya tidak berguna",
    "tidak pantas hidup", "tidak layak hidup", "tidak ada gunanya hidup", "buat apa hidup", "untuk apa hidup",
    "untuk apa saya hidup", "buat apa saya hidup", "tidak ada alasan hidup", "tidak ada alasan untuk hidup",
    "capek hidup", "bosan hidup", "muak hidup", "menyesal lahir", "menyesal dilahirkan",
    "tidak ingin ada di dunia", "tidak ingin lahir",
    # phrases for suicide
    "bunuh diri", "bundir", "akhiri hidup", "akhiri saja hidup", "akhiri semua", "akhiri nyawa",
    "hidup saya akhiri", "habisi diri", "habisi nyawa sendiri", "menghabisi diri", "menghabisi nyawa sendiri",
    "cabut nyawa saya", "hilangkan nyawa sendiri", "menghilangkan nyawa sendiri",
    # phrases for methods of suicide
    "gantung diri", "gantung leher", "lompat dari jembatan", "lompat dari gedung", "lompat dari lantai",
    "lompat ke sungai saja", "minum racun", "minum baygon", "minum pembersih lantai",
    "minum obat sebanyak banyaknya", "overdosis saja", "sayat nadi", "potong nadi", "memotong nadi",
    "sayat tangan", "tabrakkan diri", "menabrakkan diri", "bakar diri", "membakar diri", "menembak diri",
    # phrases for self-harm
    "sakiti diri", "lukai diri", "sayat diri", "self harm", "selfharm", "barcode di tangan", "barcode tangan",
    "cutting tangan",
    # phrases in English and regional languages, which people mix into Indonesian
    "suicide", "suicidal", "unalive", "kill myself", "end my life", "want to die", "wanna die", "better off dead",
    "hoyong maot", "hoyong paeh", "ingin paeh", "nglalu", "ngendat", "bunuh awak",
)  # fmt: skip

EMERGENCIES: tuple[str, ...] = (
    "pingsan", "kejang", "sesak napas", "sesak nafas", "susah napas", "sulit bernapas", "nyeri dada", "sakit dada",
    "serangan jantung", "overdosis", "keracunan", "pendarahan", "perdarahan", "muntah darah", "stroke",
    "tidak sadar", "tidak sadarkan diri",
)  # fmt: skip


def seed() -> None:
    """Insert missing categories. Insert all phrases of a kind if the table has no phrase of this kind.

    The kinds are crisis and emergency. Existing phrases stay unchanged, because administrators may have deleted some
    phrases on purpose.
    """
    rows = [{"name": name, "preference_tag": tag} for name, tag in CATEGORIES]
    db.session.execute(insert(ForumCategory).values(rows).on_conflict_do_nothing(index_elements=[ForumCategory.name]))
    seeded = set(db.session.scalars(sa.select(CrisisPhrase.kind).distinct()))
    phrases = [
        {"phrase": phrase, "words": plain(phrase), "kind": kind}
        for kind, texts in ((PhraseKind.CRISIS, PHRASES), (PhraseKind.EMERGENCY, EMERGENCIES))
        if kind not in seeded
        for phrase in texts
    ]
    if phrases:
        db.session.execute(insert(CrisisPhrase).values(phrases).on_conflict_do_nothing())
