"""Phrases of people who want to die or to hurt themselves, and phrases of medical emergencies.

`app.forum.service.crisis_matcher` also finds other spellings, slang, and forms with left-out words. For example,
`ingin mati` also matches `pengen banget mati`.
"""

from __future__ import annotations


def _phrases(table: str) -> tuple[str, ...]:
    """Return the phrases of a table: in each line, each beginning before the bar with each ending after the bar."""
    rows = (line.partition(" | ") for line in table.strip().splitlines())
    return tuple(
        f"{one} {other}".strip() for begin, _, end in rows for one in begin.split(", ") for other in end.split(", ")
    )


#: In this order: wishes to die, people who no longer want to live, suicide, methods and self-harm, phrases in English
#: and regional languages, and a phrase of people who are hurt at home.
CRISIS = _phrases("""
ingin | mati, meninggal, menghilang, lenyap, udahan, nyusul, menyusul, paeh, tidur selamanya, pergi dari dunia
mau, mending, biar, biarkan, pantas, harusnya, seharusnya, andai, semoga | mati
cepat, menunggu, kenapa tidak, ujungnya | mati
lebih baik | mati, meninggal, tidak ada
saya mati saja, mati saja saya, bunuh saya, kalau besok tidak ada, selamat tinggal dunia
tinggalkan, meninggalkan | dunia ini
tidak ingin, tidak mau, tidak kuat, tidak kuat lagi, tidak sanggup, tidak sanggup lagi, tidak tahan | hidup
tidak tahan lagi, tidak pantas, tidak layak, tidak ada gunanya, tidak ada alasan, tidak ada alasan untuk | hidup
tidak ingin | lahir, ada di dunia
tidak, tidak ingin, tidak mau | bangun lagi
hidup | tidak ada gunanya, tidak berguna, akhiri
capek, bosan, muak, kesel, buat apa, untuk apa | hidup
menyesal | lahir, dilahirkan
akhiri | hidup, nyawa, semua
biar selesai semua, bunuh diri, bundir, cabut nyawa
habisi, menghabisi | diri, nyawa sendiri
hilangkan, menghilangkan | nyawa sendiri
gantung | diri, leher
lompat | dari jembatan, dari gedung, dari lantai, ke sungai
minum | racun, baygon, pembersih lantai, obat sebanyak banyaknya
sayat | nadi, tangan, diri
potong, memotong | nadi
tabrakkan, menabrakkan, bakar, membakar, menembak, sakiti, lukai | diri
barcode, cutting, barcode di | tangan
self harm, selfharm, suicide, suicidal, unalive, kill myself, end my life, want to die, wanna die, better off dead
hoyong maot, hoyong paeh, nglalu, ngendat
takut pulang
""")

EMERGENCY = _phrases("""
pingsan, tidak sadar, tidak sadarkan diri, tidak bangun bangun, kejang, stroke, mencong, pelo
serangan jantung, henti jantung, nyeri dada, sakit dada, dada sakit, keringat dingin
sesak napas, sesak nafas, susah napas, sulit bernapas, tidak bisa napas, eungap, bibir bengkak
muntah darah, pendarahan, perdarahan, keracunan, overdosis, tertelan, ambulan, ambulans
""")
