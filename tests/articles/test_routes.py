"""Routes of articles, in the order of `routes.py`."""

from io import BytesIO

from app.core.database.session import db
from app.kategori.models import Kategori
from tests.articles.samples import NEW, first
from tests.core.media import samples as pictures
from tests.helpers.client import assert_error
from tests.helpers.factories import make_article


def picture():
    return BytesIO(pictures.plain()), "foto.jpg"


class TestListLiveArticles:
    """GET /articles"""

    def test_articles_are_listed_without_a_login(self, client, outside):
        for path in ("/articles", "/articles/"):
            response = client.get(path)
            assert response.status_code == 200
            assert response.json is not None
            assert [row["url"] for row in response.json] == [
                outside.ministry.address(each) for each in outside.ministry.articles
            ]
        assert response.json[0] == {
            "title": "Mengenal Diabetes Sejak Dini",
            "url": first(outside),
            "image": outside.ministry.url + outside.ministry.articles[0].picture,
            "is_saved": False,
        }
        assert response.headers["X-Total-Count"] == "5"

    def test_is_paged(self, client, outside):
        response = client.get("/articles?page=2&per_page=2")
        assert response.json is not None
        assert [row["url"] for row in response.json] == [
            outside.ministry.address(each) for each in outside.ministry.articles[2:4]
        ]
        assert response.headers["X-Total-Count"] == "5"
        assert 'rel="next"' in response.headers["Link"]

    def test_the_list_needs_at_most_one_statement_besides_the_session(self, client, siti, outside, statements):
        siti.get("/articles")
        with statements.at_most(2):
            siti.get("/articles")
        with statements.at_most(0):
            client.get("/articles")


class TestGetLiveArticle:
    """GET /articles/detail"""

    def test_has_the_whole_text(self, client, outside):
        detail = client.get("/articles/detail", query_string={"url": first(outside)}).json
        assert detail is not None
        assert set(detail) == {"title", "url", "content", "image", "published_at", "is_saved"}
        assert detail["content"].startswith("<p><strong>Jakarta</strong>")
        assert detail["published_at"] == "2026-02-15T02:30:00Z"

    def test_a_page_that_the_site_does_not_have_is_404(self, client, outside):
        response = client.get("/articles/detail", query_string={"url": f"{outside.ministry.url}/tidak-ada"})
        assert_error(response, 404, "not_found")

    def test_a_wrong_token_is_refused_here_and_in_the_lists(self, client):
        stranger = client.with_token("not.a.token")
        for path in ("/articles", "/articles/all", "/articles/search?title=a", "/articles/detail?url=x"):
            assert_error(stranger.get(path), 401)


class TestListArticles:
    """GET /articles/all"""

    def test_lists_newest_first_and_paged(self, client):
        ids = [make_article().id for _ in range(5)]
        assert [row["id"] for row in client.get("/articles/all").json or []] == ids[::-1]
        response = client.get("/articles/all?page=2&per_page=2")
        assert [row["id"] for row in response.json or []] == [ids[2], ids[1]]
        assert response.headers["X-Total-Count"] == "5"


class TestSearchArticles:
    """GET /articles/search"""

    def test_a_part_of_a_title_is_found_and_special_characters_are_literal(self, client):
        for each in ("Bahaya GULA", "Garam", "Gula 100% Alami"):
            make_article(title=each)
        for title, titles in {
            "gula": ["Gula 100% Alami", "Bahaya GULA"], "100%": ["Gula 100% Alami"], "_": [], "\\": [], "zzz": [],
        }.items():  # fmt: skip
            response = client.get("/articles/search", query_string={"title": title})
            assert [row["title"] for row in response.json or []] == titles, title


class TestGetArticleByUrl:
    """GET /articles/url"""

    def test_an_article_is_returned_by_its_url(self, client):
        article = make_article()
        assert client.get("/articles/url", query_string={"url": f"{article.url}#a"}).json["id"] == article.id
        assert_error(client.get("/articles/url?url=https://contoh.id/tidak-ada"), 404, "not_found")

    def test_an_invalid_url_is_400(self, client):
        assert_error(client.get("/articles/url?url=javascript:alert(1)"), 400, field="url")


class TestCreateArticle:
    """POST /articles"""

    def test_a_created_article_can_be_read_by_everybody(self, client, admin):
        kategori = Kategori(nama_kategori="Gizi")
        db.session.add(kategori)
        db.session.flush()
        response = admin.post("/articles", {**NEW, "kategori_id": kategori.id})
        assert response.status_code == 201
        article = response.json or {}
        assert set(article) == {
            "id", "title", "url", "content", "kategori_id", "image", "is_saved", "created_at", "updated_at",
        }  # fmt: skip
        values = [article[name] for name in ("url", "kategori_id", "image")]
        assert values == ["https://contoh.id/gizi", kategori.id, None]
        assert client.get(f"/articles/{article['id']}").json == article
        assert client.get("/articles/url", query_string={"url": NEW["url"]}).json == article

    def test_a_url_can_be_stored_only_once(self, admin):
        assert admin.post("/articles", NEW).status_code == 201
        assert_error(admin.post("/articles", {**NEW, "url": "https://contoh.id/gizi"}), 409, "article_exists")
        assert admin.post("/articles", {"title": "Tanpa alamat"}).status_code == 201
        assert admin.post("/articles", {"title": "Juga tanpa"}).status_code == 201


class TestUpdateArticle:
    """PUT /articles/<article_id>"""

    def test_the_url_of_another_article_is_409(self, admin):
        ours, theirs = make_article(), make_article()
        assert_error(admin.put(f"/articles/{ours.id}", {"url": theirs.url}), 409, "article_exists")
