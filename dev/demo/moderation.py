"""Demo moderation cases: an advertisement with an appeal, a cry for help, bad advice and a false alarm."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.core.web.fields import Loaded
from app.forum.models import ForumCase, ForumCategory, ForumReply, ForumThread, ReportReason
from app.forum.service import moderation, replies, reports, threads
from dev.demo.people import caller


def fill() -> None:
    if db.session.scalar(sa.select(sa.exists().where(ForumCase.id.is_not(None)))):
        return
    advertised = _write(
        "rizky.aditya", "Umum", "Jamu penurun gula dalam tiga hari", "Pesan lewat saya, dijamin sembuh!"
    )
    for reporter in ("siti", "budi", "ayu.wulandari"):
        reports.report(ForumThread, advertised, {"reason": ReportReason.SPAM, "note": "Ini iklan."}, caller(reporter))
    _decide(advertised, "hide", "Mengiklankan obat tanpa izin edar.")
    moderation.appeal(ForumThread, advertised, "Saya hanya berbagi pengalaman keluarga saya.", caller("rizky.aditya"))
    _write("hana.safitri", "Kesehatan Mental", "Tidak tahu harus ke mana", "Capek. Rasanya lebih baik mati saja.")
    doubted = _write("galih.saputra", "Medis", "Berhenti insulin?", "Apakah boleh berhenti kalau gula sudah normal?")
    data: Loaded = {"content": "Boleh, ganti saja dengan madu.", "use_pseudonym": False, "parent_id": None}
    advice = replies.create(doubted, data, caller("umar.said"))["id"]
    sent: Loaded = {"reason": ReportReason.MISINFORMATION, "note": "Berbahaya bila ditiru."}
    reports.report(ForumReply, advice, sent, caller("siti"))
    reports.report(ForumThread, doubted, {"reason": ReportReason.OTHER, "note": None}, caller("budi"))
    _decide(doubted, "keep", "Pertanyaan yang wajar.")


def _write(author: str, category: str, title: str, content: str) -> int:
    category_id = db.session.scalars(sa.select(ForumCategory.id).filter_by(name=category)).one()
    return threads.create(
        {"category_id": category_id, "title": title, "content": content, "use_pseudonym": False}, caller(author)
    )["id"]


def _decide(thread_id: int, decision: str, reason: str) -> None:
    data: Loaded = {"decision": decision, "reason": reason, "thread_id": thread_id}
    moderation.create(data, caller("admin"))
