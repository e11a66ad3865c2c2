"""Saving articles: a toggle that handles double taps, and the list of saved articles."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa
from flask import Flask

from app.articles import service
from app.articles.models import SavedArticle
from app.core.database.session import db, unit_of_work
from tests.articles.samples import ONE, TWO
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_article, make_user


def test_a_stored_article_is_saved_by_its_url(siti: Client, client: Client) -> None:
    article = make_article(image="a" * 32 + ".webp")
    siti.post("/articles/save", {"url": f"{article.url}?utm_medium=x", "title": "Judul"})
    (row,) = siti.get("/articles/saved").json or []
    assert (row["id"], row["image"]) == (article.id, f"/media/{article.image}")
    for path in (f"/articles/{article.id}", f"/articles/url?url={article.url}"):
        assert (siti.get(path).json or {})["is_saved"] is True
        assert (client.get(path).json or {})["is_saved"] is False
    for path in ("/articles/all", "/articles/search?title=artikel"):
        assert [row["is_saved"] for row in siti.get(path).json or []] == [True]


def test_a_new_record_of_an_already_saved_url_is_marked_as_saved(admin: Client) -> None:
    assert (admin.post("/articles", {"title": "Baru", "url": TWO["url"]}).json or {})["is_saved"] is False
    admin.post("/articles/save", ONE)
    created = admin.post("/articles", {"title": "Satu", "url": ONE["url"]}).json or {}
    assert created["is_saved"] is True
    assert admin.get(f"/articles/{created['id']}").json == created


def test_concurrent_toggles_of_a_save_leave_the_correct_state(committed: Flask) -> None:
    with unit_of_work():
        user_id = make_user().id

    def tap(_: int) -> bool:
        with committed.app_context(), unit_of_work():
            return service.toggle_save(user_id, ONE)

    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(tap, range(101)))
    assert (states.count(True), states.count(False)) == (51, 50)
    assert db.session.scalars(sa.select(SavedArticle.saved)).all() == [True]


def test_saving_articles_is_rate_limited_per_person(client: Client, siti: Client, limited: None) -> None:
    for number in range(120):
        assert siti.post("/articles/save", {**ONE, "url": f"{ONE['url']}/{number}"}).status_code == 200
    assert_error(siti.post("/articles/save", ONE), 429, "too_many_requests")
    assert client.as_(make_user()).post("/articles/save", ONE).status_code == 200
