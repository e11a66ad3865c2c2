"""Ninety days of the demo forum: threads, nested replies, likes and saves.

They come from the people of the module `crowd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.forum.models import ForumCategory, Mark, Post
from app.identity.models import User
from dev.counters import COUNTERS
from dev.demo import crowd

#: Threads: category, title, content.
THREADS = (
    ("Umum", "Aplikasi pengingat obat di ponsel lama", "Apakah pengingat tetap masuk kalau ponsel jarang dibuka?"),
    ("Medis", "Membaca hasil laboratorium HbA1c", "Hasil saya 7,2. Bagaimana kalian membahasnya dengan dokter?"),
    ("Medis", "Tekanan darah tinggi di pagi hari", "Pagi 150/95, sore normal. Ada yang mengalami hal yang sama?"),
    ("Kesehatan Mental", "Sulit tidur sejak merawat ibu", "Tiap malam saya terbangun. Apa yang membantu kalian?"),
    ("Islam", "Doa yang menenangkan sebelum operasi", "Minggu depan ayah saya dioperasi. Mohon berbagi bacaannya."),
    ("Umum", "Menu hemat rendah garam", "Anggaran saya terbatas. Bagi resep yang mudah, ya."),
    ("Medis", "Efek samping obat kolesterol", "Otot paha sering pegal setelah minum obat malam. Wajarkah?"),
    ("Kesehatan Mental", "Anak remaja tidak mau bercerita", "Sejak sakit ia lebih banyak diam. Bagaimana memulainya?"),
    ("Kristen", "Kelompok doa untuk keluarga pasien", "Kami bertemu setiap Rabu malam secara daring. Mari bergabung."),
    ("Medis", "Terapi lutut di rumah", "Fisioterapis memberi lima gerakan. Bagaimana agar tetap rajin?"),
    ("Umum", "BPJS dan rujukan berjenjang", "Langkah apa saja sebelum ke rumah sakit tipe B?"),
    ("Hindu", "Yoga ringan bagi lansia", "Gerakan apa yang aman untuk ibu berusia 68 tahun?"),
    ("Medis", "Alat cek gula darah yang awet", "Punya saya sering keliru. Merek apa yang kalian percaya?"),
    ("Kesehatan Mental", "Menerima diagnosis", "Sudah sebulan, tetapi saya belum sanggup bercerita kepada teman."),
    ("Katolik", "Pendampingan rohani di rumah sakit", "Siapa yang dapat dihubungi di Yogyakarta?"),
    ("Umum", "Transportasi untuk pengguna kursi roda", "Mohon info layanan di Surabaya dan sekitarnya."),
    ("Medis", "Vaksin influenza untuk penderita asma", "Kapan waktu terbaik, dan apakah perlu setiap tahun?"),
    ("Kesehatan Mental", "Latihan napas yang singkat", "Lima menit sebelum tidur sangat menolong saya. Ini caranya."),
    ("Islam", "Jadwal obat saat bepergian haji", "Bagaimana kalian mengatur jam minum obat di sana?"),
    ("Umum", "Catatan harian pasien", "Saya mencatat makan, tidur dan obat di buku. Kalian memakai apa?"),
    ("Medis", "Diet setelah pengangkatan empedu", "Makanan apa yang kalian hindari pada bulan pertama?"),
    ("Kesehatan Mental", "Pendamping juga boleh lelah", "Hari ini saya menangis di dapur. Terima kasih sudah membaca."),
    ("Umum", "Perkenalan dari Makassar", "Halo semua, saya mendampingi kakak yang cuci darah dua kali seminggu."),
    ("Medis", "Jarak minum obat tiroid dan kopi", "Dokter menyarankan satu jam. Apakah kalian menaatinya?"),
)  # fmt: skip

REPLIES = (
    "Terima kasih sudah berbagi, ini sangat membantu.",
    "Saya mengalami hal yang sama. Setelah dua minggu mulai terbiasa.",
    "Sebaiknya tanyakan kepada dokter sebelum mengubah dosis, ya.",
    "Semangat! Pelan-pelan saja, yang penting teratur.",
    "Di puskesmas kami ada kelasnya setiap bulan. Coba tanyakan.",
    "Bagaimana perkembangannya sekarang?",
    "Sudah jauh lebih baik, terima kasih sudah bertanya.",
    "Ibu saya cocok dengan cara ini. Semoga cocok juga di sana.",
    "Saya catat dulu. Ada sumber bacaan yang mudah?",
    "Kirim pelukan untuk keluarga di rumah.",
    "Kalau pusing lagi, segera periksa. Jangan ditunda.",
    "Kami bergantian menjaga, jadi masing-masing sempat istirahat.",
)
MAX_REPLIES = 9


def fill() -> None:
    if db.session.scalar(sa.select(sa.exists().where(Post.title == THREADS[0][1]))):
        return
    chance = Random("conversations")  # a fixed seed, so that the same threads are created each time
    people = crowd.ids()
    threads = _add_threads(people, chance)
    replies = _add_replies(threads, people, chance)
    _add_marks([*(thread for thread, _ in threads), *replies], people, chance)
    for model, counts in COUNTERS.items():
        db.session.execute(sa.update(model).values(counts).execution_options(synchronize_session=False))


def _add_threads(people: Sequence[int], chance: Random) -> list[tuple[int, datetime]]:
    """Insert threads, one every few days until yesterday. Return their ids and creation times."""
    categories = {name: id_ for id_, name in db.session.execute(sa.select(ForumCategory.id, ForumCategory.name))}
    joined = dict(db.session.execute(sa.select(User.id, User.created_at).where(User.id.in_(people))).all())
    rows: list[dict[str, Any]] = []
    for number, (category, title, content) in enumerate(THREADS):
        moment = now() - timedelta(days=1 + (crowd.DAYS - 4) * (1 - number / len(THREADS)), hours=chance.random() * 12)
        rows.append(
            {
                "category_id": categories[category],
                "user_id": chance.choice([id_ for id_ in people if joined[id_] < moment] or people[:1]),
                "title": title,
                "content": content,
                "use_pseudonym": chance.random() < 0.5,
                "created_at": moment,
                "updated_at": moment,
            }
        )
    added = db.session.scalars(sa.insert(Post).returning(Post.id, sort_by_parameter_order=True), rows)
    return [(id_, row["created_at"]) for id_, row in zip(added, rows, strict=True)]


def _add_replies(threads: Sequence[tuple[int, datetime]], people: Sequence[int], chance: Random) -> list[int]:
    """Insert the replies and return their ids. Insert a parent before its replies, which need the id of the parent."""
    rows = [
        _reply(thread, None, 1, written, people, chance)
        for thread, written in threads
        for _ in range(chance.randint(1, MAX_REPLIES))
    ]
    inserting = sa.insert(Post).returning(Post.id, sort_by_parameter_order=True)
    all_ids: list[int] = []
    while rows:
        rows.sort(key=lambda row: row["created_at"])
        added = list(db.session.scalars(inserting, rows))
        all_ids += added
        rows = [
            _reply(row["root_id"], id_, row["depth"] + 1, row["created_at"], people, chance)
            for id_, row in zip(added, rows, strict=True)
            if chance.random() < 0.4
        ]
    return all_ids


def _reply(
    thread: int, parent: int | None, depth: int, after: datetime, people: Sequence[int], chance: Random
) -> dict[str, Any]:
    moment = min(after + timedelta(minutes=chance.randint(4, 60 * 30)), now())
    return {
        "root_id": thread,
        "parent_id": parent,
        "depth": depth,
        "user_id": chance.choice(people),
        "content": chance.choice(REPLIES),
        "use_pseudonym": chance.random() < 0.4,
        "created_at": moment,
        "updated_at": moment,
    }


def _add_marks(posts: Sequence[int], people: Sequence[int], chance: Random) -> None:
    rows = [
        {"post_id": post, "user_id": person, "is_liked": True, "is_saved": chance.random() < 0.2}
        for post in posts
        for person in chance.sample(people, chance.randint(0, 12))
    ]
    db.session.execute(sa.insert(Mark), rows)
