"""Saving articles: a toggle that stays right under double taps, and the list of what was saved."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from flask import Flask

from app.articles import service
from app.articles.models import SavedArticle
from app.core.database.session import db, unit_of_work
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_admin, make_article, make_user
from tests.helpers.statements import Statements

ONE = {"url": "https://contoh.id/satu", "title": "Satu"}
TWO = {"url": "https://contoh.id/dua", "title": "Dua"}


@pytest.fixture
def siti(client: Client) -> Client:
    return client.as_(make_user())


def test_a_save_toggles_with_every_tap(siti: Client) -> None:
    assert [siti.post("/articles/save", ONE).json for _ in range(3)] == [
        {"is_saved": True},
        {"is_saved": False},
        {"is_saved": True},
    ]


def test_saved_articles_come_latest_first_and_only_to_their_owner(client: Client, siti: Client) -> None:
    for each in (ONE, TWO):
        siti.post("/articles/save", each)
    rows = siti.get("/articles/saved").json or []
    assert [(row["title"], row["url"], row["is_saved"]) for row in rows] == [
        ("Dua", TWO["url"], True),
        ("Satu", ONE["url"], True),
    ]
    siti.post("/articles/save", TWO)
    assert [row["title"] for row in siti.get("/articles/saved").json or []] == ["Satu"]
    assert client.as_(make_user()).get("/articles/saved").json == []


def test_a_stored_article_is_saved_by_its_address(siti: Client, client: Client) -> None:
    article = make_article(image="a" * 32 + ".webp")
    siti.post("/articles/save", {"url": f"{article.url}?utm_medium=x", "title": "Judul"})
    (row,) = siti.get("/articles/saved").json or []
    assert (row["id"], row["image"]) == (article.id, f"/media/{article.image}")
    for path in (f"/articles/{article.id}", f"/articles/url?url={article.url}"):
        assert (siti.get(path).json or {})["is_saved"] is True
        assert (client.get(path).json or {})["is_saved"] is False
    for path in ("/articles/all", "/articles/search?title=artikel"):
        assert [row["is_saved"] for row in siti.get(path).json or []] == [True]


def test_what_an_administrator_saved_before_is_saved_in_the_new_record_too(client: Client) -> None:
    admin = client.as_(make_admin())
    assert (admin.post("/articles", {"title": "Baru", "url": TWO["url"]}).json or {})["is_saved"] is False
    admin.post("/articles/save", ONE)
    created = admin.post("/articles", {"title": "Satu", "url": ONE["url"]}).json or {}
    assert created["is_saved"] is True
    assert admin.get(f"/articles/{created['id']}").json == created


def test_a_save_is_one_statement_beside_the_session(siti: Client, statements: Statements) -> None:
    siti.post("/articles/save", ONE)
    with statements.at_most(2):
        siti.post("/articles/save", ONE)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"url": "javascript:alert(1)"}, "url"), ({"url": ""}, "url"), ({"url": None}, "url"), ({"title": ""}, "title"),
     ({"title": "x" * 301}, "title")],
)  # fmt: skip
def test_bad_input_is_400(siti: Client, change: dict[str, str | None], field: str) -> None:
    assert_error(siti.post("/articles/save", {**ONE, **change}), 400, field=field)


def test_saving_needs_a_login(client: Client) -> None:
    assert_error(client.post("/articles/save", ONE), 401)
    assert_error(client.get("/articles/saved"), 401)


def test_a_storm_of_taps_leaves_the_right_state(committed: Flask) -> None:
    with unit_of_work():
        user_id = make_user().id

    def tap(_: int) -> bool:
        with committed.app_context(), unit_of_work():
            return service.toggle_save(user_id, ONE)

    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(tap, range(101)))
    assert (states.count(True), states.count(False)) == (51, 50)
    assert db.session.scalars(sa.select(SavedArticle.saved)).all() == [True]


def test_nobody_fills_the_table_with_made_up_addresses(client: Client, siti: Client, limited: None) -> None:
    for number in range(120):
        assert siti.post("/articles/save", {**ONE, "url": f"{ONE['url']}/{number}"}).status_code == 200
    assert_error(siti.post("/articles/save", ONE), 429, "too_many_requests")
    assert client.as_(make_user()).post("/articles/save", ONE).status_code == 200
