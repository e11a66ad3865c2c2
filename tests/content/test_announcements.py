"""Broadcasts about new articles and videos."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.models import Broadcast
from tests.articles.samples import NEW
from tests.notifications.deliveries import announced
from tests.routes.requests import undone
from tests.videos.samples import SAVE

each_kind = pytest.mark.parametrize(
    ("path", "new", "kind"), [("/articles", NEW, "article"), ("/videoplatform/video", SAVE, "video")]
)
NAMES = {"article": "Artikel", "video": "Video"}


@each_kind
def test_a_new_record_is_announced_later_unless_it_is_deleted(admin, path, new, kind):
    before = local_time.now()
    record_id = admin.post(path, {**new, "title": "Gizi"}).json["id"]
    row = db.session.scalars(sa.select(Broadcast)).one()
    assert (row.kind, row.about_id, announced(row)) == (kind, record_id, f"{NAMES[kind]} baru: Gizi")
    assert (row.preference_tag, row.except_user_id) == (None, None)
    assert 29 <= (row.starts_at - before).total_seconds() <= 305
    admin.put(f"{path}/{record_id}", {"title": "Gizi Bayi"})
    assert announced(row) == f"{NAMES[kind]} baru: Gizi Bayi"
    admin.delete(f"{path}/{record_id}")
    assert db.session.scalars(sa.select(Broadcast)).all() == []


def test_announcements_have_broken_links_and_no_phone_numbers(admin, subtests):
    for title, said in {
        "Senam klaim.help": "Senam klaim. help",
        "Senam 0812 3456 7890": "Senam",
        "Senam nomor 123456789": "Senam nomor 123456789",
        "m" * 90: f"{'m' * 79}…",
        "evil.рф": "evil. рф",
        "Gizi, oleh dr. Ani, Sp.GK": "Gizi, oleh dr. Ani, Sp. GK",
    }.items():
        with subtests.test(title), undone():
            assert admin.post("/articles", {**NEW, "title": title}).status_code == 201
            assert announced(db.session.scalars(sa.select(Broadcast)).one()) == f"Artikel baru: {said}"
