"""Searches find straight and curly quotation marks alike."""

from app.core.database.session import db
from app.dokter.models import Dokter
from app.komunitas.models import Komunitas
from tests.faskes.places import make_faskes
from tests.forum.posts import write_reply, write_thread
from tests.helpers.factories import make_article, make_user, make_video

CURLY, STRAIGHT = "Qur’an “Sehat”", 'Qur\'an "Sehat"'
PATHS = (
    *("/komunitas", "/articles/all", "/articles/search", "/videoplatform/videos", "/dokter", "/faskes"),
    *("/faskes/search", "/forum/threads", "/forum/replies", "/admins/users", "/patients"),
)
#: Routes whose search parameter is not `q`.
PARAMETERS = {"/articles/search": "title", "/faskes/search": "keyword"}


def test_straight_and_curly_quotation_marks_find_each_other(client, siti, admin):
    for n, stored in enumerate((CURLY, STRAIGHT)):
        make_user(nama_ktp=stored)
        make_article(title=stored)
        make_video(title=stored)
        make_faskes(id=str(n), nama=stored)
        db.session.add_all([Komunitas(nama=stored), Dokter(nama=stored)])
        db.session.commit()
        write_reply(siti, write_thread(siti, title=stored)["id"], content=stored)
    for path in PATHS:
        caller = {"/admins/users": admin, "/forum/replies": siti, "/patients": siti}.get(path, client)
        for sent in (CURLY, STRAIGHT, "r'an"):
            query = {PARAMETERS.get(path, "q"): sent, **({"mine": "true"} if path == "/forum/replies" else {})}
            found = caller.get(path, query_string=query).ok()
            rows = found["results"] if path.startswith("/faskes") else found
            values = {value for row in rows for value in row.values() if isinstance(value, str)}
            assert {CURLY, STRAIGHT} <= values, (path, sent)


def test_a_quotation_mark_is_one_character(client):
    make_article(title=CURLY)
    for sent in ("Quran", "Qur''an", "Sehat''"):
        assert client.get("/articles/all", query_string={"q": sent}).json == [], sent
