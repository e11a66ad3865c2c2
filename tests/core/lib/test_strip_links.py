"""Removal of web addresses from names and titles that appear in messages."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.lib.strip_links import without_addresses, without_contacts
from tests.helpers.offenders import assert_none

#: Web addresses that must be removed, one per line.
ADDRESSES = """\
klaim.help
bank.support
evil.рф
judi.com
JUDI.Com
judi.net
toko.my.id
toko.co.id
dana.go.id.klaim.info
bantuan.click
hadiah.online
hadiah.shop
pulsa.gratis
obat.pharmacy
rumah.hospital
sehat.health
cek.doctor
uji.clinic
kesehatan.care
bpjs.center
bansos.team
bantuan.foundation
promo.store
cuan.finance
kredit.loans
hasil.win
4d.win
77.win
888.com
123.org
a1.museum
sangat.panjang.sekali.photography
nama.technology
kirim.email
surat.accountants
beli.bargains
film.cinema
berita.xn--p1ai
xn--mgba.xn--p1ai
xn--80ak6aa92e.com
пример.com
пример.испытание
例え.テスト
उदाहरण.भारत
موقع.وزارة
中文.中国
münchen.ärzte
💩.la
judi.ｃｏｍ
judi．com
judi。com
judi｡com
judi․com
judi﹒com
ju\u200bdi.com
judi\u200b.com
judi.\u200bcom
judi.c\u2060om
judi.com\u00ad
t.me
s.id
x.com
g.co
wa.me
wa.me/6281234567890
t.me/judi
s.id/abc
bit.ly/abc
bit.ly?x=1
judi.com:8080/x
judi.com/menang!
judi.com#a
judi.com\\a
judi.com.Menang
judi.com.5
judi.com.a
judi.no
judi.dr.com
S.Pd.judi.com
Sp.JP/masuk
sp.jp:443
Menang.Pd
dr.judi.com
http://10.0.0.1:8080/a
HTTPS://CONTOH.ZZZ
hxxp://contoh.zzz
intent://contoh
http://3232235777
https://a.b/c?d=e
mailto:siti
tel:081234567890
tg:resolve
www.contoh.zzz
www.a
www。a。b
1.2.3.4
1.2.3.4/x
192.168.0.1:8080
１．２．３．４
[2001:db8::1]
[2001:db8::1]:8080/x
2001:db8::1
fe80::1
2001:db8:0:0:0:0:0:1
siti@judi.com
siti@rumah
siti.aminah+1@judi.co.id
siti@пример.рф
""".splitlines()

#: Texts that must not be changed, one per line: names, degrees, abbreviations, times, sums of money and dates.
HONEST = """\
Siti Aminah
Nur'aini-Putri
dr. Ani
dr. Ani, Sp.PD
drg. Rina, Sp.KGA
Drs. H. Budi, M.Si
Hj. Siti, S.Pd
Siti Aminah, S.Pd., M.Pd.
Rina S.Ag., M.Kes., S.Kep
Ns. Dewi A.Md.Keb
Ns. Dewi, S.Kep.Ns
Dewi, Amd.Keb
Dewi, A.Md.Kep
Dewi, S.Tr.Keb
Dewi, S.Tr.Keb., M.Keb
dr. Budi, Sp.JP
dr. Budi, Sp.JP(K)
dr. Budi, Sp.JP(K), FIHA
dr. Budi, Sp.OG(K)
dr. Budi, Sp.OG-KFER
dr. Budi, Sp.KJ
dr. Budi, Sp.PD-KGEH
dr. Budi, Sp.PD.KGEH
dr. Budi, Sp.PD-KHOM, FINASIM
dr. Budi, Sp.THT-KL
dr. Budi, Sp.An., M.Kes
dr. Budi, sp.a
dr. Budi, SP.PD
siti aminah, s.pd
SITI AMINAH, S.KEP
apt. Sari, S.Farm.
Sari, S.Farm., Apt.
Sari, S.Farm.Apt
Sari, S.Gz
Sari, S.Psi., M.Psi., Psikolog
Budi, S.H.
Budi, S.H., M.H.
Budi, S.E., M.M.
Budi, S.Kom., M.Kom
Budi, S.T., M.T.
Budi, Ph.D
Budi, M.Sc.
Budi, B.Sc
Budi, S.KM., M.P.H.
Budi, S.Th
Budi, LL.M
Prof. Dr. dr. Budi, Sp.S(K)
M.M. Yusuf S.H.
K.H. Ahmad Dahlan
M. Yusuf
I.G.N. Agung
a.n. Siti
d.a. Budi
s.d. Jumat
obat, makan, dll.
dkk.
No.12
No. 12A
Jl. Sudirman No.5
RT.03/RW.05
Vit.B12
Rp1.500.000
Rp 1.500.000,00
Rp1.500.000.000
2.5 mg
2.5mg
0,5ml
1.5tablet
1.500 kalori
07.30
07.30WIB
jam 07.00-08.00
pukul 07.00 s.d. 08.00
24.11.2026
24.11.26
versi 1.2.3
dan/atau 24/7
Sakit...apa ini?
Halo..Siti
3x1, 1-0-1
@budi
3 x @ 1 tablet
2@500mg
evil . com
evil[.]com
judi dot com
24:00:00
catatan:penting
😀 محمد بن عبد الله
Keluarga 👨‍👩‍👧 sehat
สวัสดี
""".splitlines()

#: Texts that get a space after an abbreviation or number, so that programs do not show a link.
SPACED = [
    ("dr.Ani Sp.PD", "dr. Ani Sp.PD"),
    ("dr.Ani/dr.Budi", "dr. Ani/dr. Budi"),
    ("Prof.Dr.dr.Budi", "Prof. Dr. dr. Budi"),
    ("Drs.H.Budi", "Drs. H. Budi"),
    ("Hj.Siti", "Hj. Siti"),
    ("Ny.Siti", "Ny. Siti"),
    ("M.Yusuf", "M. Yusuf"),
    ("M.YUSUF", "M. YUSUF"),
    ("I.G.N.Agung", "I. G. N. Agung"),
    ("Muh.Ali", "Muh. Ali"),
    ("Budi.S.Pd", "Budi. S.Pd"),
    ("dr.Budi.Sp.PD", "dr. Budi. Sp.PD"),
    ("apt.Sari", "apt. Sari"),
    ("Jl.Sudirman", "Jl. Sudirman"),
    ("RSUD.Cibabat", "RSUD. Cibabat"),
    ("RSUD.Dr.Soetomo", "RSUD. Dr. Soetomo"),
    ("a.n.Siti", "a.n. Siti"),
    ("s.d.selesai", "s.d. selesai"),
    ("No.Telp.021", "No. Telp. 021"),
    ("Tgl.Lahir", "Tgl. Lahir"),
    ("Tab.Metformin", "Tab. Metformin"),
    ("Vit.Bcomplex", "Vit. Bcomplex"),
    ("Inj.Insulin 10", "Inj. Insulin 10"),
    ("Syr.Ambroxol", "Syr. Ambroxol"),
    ("1.Metformin 2.Amlodipin", "1. Metformin 2. Amlodipin"),
    ("Dosis 500.mg", "Dosis 500. mg"),
    ("07.30.WIB", "07.30. WIB"),
    ("24.Nov.2026", "24. Nov. 2026"),
    ("dr.click", "dr. click"),
    ("no.com", "no. com"),
    ("RSUD.help", "RSUD. help"),
    ("10.cc", "10. cc"),
]

CASES = [
    ("Siti https://contoh.com/hadiah?x=1 Aminah", "Siti Aminah"),
    ("(judi.com)", "()"),
    ("Budi;judi.net", "Budi;"),
    ("“judi.com”", "“”"),
    ("Hadiah\nhttps://a.b\n\ndi sini", "Hadiah di sini"),
    ("RT.03/judi.com", "RT.03/"),
    ("Sudah sembuh.Terima kasih", "Sudah kasih"),  # `sembuh.Terima` looks like a domain
    ("", ""),
]


def differing(clean: Callable[[str], str], cases: Iterable[tuple[str, *tuple[str, ...]]]) -> Iterator[str]:
    """Yield the texts for which `clean` returns an unexpected result."""
    for text, *expected in cases:
        if (left := clean(text)) not in expected:
            yield f"{text!r}: {left!r}"


def test_addresses_are_removed_from_a_text() -> None:
    cases = [
        case
        for address in ADDRESSES
        for case in (
            (address, ""),
            (f"Klik {address} sekarang", "Klik sekarang"),
            (f"Klik ({address}) sekarang", "Klik () sekarang", "Klik ( sekarang"),
            (f"{address}, sekarang", ", sekarang", "sekarang"),
        )
    ]
    assert_none(differing(without_addresses, cases), "Something is left to tap:")


def test_texts_without_an_address_are_not_changed() -> None:
    texts = [text for word in HONEST for text in (word, f"Untuk {word}, nanti")]
    assert_none(differing(without_addresses, [(text, text) for text in texts]), "Honest words are changed:")


def test_cleaned_texts_are_as_expected_and_cleaning_is_idempotent() -> None:
    cases = [*CASES, *SPACED]
    again = [(expected, expected) for _, expected in cases]
    assert_none(differing(without_addresses, [*cases, *again]), "Something else is left:")


def test_the_lists_of_sample_texts_have_at_least_60_entries() -> None:
    assert len(set(ADDRESSES)) >= 60
    assert len(set(HONEST)) >= 60


PIECES = ["judi", "com", "рф", "S", "Pd", "dr", "Ani", "no", "M", "1", "24", "mg", "me", "t", "xn--p1ai", "a.n", "K",
          ".", ".", "．", "。", "\u200b", " ", "/", ":", "@", "(", ")", "-", "_", "[", "😀", "://", "www"]  # fmt: skip
#: Pattern of texts that a phone may show as a link: a dot before a typical word of an address, a URL scheme, an e-mail
#: address.
CLICKABLE = re.compile(r"[\w😀\u200b-][.．。]\u200b*(?:judi|com|рф|me|xn--)|://|www[.．。]\w|\w@[^\W\d]")


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_random_text_contains_no_clickable_address_after_cleaning(text: str) -> None:
    left = without_addresses(text)
    assert not CLICKABLE.search(left), left


@pytest.mark.parametrize(
    "text",
    ["a." * 20_000, "a@" * 20_000, "1." * 20_000, "a-" * 20_000 + ".", "www." * 10_000, "S.Pd." * 10_000,
     "dr." * 20_000, "1.2/" * 10_000, "a" * 40_000, "a:" * 20_000, "1:" * 20_000, "[" * 40_000, "0 8-" * 10_000,
     "Sp.JP-" * 10_000],
)  # fmt: skip
def test_hostile_text_is_cleaned_within_two_seconds(text: str) -> None:
    started = time.process_time()
    without_contacts(text)
    assert time.process_time() - started < 2


PHONE_NUMBERS = """\
081234567890
0812-3456-7890
0812 3456 7890
0812.3456.7890
0812 – 3456 – 7890
08 12 34 56 78 90
(0812) 3456-7890
+6281234567890
+62 812-3456-7890
62 812 3456 7890
62.812.345.678
812.345.678
0812/3456/7890
(021) 500 567 89
021-5005678
+1 (555) 010-9999
12345678
0800-1-234567
０８１２３４５６７８９０
٠٨١٢٣٤٥٦٧٨٩٠
""".splitlines()

NO_PHONE_NUMBERS = """\
119
112
1500567
119 ext. 8
24.11.2026
24-11-2026
24/11/2026
2026-11-24
24.11.2026 07.30-09.00 WIB
07.00-08.00
07.00 - 08.00 WIB
07:00-08:00
2025-2026
2025/2026
Tahun 2024, 2025 dan 2026
2024 2025 2026
Rp1.500.000
Rp10.000.000
Rp 1.500.000.000,00
10.000.000 vaksin
COVID-19
Menu 1.500 kalori
1-2-3
""".splitlines()


def test_phone_numbers_are_removed_only_from_broadcast_titles() -> None:
    for form, left in (("Hubungi {}, sekarang", "Hubungi , sekarang"), ("WA:{}", "WA:")):
        cases = [(form.format(number), left) for number in PHONE_NUMBERS]
        assert_none(differing(without_contacts, cases), "A number is left:")
    kept = [(f"Hubungi {number}",) * 2 for number in PHONE_NUMBERS]
    assert_none(differing(without_addresses, kept), "A number that is no title's is gone:")


def test_other_numbers_are_kept_in_a_broadcast_title() -> None:
    assert_none(differing(without_contacts, [(text, text) for text in NO_PHONE_NUMBERS]), "A number is changed:")


def test_an_address_is_also_removed_from_a_broadcast_title() -> None:
    assert without_contacts("Klaim klaim.help atau 0812-3456-7890") == "Klaim atau"
