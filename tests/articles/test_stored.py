"""Our own articles: reading, and what administrators do with them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from app.articles.models import Article
from app.core.database.session import db
from app.core.lib import clock
from app.kategori.models import Kategori
from app.notifications.models import Broadcast
from tests.core.media import samples as pictures
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_article, make_user
from tests.helpers.statements import Statements

NEW = {"title": "Gizi Anak", "url": "https://contoh.id/gizi?utm_source=x#a", "content": "<p>Isi</p>"}


def picture() -> tuple[BytesIO, str]:
    return BytesIO(pictures.plain()), "foto.jpg"


def test_the_record_is_the_contracts(client: Client, admin: Client) -> None:
    kategori = Kategori(nama_kategori="Gizi")
    db.session.add(kategori)
    db.session.flush()
    response = admin.post("/articles", {**NEW, "kategori_id": kategori.id})
    assert response.status_code == 201
    article = response.json or {}
    assert set(article) == {
        "id", "title", "url", "content", "kategori_id", "image", "is_saved", "created_at", "updated_at",
    }  # fmt: skip
    assert (article["url"], article["kategori_id"], article["image"]) == ("https://contoh.id/gizi", kategori.id, None)
    assert client.get(f"/articles/{article['id']}").json == article
    assert client.get("/articles/url", query_string={"url": NEW["url"]}).json == article


def test_the_stored_list_is_newest_first_and_paged(client: Client) -> None:
    ids = [make_article().id for _ in range(5)]
    assert [row["id"] for row in client.get("/articles/all").json or []] == ids[::-1]
    response = client.get("/articles/all?page=2&per_page=2")
    assert [row["id"] for row in response.json or []] == [ids[2], ids[1]]
    assert response.headers["X-Total-Count"] == "5"


def test_lists_and_one_cost_one_statement_beside_the_session(client: Client, statements: Statements) -> None:
    siti = client.as_(make_user())
    articles = [make_article() for _ in range(10)]
    for path in ("/articles/all", "/articles/search?title=artikel", f"/articles/{articles[0].id}", "/articles/saved"):
        siti.get(path)
        with statements.at_most(2):
            assert siti.get(path).status_code == 200


@pytest.mark.parametrize(
    ("title", "titles"),
    [("gula", ["Gula 100% Alami", "Bahaya GULA"]), ("100%", ["Gula 100% Alami"]), ("_", []), ("\\", []), ("zzz", [])],
)
def test_search_finds_parts_of_titles_and_takes_signs_literally(client: Client, title: str, titles: list[str]) -> None:
    for each in ("Bahaya GULA", "Garam", "Gula 100% Alami"):
        make_article(title=each)
    response = client.get("/articles/search", query_string={"title": title})
    assert [row["title"] for row in response.json or []] == titles


def test_search_needs_a_title(client: Client) -> None:
    assert_error(client.get("/articles/search"), 400, field="title")
    assert_error(client.get("/articles/search?title=%20"), 400, field="title")


def test_an_unknown_article_is_404(client: Client, admin: Client) -> None:
    assert_error(client.get("/articles/999999"), 404)
    assert_error(client.get(f"/articles/{10**25}"), 404)
    assert_error(client.get("/articles/url?url=https://contoh.id/tidak-ada"), 404)
    assert_error(admin.put("/articles/999999", {"title": "x"}), 404)
    assert_error(admin.delete("/articles/999999"), 404)


def test_an_address_that_is_none_is_400(client: Client) -> None:
    assert_error(client.get("/articles/url?url=javascript:alert(1)"), 400, field="url")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": None}, "title"),
        ({"title": "  "}, "title"),
        ({"title": "x" * 301}, "title"),
        ({"url": "javascript:alert(1)"}, "url"),
        ({"url": "https://a@b.id/"}, "url"),
        ({"url": "https://contoh.id/" + "é" * 1000}, "url"),
        ({"content": "x" * 200_001}, "content"),
        ({"content": 5}, "content"),
        ({"kategori_id": 999999}, "kategori_id"),
        ({"kategori_id": 2**63}, "kategori_id"),
        ({"image": "bukan berkas"}, "image"),
    ],
)
def test_bad_input_is_400_and_names_its_field(admin: Client, change: dict[str, Any], field: str) -> None:
    assert_error(admin.post("/articles", {**NEW, **change}), 400, field=field)
    article = make_article()
    assert_error(admin.put(f"/articles/{article.id}", change), 400, field=field)


def test_content_is_made_safe_when_it_is_stored(admin: Client) -> None:
    hostile = (
        '<p onclick="x()">a<script>alert(1)</script><a href="javascript:x">b</a><img src=x onerror=y></p><iframe src=z>'
    )
    article = admin.post("/articles", {**NEW, "content": hostile}).json or {}
    assert article["content"] == '<p>a<a rel="noopener noreferrer nofollow">b</a><img></p>'
    edited = admin.put(f"/articles/{article['id']}", {"content": "<h2>Judul</h2><style>x</style>"}).json or {}
    assert edited["content"] == "<h2>Judul</h2>"


def test_an_address_is_stored_once(admin: Client) -> None:
    assert admin.post("/articles", NEW).status_code == 201
    assert_error(admin.post("/articles", {**NEW, "url": "https://contoh.id/gizi"}), 409, "article_exists")
    assert admin.post("/articles", {"title": "Tanpa alamat"}).status_code == 201
    assert admin.post("/articles", {"title": "Juga tanpa"}).status_code == 201


def test_a_form_with_a_picture_does_the_same(app: Flask, client: Client, admin: Client) -> None:
    form = {**NEW, "kategori_id": "", "image": picture()}
    article = admin.post("/articles", data=form).json or {}
    assert article["image"].startswith("/media/")
    assert client.get(article["image"]).mimetype == "image/webp"

    replaced = admin.put(f"/articles/{article['id']}", data={"image": picture()}).json or {}
    assert replaced["title"] == "Gizi Anak"
    assert replaced["image"] != article["image"]
    assert client.get(article["image"]).status_code == 404

    removed = admin.put(f"/articles/{article['id']}", {"image": None}).json or {}
    assert removed["image"] is None
    assert client.get(replaced["image"]).status_code == 404


def test_a_deleted_article_takes_its_picture_along(client: Client, admin: Client) -> None:
    article = admin.post("/articles", data={**NEW, "image": picture()}).json or {}
    assert "message" in (admin.delete(f"/articles/{article['id']}").json or {})
    assert client.get(article["image"]).status_code == 404
    assert_error(client.get(f"/articles/{article['id']}"), 404)


def test_what_is_no_picture_is_415_and_leaves_nothing(admin: Client) -> None:
    response = admin.post("/articles", data={**NEW, "image": (BytesIO(b"<svg/>"), "x.jpg")})
    assert_error(response, 415)
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Article)) == 0


@pytest.mark.parametrize(("method", "path"), [("POST", "/articles"), ("PUT", "/articles/1"), ("DELETE", "/articles/1")])
def test_only_administrators_write(client: Client, method: str, path: str) -> None:
    assert_error(client.open(method, path, NEW), 401)
    assert_error(client.as_(make_user()).open(method, path, NEW), 403)


def test_an_expired_token_is_refused_where_it_is_optional(client: Client) -> None:
    stranger = client.with_token("not.a.token")
    for path in ("/articles", "/articles/all", "/articles/search?title=a", "/articles/detail?url=x"):
        assert_error(stranger.get(path), 401)


def test_a_new_article_is_announced_after_a_while_unless_it_is_deleted_before(admin: Client) -> None:
    before = clock.now()
    article = admin.post("/articles", NEW).json or {}
    row = db.session.scalars(sa.select(Broadcast)).one()
    assert (row.kind, row.subject, row.text) == ("article", f"article:{article['id']}", "Artikel baru: Gizi Anak")
    assert (row.preference_tag, row.except_user_id) == (None, None)
    assert 29 <= (row.starts_at - before).total_seconds() <= 305
    admin.delete(f"/articles/{article['id']}")
    assert db.session.scalars(sa.select(Broadcast)).all() == []


def test_an_article_is_announced_by_the_title_that_it_has_then(admin: Client) -> None:
    article = admin.post("/articles", NEW).json or {}
    for change in ({"title": "Gizi Bayi dan Anak"}, {"content": "<p>Lain.</p>"}):
        assert admin.put(f"/articles/{article['id']}", change).status_code == 200
    assert db.session.scalars(sa.select(Broadcast.text)).one() == "Artikel baru: Gizi Bayi dan Anak"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Gizi klaim.help", "Artikel baru: Gizi"),
        ("Gizi 0812 3456 7890", "Artikel baru: Gizi"),
        ("evil.рф", "Artikel baru"),
        ("Gizi, oleh dr. Ani, Sp.GK", "Artikel baru: Gizi, oleh dr. Ani, Sp.GK"),
    ],
)
def test_no_address_and_no_phone_number_leaves_in_an_announcement(admin: Client, title: str, text: str) -> None:
    assert admin.post("/articles", {**NEW, "title": title}).status_code == 201
    assert db.session.scalars(sa.select(Broadcast.text)).one() == text


def test_a_category_in_use_cannot_be_deleted(admin: Client) -> None:
    kategori = Kategori(nama_kategori="Gizi")
    db.session.add(kategori)
    db.session.flush()
    make_article(kategori_id=kategori.id)
    assert_error(admin.delete(f"/kategori/{kategori.id}"), 409)
