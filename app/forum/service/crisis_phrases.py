"""Phrases of people who want to die or to hurt themselves, and phrases of medical emergencies.

`app.forum.service.crisis_matcher` also finds other spellings, slang, and forms with left-out words. For example,
`ingin mati` also matches `pengen banget mati`.
"""

from __future__ import annotations


def _joined(beginnings: str, endings: str) -> tuple[str, ...]:
    """Return each beginning with each ending. Commas separate both."""
    return tuple(f"{first} {last}" for first in beginnings.split(", ") for last in endings.split(", "))


def _list(phrases: str) -> tuple[str, ...]:
    return tuple(phrases.split(", "))


CRISIS: tuple[str, ...] = (
    # phrases of people who wish to die
    *_joined(
        "ingin",
        "mati, meninggal, menghilang, lenyap, udahan, nyusul, menyusul, paeh, tidur selamanya, pergi dari dunia",
    ),
    *_joined(
        "mau, mending, biar, biarkan, pantas, harusnya, seharusnya, andai, semoga, cepat, menunggu, kenapa tidak, "
        "ujungnya",
        "mati",
    ),
    *_joined("lebih baik", "mati, meninggal, tidak ada"),
    *_list("saya mati saja, mati saja saya, bunuh saya, kalau besok tidak ada, selamat tinggal dunia"),
    *_joined("tinggalkan, meninggalkan", "dunia ini"),
    # phrases of people who no longer want to live
    *_joined(
        "tidak ingin, tidak mau, tidak kuat, tidak kuat lagi, tidak sanggup, tidak sanggup lagi, tidak tahan",
        "hidup",
    ),
    *_joined(
        "tidak tahan lagi, tidak pantas, tidak layak, tidak ada gunanya, tidak ada alasan, tidak ada alasan untuk",
        "hidup",
    ),
    *_joined("tidak ingin", "lahir, ada di dunia"),
    *_joined("tidak, tidak ingin, tidak mau", "bangun lagi"),
    *_joined("hidup", "tidak ada gunanya, tidak berguna, akhiri"),
    *_joined("capek, bosan, muak, kesel, buat apa, untuk apa", "hidup"),
    *_joined("menyesal", "lahir, dilahirkan"),
    # phrases for suicide
    *_joined("akhiri", "hidup, nyawa, semua"),
    *_list("biar selesai semua, bunuh diri, bundir, cabut nyawa"),
    *_joined("habisi, menghabisi", "diri, nyawa sendiri"),
    *_joined("hilangkan, menghilangkan", "nyawa sendiri"),
    # phrases for methods of suicide and for self-harm
    *_joined("gantung", "diri, leher"),
    *_joined("lompat dari", "jembatan, gedung, lantai"),
    "lompat ke sungai",
    *_joined("minum", "racun, baygon, pembersih lantai, obat sebanyak banyaknya"),
    *_joined("sayat", "nadi, tangan, diri"),
    *_joined("potong, memotong", "nadi"),
    *_joined("tabrakkan, menabrakkan, bakar, membakar, menembak, sakiti, lukai", "diri"),
    "barcode di tangan",
    *_joined("barcode, cutting", "tangan"),
    # phrases in English and regional languages, which people mix into Indonesian
    *_list("self harm, selfharm, suicide, suicidal, unalive, kill myself, end my life, want to die, wanna die"),
    *_list("better off dead, hoyong maot, hoyong paeh, nglalu, ngendat"),
    # a phrase of people who are hurt at home
    "takut pulang",
)

EMERGENCY: tuple[str, ...] = (
    *_list("pingsan, tidak sadar, tidak sadarkan diri, tidak bangun bangun, kejang, stroke, mencong, pelo"),
    *_list("serangan jantung, henti jantung, nyeri dada, sakit dada, dada sakit, keringat dingin"),
    *_list("sesak napas, sesak nafas, susah napas, sulit bernapas, tidak bisa napas, eungap, bibir bengkak"),
    *_list("muntah darah, pendarahan, perdarahan, keracunan, overdosis, tertelan, ambulan, ambulans"),
)
