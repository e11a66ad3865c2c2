"""Demo data: there is something of everything, and filling again changes nothing."""

from __future__ import annotations

import sqlalchemy as sa
from flask import Flask

from app.core.database.session import db, unit_of_work
from dev import demo


def counts() -> dict[str, int | None]:
    return {
        table.name: db.session.scalar(sa.select(sa.func.count()).select_from(table))
        for table in db.metadata.sorted_tables
    }


def test_demo_data_is_filled_once(app: Flask) -> None:
    with unit_of_work():
        assert "siti" in demo.fill()
    filled = counts()
    for table in ("users", "caregiver_links", "kategori", "forum_threads", "forum_replies", "forum_thread_marks"):
        assert filled[table], table
    with unit_of_work():
        demo.fill()
    assert counts() == filled
