"""Tests of the demo articles, videos and communities."""

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.notifications.models import Broadcast
from dev import demo


def test_every_list_has_demo_rows_and_a_second_run_adds_nothing(client):
    paths = ("/articles/all", "/videoplatform/videos", "/komunitas")
    seen = []
    for _ in range(2):
        with unit_of_work():
            demo.fill()
        seen.append([client.get(path).json for path in paths])
    assert seen[0] == seen[1]
    assert [len(rows or []) for rows in seen[0]] == [4, 3, 3]
    # Adding demo data must not send a message to anybody.
    assert db.session.scalars(sa.select(Broadcast).where(Broadcast.kind.in_(("article", "video")))).all() == []
