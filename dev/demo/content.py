"""Demo articles, videos, communities, facilities, doctors, and layouts of the home page. All values are invented."""

from __future__ import annotations

import sqlalchemy as sa

from app.articles.models import Article
from app.core.database.session import db
from app.core.lib.html import sanitise
from app.core.web.fields import Loaded
from app.dokter.models import Dokter
from app.faskes.models import Faskes
from app.kategori.models import Kategori
from app.komunitas.models import Komunitas
from app.province_config import service as province_config
from app.province_config.models import DEFAULT
from app.videos.models import Video

#: Articles: category, title, end of the address, text.
ARTICLES = (
    (
        "Gizi",
        "Piring Makan Sehat untuk Keluarga",
        "piring-makan-sehat",
        "<p>Separuh piring berisi sayur dan buah, seperempat lauk, dan seperempat makanan pokok.</p>"
        "<h2>Mulai dari yang mudah</h2><ul><li>Ganti minuman manis dengan air putih</li></ul>",
    ),
    (
        "Penyakit Kronis",
        "Hidup Tenang dengan Diabetes Melitus",
        "hidup-tenang-dengan-diabetes",
        "<p>Diabetes dapat dikendalikan dengan obat yang teratur, makan yang seimbang, dan gerak setiap hari.</p>",
    ),
    (
        "Kesehatan Mental",
        "Mengelola Cemas saat Merawat Orang Terdekat",
        "mengelola-cemas-pendamping",
        "<p>Pendamping juga perlu istirahat. Bagilah tugas, dan ceritakan beban Anda.</p>",
    ),
)
# The videos have no thumbnails, because the service only stores thumbnails that come from the video platform.
VIDEOS = (
    ("demoSenam01", "Senam Ringan 10 Menit di Kursi", "PT10M4S"),
    ("demoGizi001", "Memasak Sayur Bening Rendah Garam", "PT6M30S"),
    ("demoNapas01", "Latihan Napas untuk Menenangkan Diri", "PT4M13S"),
)
COMMUNITIES = (
    ("Penyakit Kronis", "Sahabat Diabetes Bandung", "Bertemu setiap Minggu pagi di taman kota.", "Jawa Barat"),
    ("Kesehatan Mental", "Ruang Cerita Pendamping", "Saling mendengar bagi yang merawat keluarga.", "DKI Jakarta"),
)
#: Facilities: id, nama, lat, lng, jenis, province, and the names and fields of their doctors.
FASKES = (
    ("demo-cimahi-1", "RSUD Contoh Cimahi", -6.8841, 107.5413, "rumah_sakit", "Jawa Barat",
     (("dr. Ani Lestari, Sp.PD", "Penyakit Dalam"),)),
    ("demo-cimahi-2", "Puskesmas Contoh Cimahi", -6.8722, 107.5427, "puskesmas", "Jawa Barat",
     (("dr. Citra Dewi", "Umum"),)),
    ("demo-bandung-1", "Klinik Sehat Dago", -6.8850, 107.6137, "klinik", "Jawa Barat",
     (("dr. Bagus Pratama, Sp.JP", "Jantung"),)),
    ("demo-bandung-2", "Apotek Asia Afrika", -6.9217, 107.6070, "apotek", "Jawa Barat", ()),
    ("demo-jakarta-1", "RS Contoh Menteng", -6.1960, 106.8310, "rumah_sakit", "DKI Jakarta",
     (("dr. Dimas Saputra, Sp.KJ", "Kesehatan Jiwa"), ("dr. Eka Rahmawati, Sp.A", "Anak"))),
    ("demo-denpasar-1", "RSUP Contoh Denpasar", -8.6725, 115.2130, "rumah_sakit", "Bali",
     (("dr. Gusti Ayu Putri, Sp.OG", "Kandungan"),)),
)  # fmt: skip
LAYOUTS = {
    DEFAULT: ("video", "articles", "menu-1", "menu-2", "menu-3", "menu-4", "menu-5"),
    "Jawa Barat": ("articles", "video", "menu-2", "menu-1", "menu-3", "menu-4", "menu-5"),
}


def fill() -> None:
    """Insert the rows directly, because the service's own functions would send a broadcast of each to everyone."""
    kategori = {}
    for name in ("Gizi", "Penyakit Kronis", "Kesehatan Mental", "Ibu dan Anak"):
        known = db.session.scalar(sa.select(Kategori).filter_by(nama_kategori=name))
        kategori[name] = known or Kategori(nama_kategori=name)
    db.session.add_all(kategori.values())
    db.session.flush()
    for name, title, slug, text in ARTICLES:
        url, kategori_id = f"https://contoh.id/artikel/{slug}", kategori[name].id
        db.session.add(Article(title=title, url=url, content=sanitise(text), kategori_id=kategori_id))
    for video_id, title, duration in VIDEOS:
        db.session.add(Video(video_id=video_id, title=title, channel_title="Kanal Contoh", duration=duration))
    for name, nama, deskripsi, province in COMMUNITIES:
        kategori_id, link, kontak = kategori[name].id, "https://contoh.id/komunitas", "0812-0000-0000"
        values = {"deskripsi": deskripsi, "province": province, "link": link, "kontak": kontak}
        db.session.add(Komunitas(nama=nama, kategori_id=kategori_id, **values))
    for number, (id_, nama, lat, lng, jenis, province, doctors) in enumerate(FASKES):
        values = {"alamat": f"Jl. Contoh No. {number}", "telepon": f"022-555010{number}", "province": province}
        place = Faskes(id=id_, nama=nama, lat=lat, lng=lng, jenis=jenis, rating=4.2, **values)
        db.session.add(place)
        db.session.add_all(Dokter(nama=doctor, spesialisasi=field, faskes=[place]) for doctor, field in doctors)
    for province, sections in LAYOUTS.items():
        enabled: list[Loaded] = [{"id": section, "enabled": True} for section in sections]
        province_config.update(province, {"sections": enabled})
