"""Routes of articles. `tests/content` has the rules of all sections."""

from tests.articles.samples import first
from tests.helpers.client import assert_error
from tests.helpers.factories import make_article


def test_live_articles_are_listed_in_pages_without_a_login_and_without_a_statement(client, outside, statements):
    with statements.at_most(0):
        response = client.get("/articles")
    addresses = [outside.ministry.address(each) for each in outside.ministry.articles]
    assert [row["url"] for row in response.json] == addresses
    assert response.json[0] == {
        "title": "Mengenal Diabetes Sejak Dini", "url": first(outside), "is_saved": False,
        "image": outside.ministry.url + outside.ministry.articles[0].picture,
    }  # fmt: skip
    assert response.headers["X-Total-Count"] == "5"
    response = client.get("/articles?page=2&per_page=2")
    assert [row["url"] for row in response.json] == addresses[2:4]
    assert response.headers["X-Total-Count"] == "5"
    assert 'rel="next"' in response.headers["Link"]


def test_a_live_article_has_the_whole_text(client, outside):
    detail = client.get("/articles/detail", query_string={"url": first(outside)}).json
    assert detail["content"].startswith("<p><strong>Jakarta</strong>")
    assert detail["published_at"] == "2026-02-15T02:30:00Z"
    response = client.get("/articles/detail", query_string={"url": f"{outside.ministry.url}/tidak-ada"})
    assert_error(response, 404, "not_found")


def test_a_part_of_a_title_is_found_and_special_characters_are_literal(client):
    for each in ("Bahaya GULA", "Garam", "Gula 100% Alami"):
        make_article(title=each)
    for title, titles in {
        "gula": ["Gula 100% Alami", "Bahaya GULA"], "100%": ["Gula 100% Alami"], "_": [], "\\": [], "zzz": [],
    }.items():  # fmt: skip
        response = client.get("/articles/search", query_string={"title": title})
        assert [row["title"] for row in response.json] == titles, title


def test_an_article_is_found_by_its_url(client):
    article = make_article()
    assert client.get("/articles/url", query_string={"url": f"{article.url}#a"}).json["id"] == article.id
    assert_error(client.get("/articles/url?url=https://contoh.id/tidak-ada"), 404, "not_found")
    assert_error(client.get("/articles/url?url=javascript:alert(1)"), 400, field="url")


def test_html_content_is_sanitised_when_it_is_stored(admin):
    hostile = (
        '<p onclick="x()">a<script>alert(1)</script><a href="javascript:x">b</a><img src=x onerror=y></p><iframe src=z>'
    )
    article = admin.post("/articles", {"title": "Gizi", "content": hostile}).json
    assert article["content"] == '<p>a<a rel="noopener noreferrer nofollow">b</a><img></p>'
    edited = admin.put(f"/articles/{article['id']}", {"content": "<h2>Judul</h2><style>x</style>"}).json
    assert edited["content"] == "<h2>Judul</h2>"
