"""Stored articles: reads, and changes by administrators."""

from tests.articles.samples import NEW
from tests.helpers.factories import make_article


def test_reads_need_at_most_one_statement_besides_the_session(siti, statements):
    articles = [make_article() for _ in range(10)]
    for path in ("/articles/all", "/articles/search?title=artikel", f"/articles/{articles[0].id}", "/articles/saved"):
        siti.get(path)
        with statements.at_most(2):
            assert siti.get(path).status_code == 200


def test_html_content_is_sanitised_when_it_is_stored(admin):
    hostile = (
        '<p onclick="x()">a<script>alert(1)</script><a href="javascript:x">b</a><img src=x onerror=y></p><iframe src=z>'
    )
    article = admin.post("/articles", {**NEW, "content": hostile}).json or {}
    assert article["content"] == '<p>a<a rel="noopener noreferrer nofollow">b</a><img></p>'
    edited = admin.put(f"/articles/{article['id']}", {"content": "<h2>Judul</h2><style>x</style>"}).json or {}
    assert edited["content"] == "<h2>Judul</h2>"
