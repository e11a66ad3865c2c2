"""Demo articles, videos and communities."""

from __future__ import annotations

import sqlalchemy as sa

from app.articles.models import Article
from app.core.database.session import Base, db
from app.core.lib.html import sanitise
from app.kategori.models import Kategori
from app.komunitas.models import Komunitas
from app.videos.models import Video

ARTICLES = (
    (
        "Gizi",
        "Piring Makan Sehat untuk Keluarga",
        "https://contoh.id/artikel/piring-makan-sehat",
        "<p>Separuh piring berisi sayur dan buah, seperempat lauk, dan seperempat makanan pokok.</p>"
        "<h2>Mulai dari yang mudah</h2><ul><li>Ganti minuman manis dengan air putih</li>"
        "<li>Sediakan buah potong di meja</li></ul>",
    ),
    (
        "Penyakit Kronis",
        "Hidup Tenang dengan Diabetes Melitus",
        "https://contoh.id/artikel/hidup-tenang-dengan-diabetes",
        "<p>Diabetes dapat dikendalikan dengan obat yang teratur, makan yang seimbang, dan gerak setiap hari.</p>"
        "<p>Catat kadar gula darah Anda dan bawa catatannya saat kontrol.</p>",
    ),
    (
        "Kesehatan Mental",
        "Mengelola Cemas saat Merawat Orang Terdekat",
        "https://contoh.id/artikel/mengelola-cemas-pendamping",
        "<p>Pendamping juga perlu istirahat. Bagilah tugas, dan ceritakan beban Anda kepada orang yang dipercaya.</p>",
    ),
    (
        "Ibu dan Anak",
        "Jadwal Imunisasi Dasar Anak",
        "https://contoh.id/artikel/jadwal-imunisasi-dasar",
        "<p>Imunisasi dasar lengkap melindungi anak sejak lahir. Tanyakan jadwalnya di puskesmas terdekat.</p>",
    ),
)

# The videos have no thumbnails, because the service only stores thumbnails that come from the video platform.
VIDEOS = (
    ("demoSenam01", "Senam Ringan 10 Menit di Kursi", "PT10M4S"),
    ("demoGizi001", "Memasak Sayur Bening Rendah Garam", "PT6M30S"),
    ("demoNapas01", "Latihan Napas untuk Menenangkan Diri", "PT4M13S"),
)
CHANNEL = "Kanal Kesehatan Contoh"

COMMUNITIES = (
    ("Penyakit Kronis", "Sahabat Diabetes Bandung", "Bertemu setiap Minggu pagi di taman kota.", "Jawa Barat"),
    (
        "Kesehatan Mental",
        "Ruang Cerita Pendamping",
        "Saling mendengar bagi mereka yang merawat keluarga.",
        "DKI Jakarta",
    ),
    ("Ibu dan Anak", "Ibu Sehat Denpasar", "Kelas ibu hamil dan menyusui.", "Bali"),
)


def fill() -> None:
    kategori = {name: number for number, name in db.session.execute(sa.select(Kategori.id, Kategori.nama_kategori))}
    for name, title, url, text in ARTICLES:
        _add(Article, Article.url == url, title=title, url=url, content=sanitise(text), kategori_id=kategori[name])
    for video_id, title, duration in VIDEOS:
        _add(
            Video,
            Video.video_id == video_id,
            video_id=video_id,
            title=title,
            channel_title=CHANNEL,
            duration=duration,
        )
    for name, nama, deskripsi, province in COMMUNITIES:
        _add(
            Komunitas,
            Komunitas.nama == nama,
            nama=nama,
            deskripsi=deskripsi,
            kategori_id=kategori[name],
            province=province,
            link="https://contoh.id/komunitas",
            kontak="0812-0000-0000",
        )
    db.session.flush()


def _add(model: type[Base], known: sa.ColumnElement[bool], **values: object) -> None:
    """Insert a row if it is missing.

    The row is written directly to the database, because the service's own function would send a broadcast to everyone.
    """
    if not db.session.scalar(sa.select(sa.exists().where(known))):
        db.session.add(model(**values))
