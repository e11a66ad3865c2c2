"""Stored articles: reads, and changes by administrators."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib import local_time
from app.notifications.models import Broadcast
from tests.articles.samples import NEW
from tests.helpers.client import Client
from tests.helpers.factories import make_article
from tests.helpers.statements import Statements
from tests.notifications.deliveries import announced


def test_reads_need_at_most_one_statement_besides_the_session(siti: Client, statements: Statements) -> None:
    articles = [make_article() for _ in range(10)]
    for path in ("/articles/all", "/articles/search?title=artikel", f"/articles/{articles[0].id}", "/articles/saved"):
        siti.get(path)
        with statements.at_most(2):
            assert siti.get(path).status_code == 200


def test_html_content_is_sanitised_when_it_is_stored(admin: Client) -> None:
    hostile = (
        '<p onclick="x()">a<script>alert(1)</script><a href="javascript:x">b</a><img src=x onerror=y></p><iframe src=z>'
    )
    article = admin.post("/articles", {**NEW, "content": hostile}).json or {}
    assert article["content"] == '<p>a<a rel="noopener noreferrer nofollow">b</a><img></p>'
    edited = admin.put(f"/articles/{article['id']}", {"content": "<h2>Judul</h2><style>x</style>"}).json or {}
    assert edited["content"] == "<h2>Judul</h2>"


def test_a_new_article_is_announced_later_unless_it_is_deleted(admin: Client) -> None:
    before = local_time.now()
    article = admin.post("/articles", NEW).json or {}
    row = db.session.scalars(sa.select(Broadcast)).one()
    assert (row.kind, row.about_id, announced(row)) == ("article", article["id"], "Artikel baru: Gizi Anak")
    assert (row.preference_tag, row.except_user_id) == (None, None)
    assert 29 <= (row.starts_at - before).total_seconds() <= 305
    admin.delete(f"/articles/{article['id']}")
    assert db.session.scalars(sa.select(Broadcast)).all() == []


def test_an_announcement_has_the_current_title_of_the_article(admin: Client) -> None:
    article = admin.post("/articles", NEW).json or {}
    for change in ({"title": "Gizi Bayi dan Anak"}, {"content": "<p>Lain.</p>"}):
        assert admin.put(f"/articles/{article['id']}", change).status_code == 200
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == "Artikel baru: Gizi Bayi dan Anak"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Gizi klaim.help", "Artikel baru: Gizi klaim. help"),
        ("Gizi 0812 3456 7890", "Artikel baru: Gizi"),
        ("Gizi nomor 123456789", "Artikel baru: Gizi nomor 123456789"),
        ("m" * 90, f"Artikel baru: {'m' * 79}…"),
        ("evil.рф", "Artikel baru: evil. рф"),
        ("Gizi, oleh dr. Ani, Sp.GK", "Artikel baru: Gizi, oleh dr. Ani, Sp. GK"),
    ],
)
def test_announcements_have_broken_links_and_no_phone_numbers(admin: Client, title: str, text: str) -> None:
    assert admin.post("/articles", {**NEW, "title": title}).status_code == 201
    assert announced(db.session.scalars(sa.select(Broadcast)).one()) == text
