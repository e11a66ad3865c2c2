"""A few demo threads, with nested replies, likes, saves and a pseudonym."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.web.fields import Loaded
from app.forum.models import ForumCategory, Post
from app.forum.service import marks, posts
from dev.demo.people import caller

#: A reply: author, True for a pseudonym, content, and the replies to this reply.
Answers = list[tuple[str, bool, str, "Answers"]]
THREADS: tuple[tuple[str, str, bool, str, str, Answers], ...] = (
    (
        "Medis", "siti", True, "Menu sarapan untuk penderita diabetes",
        "Gula darah saya naik setiap pagi. Adakah saran sarapan yang mudah dibuat?",
        [
            ("budi", False, "Coba oatmeal tanpa gula dengan telur rebus. Ibu saya cocok.", [
                ("siti", True, "Terima kasih, besok saya coba!", []),
            ]),
            ("admin", False, "Konsultasikan juga dosis obat pagi dengan dokter Anda.", []),
        ],
    ),
    (
        "Kesehatan Mental", "budi", True, "Merawat orang tua tanpa kehilangan diri sendiri",
        "Sudah dua tahun saya mendampingi ayah. Bagaimana kalian menyisihkan waktu untuk diri sendiri?",
        [("siti", False, "Kami bergantian dengan saudara setiap akhir pekan. Jangan ragu meminta bantuan.", [])],
    ),
    (
        "Islam", "siti", False, "Puasa saat masih minum obat tiga kali sehari",
        "Apakah ada yang pernah mengatur ulang jadwal obat dengan dokter selama Ramadan?",
        [],
    ),
    (
        "Umum", "admin", False, "Selamat datang di forum",
        "Sapa yang lain di sini. Tulislah dengan santun, dan jangan membagikan data pribadi.",
        [("budi", False, "Halo semua!", [("siti", False, "Halo Pak Budi!", [])])],
    ),
)  # fmt: skip


def fill() -> None:
    if db.session.scalar(sa.select(sa.exists().where(Post.title == THREADS[0][3]))):
        return
    for category, author, use_pseudonym, title, content, answers in THREADS:
        data: Loaded = {
            "category_id": db.session.scalars(sa.select(ForumCategory.id).filter_by(name=category)).one(),
            "title": title,
            "content": content,
            "use_pseudonym": use_pseudonym,
        }
        thread_id = posts.create_thread(data, caller(author))["id"]
        for reader in ("budi", "admin"):
            marks.toggle("is_liked", thread_id, caller(reader).id, is_thread=True)
        marks.toggle("is_saved", thread_id, caller("siti").id, is_thread=True)
        _answer(thread_id, None, answers)


def _answer(thread_id: int, parent_id: int | None, answers: Answers) -> None:
    for author, use_pseudonym, content, below in answers:
        data: Loaded = {"content": content, "use_pseudonym": use_pseudonym, "parent_id": parent_id}
        reply_id = posts.create_reply(thread_id, data, caller(author))["id"]
        marks.toggle("is_liked", reply_id, caller("admin").id, is_thread=False)
        _answer(thread_id, reply_id, below)
