"""Demo moderation cases: an advertisement with an appeal, a cry for help, bad advice and a false alarm."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.web.fields import Loaded
from app.forum.models import Case, ForumCategory, ReportReason
from app.forum.service import moderation, posts
from dev.demo.people import caller


def fill() -> None:
    if db.session.scalar(sa.select(sa.exists().where(Case.id.is_not(None)))):
        return
    advertised = _write(
        "rizky.aditya", "Umum", "Jamu penurun gula dalam tiga hari", "Pesan lewat saya, dijamin sembuh!"
    )
    for reporter in ("siti", "budi", "ayu.wulandari"):
        _report(advertised, ReportReason.SPAM, "Ini iklan.", reporter)
    _decide(advertised, "hide", "Mengiklankan obat tanpa izin edar.")
    sent = "Saya hanya berbagi pengalaman keluarga saya."
    moderation.appeal(advertised, sent, caller("rizky.aditya"), is_thread=True)
    _write("hana.safitri", "Kesehatan Mental", "Tidak tahu harus ke mana", "Capek. Rasanya lebih baik mati saja.")
    doubted = _write("galih.saputra", "Medis", "Berhenti insulin?", "Apakah boleh berhenti kalau gula sudah normal?")
    data: Loaded = {"content": "Boleh, ganti saja dengan madu.", "use_pseudonym": False, "parent_id": None}
    advice = posts.create_reply(doubted, data, caller("umar.said"))["id"]
    _report(advice, ReportReason.MISINFORMATION, "Berbahaya bila ditiru.", "siti", is_thread=False)
    _report(doubted, ReportReason.OTHER, None, "budi")
    _decide(doubted, "keep", "Pertanyaan yang wajar.")
    _decide(advice, "hide", "Berbahaya bila ditiru.")


def _write(author: str, category: str, title: str, content: str) -> int:
    category_id = db.session.scalars(sa.select(ForumCategory.id).filter_by(name=category)).one()
    return posts.create_thread(
        {"category_id": category_id, "title": title, "content": content, "use_pseudonym": False}, caller(author)
    )["id"]


def _decide(post_id: int, decision: str, reason: str) -> None:
    case_id = db.session.scalars(sa.select(Case.id).where(Case.post_id == post_id)).one()
    moderation.decide(case_id, {"decision": decision, "reason": reason}, caller("admin"))


def _report(post_id: int, reason: ReportReason, note: str | None, reporter: str, *, is_thread: bool = True) -> None:
    moderation.report(post_id, {"reason": reason, "note": note}, caller(reporter), is_thread=is_thread)
