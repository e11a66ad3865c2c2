"""Tests of the size of responses to list requests without paging parameters."""

from html.parser import HTMLParser

import sqlalchemy as sa

from app.articles.models import Article
from app.core.database.session import db
from app.dokter.models import Dokter
from app.forum.models import Post
from app.identity.models import User
from app.komunitas.models import Komunitas
from tests.forum.posts import category_id
from tests.helpers.factories import make_admin, make_user

#: Text of a post, longer than a list shows.
LONG = "panjang " * 400

#: An article that a cut at 2,000 characters would end inside an open table, and inside a tag.
LINK = f"<a href='https://contoh.id/{'a' * 300}'>tautan</a>"
HTML = f"<table><tbody><tr><td><p>{'isi ' * 485}<strong>tebal {LINK}</strong></p>"


def fill_forum():
    author = make_user().id
    thread = {"user_id": author, "category_id": category_id(), "title": "Judul", "content": LONG}
    ids = list(db.session.scalars(sa.insert(Post).returning(Post.id), [{**thread} for _ in range(101)]))
    db.session.execute(
        sa.insert(Post), [{"root_id": ids[0], "user_id": author, "content": LONG, "depth": 1} for _ in range(101)]
    )


def fill_content():
    db.session.execute(sa.insert(Article), [{"title": f"Artikel {n}", "content": HTML} for n in range(101)])
    db.session.execute(sa.insert(Komunitas), [{"nama": f"Grup {n}", "deskripsi": LONG} for n in range(101)])


def test_a_public_list_without_a_page_has_100_rows_and_cuts_long_texts(client):
    fill_forum()
    fill_content()
    for address in ("/forum/threads", "/articles/all", "/articles/search?title=artikel", "/komunitas"):
        response = client.get(address)
        assert len(response.json) == 100, address
        assert "Link" not in response.headers
        for row in response.json:
            text = row.get("content") or row["deskripsi"]
            assert 1500 < len(text) <= 2200, address  # closing tags come after the cut
        joint = "&" if "?" in address else "?"
        (whole,) = client.get(f"{address}{joint}page=1&per_page=1").json
        assert len(whole.get("content") or whole["deskripsi"]) > 2200, address


def test_the_lists_of_a_person_and_of_moderators_have_100_rows_and_cut_long_texts(client):
    fill_forum()
    author = client.as_(
        db.session.scalars(sa.select(User).distinct().join(Post, Post.user_id == User.id)).unique().one()
    )
    replies = author.get("/forum/replies?mine=true").json
    assert (len(replies), {len(row["content"]) for row in replies}) == (100, {2000})
    reporter, moderator = client.as_(make_user()), client.as_(make_admin())
    thread_id = client.get("/forum/threads?page=1&per_page=1").json[0]["id"]
    assert reporter.post(f"/forum/threads/{thread_id}/lapor", {"reason": "spam"}).status_code == 201
    (case,) = moderator.get("/admins/moderasi").json
    assert len(case["content"]) == 2000
    assert len(client.get(f"/forum/threads/{thread_id}").json["content"]) == len(LONG)


def test_a_cut_article_closes_each_tag(client):
    fill_content()
    content = client.get("/articles/all").json[0]["content"]
    open_tags = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attrs):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Reader().feed(content)
    assert open_tags == []
    assert content.endswith("</table>")
    assert "tautan" not in content


def test_other_lists_without_a_page_have_1000_rows(client):
    db.session.execute(sa.insert(Dokter), [{"nama": f"dr. {n}"} for n in range(1001)])
    assert len(client.get("/dokter").json) == 1000
