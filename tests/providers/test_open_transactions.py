"""No provider is called inside a transaction, because a call may take seconds and a transaction holds locks."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.providers.http import Http
from tests.accounts.registration import SITI
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_video

IDLE = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
)


@pytest.fixture
def idle(committed, monkeypatch):
    """Return the number of open transactions at the time of each provider call."""
    counts = []
    fetch = Http.fetch

    def counted(self, *args, **kwargs):
        with db.engine.connect() as connection:
            counts.append(connection.scalar(IDLE) or 0)
        return fetch(self, *args, **kwargs)

    monkeypatch.setattr(Http, "fetch", counted)
    return counts


def test_no_route_calls_a_provider_inside_a_transaction(committed, outside, idle):
    with unit_of_work():
        admin, stored_id = Client(committed).as_(make_admin()), make_video(video_id="sdVideo0001").id
    key = {"Idempotency-Key": "kunci-sekali"}
    created = admin.post("/videoplatform/video", {"video_id": "hdMaxres001"}, headers=key).ok(201)
    assert admin.get(f"/videoplatform/videos/{stored_id}/detail").status_code == 200
    unknown = admin.put(f"/videoplatform/video/{created['id']}", {"video_id": "tidakAda001"})
    assert_error(unknown, 404)
    registered = Client(committed).post("/register", {**SITI, "captcha-response": outside.captcha.solve()})
    assert registered.status_code == 201
    assert idle == [0, 0, 0, 0]
    assert admin.post("/videoplatform/video", {"video_id": "hdMaxres001"}, headers=key).json == created
