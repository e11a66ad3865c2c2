"""Ninety days of the demo forum: threads, nested replies, likes, saves, and moderation cases."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.core.web.fields import Loaded
from app.forum.models import Case, ForumCategory, Mark, Post, ReportReason
from app.forum.service import moderation, posts
from app.identity.models import User
from dev.demo import people
from dev.demo.people import caller, person

#: Threads: category, title, content.
THREADS = (
    ("Umum", "Selamat datang di forum", "Tulislah dengan santun, dan jangan membagikan data pribadi."),
    ("Medis", "Membaca hasil laboratorium HbA1c", "Hasil saya 7,2. Bagaimana kalian membahasnya dengan dokter?"),
    ("Medis", "Menu sarapan untuk penderita diabetes", "Gula darah saya naik setiap pagi. Adakah saran?"),
    ("Kesehatan Mental", "Sulit tidur sejak merawat ibu", "Tiap malam saya terbangun. Apa yang membantu kalian?"),
    ("Islam", "Doa yang menenangkan sebelum operasi", "Minggu depan ayah saya dioperasi. Mohon berbagi bacaannya."),
    ("Umum", "Menu hemat rendah garam", "Anggaran saya terbatas. Bagi resep yang mudah, ya."),
    ("Medis", "Efek samping obat kolesterol", "Otot paha sering pegal setelah minum obat malam. Wajarkah?"),
    ("Kristen", "Kelompok doa untuk keluarga pasien", "Kami bertemu setiap Rabu malam secara daring. Mari bergabung."),
    ("Medis", "Terapi lutut di rumah", "Fisioterapis memberi lima gerakan. Bagaimana agar tetap rajin?"),
    ("Hindu", "Yoga ringan bagi lansia", "Gerakan apa yang aman untuk ibu berusia 68 tahun?"),
    ("Kesehatan Mental", "Menerima diagnosis", "Sudah sebulan, tetapi saya belum sanggup bercerita kepada teman."),
    ("Katolik", "Pendampingan rohani di rumah sakit", "Siapa yang dapat dihubungi di Yogyakarta?"),
    ("Medis", "Vaksin influenza untuk penderita asma", "Kapan waktu terbaik, dan apakah perlu setiap tahun?"),
    ("Umum", "Perkenalan dari Makassar", "Halo semua, saya mendampingi kakak yang cuci darah dua kali seminggu."),
)
REPLIES = (
    "Terima kasih sudah berbagi, ini sangat membantu.",
    "Saya mengalami hal yang sama. Setelah dua minggu mulai terbiasa.",
    "Sebaiknya tanyakan kepada dokter sebelum mengubah dosis, ya.",
    "Semangat! Pelan-pelan saja, yang penting teratur.",
    "Bagaimana perkembangannya sekarang?",
    "Kalau pusing lagi, segera periksa. Jangan ditunda.",
)


def fill() -> None:
    chance = Random("forum")  # a fixed seed, so that the same threads are created each time
    everybody = [*map(person, people.LOGINS), *people.crowd()]
    for number, thread in enumerate(THREADS):
        moment = now() - timedelta(days=people.DAYS * (1 - number / len(THREADS)))
        _add_thread(thread, moment, [user for user in everybody if user.created_at < moment], chance)
    _add_cases()


def _add_thread(thread: tuple[str, str, str], moment: datetime, members: list[User], chance: Random) -> Post:
    """Insert a thread with replies at any depth. The posts are inserted directly, so nobody gets a broadcast."""
    name, title, content = thread
    category = db.session.scalars(sa.select(ForumCategory).filter_by(name=name)).one()
    category.threads_count += 1
    top = _add(moment, members, chance, depth=0, category_id=category.id, title=title, content=content)
    written = [top]
    for _ in range(chance.randint(4, 12)):
        parent = chance.choice(written)
        moment += timedelta(minutes=chance.randint(4, 400))
        parent_id = None if parent is top else parent.id
        places = {"root_id": top.id, "parent_id": parent_id, "depth": parent.depth + 1}
        written.append(_add(moment, members, chance, content=chance.choice(REPLIES), **places))
    top.replies_count = len(written) - 1
    return top


def _add(moment: datetime, members: list[User], chance: Random, **values: object) -> Post:
    author, readers = chance.choice(members), chance.sample(members, chance.randint(0, min(12, len(members))))
    saves = [chance.random() < 0.2 for _ in readers]
    post = Post(
        user_id=author.id,
        use_pseudonym=chance.random() < 0.4,
        likes_count=len(readers),
        saves_count=sum(saves),
        created_at=moment,
        updated_at=moment,
        **values,
    )
    db.session.add(post)
    db.session.flush()
    marks = zip(readers, saves, strict=True)
    db.session.add_all(Mark(post_id=post.id, user_id=user.id, is_liked=True, is_saved=saved) for user, saved in marks)
    return post


def _add_cases() -> None:
    """Add an advertisement with an appeal, bad advice that was hidden, a question that was kept, and a cry for help."""
    seller, asker, desperate = people.CROWD[:3]
    advertised = _write(seller, "Umum", "Jamu penurun gula dalam tiga hari", "Pesan lewat saya, dijamin sembuh!")
    for reporter in ("siti", "budi", people.CROWD[3]):
        _report(advertised, ReportReason.SPAM, reporter)
    _decide(advertised, "hide", "Mengiklankan obat tanpa izin edar.")
    moderation.appeal(advertised, "Saya hanya berbagi pengalaman keluarga.", caller(seller), is_thread=True)
    for content, decision, reason in (
        ("Apakah boleh berhenti kalau gula sudah normal?", "keep", "Pertanyaan yang wajar."),
        ("Ganti saja dengan madu.", "hide", "Berbahaya bila ditiru."),
    ):
        doubted = _write(asker, "Medis", "Berhenti insulin", content)
        _report(doubted, ReportReason.MISINFORMATION, "budi")
        _decide(doubted, decision, reason)
    _write(desperate, "Kesehatan Mental", "Tidak tahu harus ke mana", "Capek. Rasanya lebih baik mati saja.")


def _write(author: str, category: str, title: str, content: str) -> int:
    category_id = db.session.scalars(sa.select(ForumCategory.id).filter_by(name=category)).one()
    data: Loaded = {"category_id": category_id, "title": title, "content": content, "use_pseudonym": False}
    return posts.create_thread(data, caller(author))["id"]


def _report(thread_id: int, reason: ReportReason, reporter: str) -> None:
    moderation.report(thread_id, {"reason": reason, "note": None}, caller(reporter), is_thread=True)


def _decide(post_id: int, decision: str, reason: str) -> None:
    case_id = db.session.scalars(sa.select(Case.id).where(Case.post_id == post_id)).one()
    moderation.decide(case_id, {"decision": decision, "reason": reason}, caller("admin"))
