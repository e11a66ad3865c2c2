"""Demo facilities in four provinces, their doctors, and two layouts of the home page."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import Base, db
from app.core.web.fields import Loaded
from app.dokter.models import Dokter
from app.faskes.models import Faskes
from app.province_config import service as province_config
from app.province_config.models import DEFAULT, ProvinceConfig

#: Facilities: id, nama, alamat, lat, lng, jenis, telepon, province, rating. All values are invented.
FASKES = (
    ("demo-cimahi-1", "RSUD Contoh Cimahi", "Jl. Contoh No. 1", -6.8841, 107.5413, "rumah_sakit", "022-5550101",
     "Jawa Barat", 4.2),
    ("demo-cimahi-2", "Puskesmas Contoh Cimahi", "Jl. Melati No. 7", -6.8722, 107.5427, "puskesmas", "022-5550102",
     "Jawa Barat", 4.0),
    ("demo-bandung-1", "Klinik Sehat Dago", "Jl. Dago Contoh No. 20", -6.8850, 107.6137, "klinik", "022-5550103",
     "Jawa Barat", 4.6),
    ("demo-bandung-2", "Apotek Asia Afrika", "Jl. Contoh Raya No. 3", -6.9217, 107.6070, "apotek", None,
     "Jawa Barat", None),
    ("demo-jakarta-1", "RS Contoh Menteng", "Jl. Menteng Contoh No. 5", -6.1960, 106.8310, "rumah_sakit",
     "021-5550104", "DKI Jakarta", 4.4),
    ("demo-jakarta-2", "Puskesmas Contoh Tebet", "Jl. Tebet Contoh No. 9", -6.2260, 106.8580, "puskesmas",
     "021-5550105", "DKI Jakarta", 4.1),
    ("demo-yogya-1", "RS Contoh Sardjana", "Jl. Kesehatan Contoh", -7.7683, 110.3735, "rumah_sakit", "0274-5550106",
     "DI Yogyakarta", 4.5),
    ("demo-denpasar-1", "RSUP Contoh Denpasar", "Jl. Diponegoro Contoh", -8.6725, 115.2130, "rumah_sakit",
     "0361-5550107", "Bali", 4.3),
)  # fmt: skip

DOKTER = (
    ("dr. Ani Lestari, Sp.PD", "Penyakit Dalam", ("demo-cimahi-1", "demo-bandung-1")),
    ("dr. Bagus Pratama, Sp.JP", "Jantung", ("demo-bandung-1",)),
    ("dr. Citra Dewi", "Umum", ("demo-cimahi-2",)),
    ("dr. Dimas Saputra, Sp.KJ", "Kesehatan Jiwa", ("demo-jakarta-1",)),
    ("dr. Eka Rahmawati, Sp.A", "Anak", ("demo-jakarta-1", "demo-jakarta-2")),
    ("dr. Fajar Nugroho, Sp.S", "Saraf", ("demo-yogya-1",)),
    ("dr. Gusti Ayu Putri, Sp.OG", "Kandungan", ("demo-denpasar-1",)),
)

LAYOUTS = {
    DEFAULT: ("video", "articles", "menu-1", "menu-2", "menu-3", "menu-4", "menu-5"),
    "Jawa Barat": ("articles", "video", "menu-2", "menu-1", "menu-3", "menu-4", "menu-5"),
}


def fill() -> None:
    if not _filled(Faskes):
        names = ("id", "nama", "alamat", "lat", "lng", "jenis", "telepon", "province", "rating")
        db.session.add_all(Faskes(**dict(zip(names, row, strict=True))) for row in FASKES)
        db.session.flush()
    if not _filled(Dokter):
        for nama, spesialisasi, ids in DOKTER:
            faskes = list(db.session.scalars(sa.select(Faskes).where(Faskes.id.in_(ids))))
            db.session.add(Dokter(nama=nama, spesialisasi=spesialisasi, faskes=faskes))
    if not _filled(ProvinceConfig):
        for province, sections in LAYOUTS.items():
            enabled: list[Loaded] = [{"id": section, "enabled": True} for section in sections]
            province_config.update(province, {"sections": enabled})
    db.session.flush()


def _filled(model: type[Base]) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().select_from(model))))
