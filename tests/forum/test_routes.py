"""The routes of the forum, in the order of `routes.py`."""

from io import BytesIO

import pytest
import sqlalchemy as sa
from limits import parse

from app.core.database.session import db
from app.forum.models import ForumCategory, Mark, Post, Report
from tests.core.media.samples import HOSTILE, plain
from tests.forum.posts import cases, category_id, moderate, read_thread, write_reply, write_thread
from tests.helpers.client import assert_error

#: Request body with all required fields of all routes below.
BODY = {"title": "x", "content": "x", "reason": "spam", "note": "x"}

REASONS = ("misinformation", "spam", "hate", "privacy", "self_harm", "other")


@pytest.fixture
def thread_id(siti):
    return int(write_thread(siti)["id"])


def write_both(writer, **data):
    """Create a thread with a reply. Return both ids by the names of the path parameters."""
    thread_id = write_thread(writer, **data)["id"]
    return {"thread_id": thread_id, "reply_id": write_reply(writer, thread_id, **data)["id"]}


def path_of(test, ids):
    """Return the path in the docstring of a test class, with these ids in place of the path's parameters."""
    return str(test.__doc__).split()[1].replace("<", "{").replace(">", "}").format(**ids)


class OwnersOnly:
    """Tests of a route that only the author of a post may call."""

    def test_a_stranger_and_an_admin_are_refused(self, client, siti, budi, admin):
        ids = write_both(siti)
        before = read_thread(client, ids["thread_id"])
        for other in (budi, admin):
            assert_error(other.open(str(self.__doc__).split()[0], path_of(self, ids), BODY), 403, "not_the_owner")
        assert read_thread(client, ids["thread_id"]) == before


class Toggles:
    """Tests of a route that toggles a like or a save."""

    flag: str
    count: str

    def test_the_flag_is_toggled_and_counted(self, client, siti, budi):
        ids = write_both(siti)
        path = path_of(self, ids)

        def read(reader):
            thread = read_thread(reader, ids["thread_id"])
            return dict(thread["replies"][0]) if "/replies/" in path else thread

        readers = (client, budi, siti)
        assert budi.post(path).json == {self.flag: True}
        assert siti.post(f"{path}/").json == {self.flag: True}
        assert [read(reader)[self.flag] for reader in readers] == [False, True, True]
        assert read(client)[self.count] == 2
        assert budi.post(path).json == {self.flag: False}
        assert [read(reader)[self.flag] for reader in readers] == [False, False, True]
        assert read(client)[self.count] == 1


class Reports:
    """Tests of a route that reports a post to moderators."""

    def test_a_first_report_is_201_and_a_repeated_report_is_200(self, siti, budi):
        for reason in REASONS:
            path = path_of(self, write_both(siti))
            first = budi.post(path, {"reason": reason, "note": "Lihat."})
            assert (first.status_code, first.json["reason"], first.json["note"]) == (201, reason, "Lihat.")
            again = budi.post(path, {"reason": "other"})
            assert (again.status_code, again.json) == (200, first.json)
        assert db.session.scalar(sa.select(sa.func.count(Report.id))) == len(REASONS)

    def test_a_bad_report_is_400(self, siti, budi):
        path = path_of(self, write_both(siti))
        for body, field in (
            ({}, "reason"), ({"reason": "bosan"}, "reason"), ({"reason": "spam", "note": "x" * 501}, "note"),
            ({"reason": None}, "reason"),
        ):  # fmt: skip
            assert_error(budi.post(path, body), 400, "validation_error", field)

    def test_a_report_of_an_own_post_is_409(self, siti):
        assert_error(siti.post(path_of(self, write_both(siti)), BODY), 409, "own_post")


class Appeals:
    """Tests of a route with which an author appeals against the hiding of a post."""

    def test_an_author_appeals_against_a_hidden_post(self, siti, budi, admin):
        ids = write_both(siti)
        banding = path_of(self, ids)
        name = "reply_id" if "/replies/" in banding else "thread_id"
        post = {name: ids[name]}
        assert_error(siti.post(banding, {"note": "Mengapa?"}), 409, "not_hidden")
        case = moderate(admin, "hide", **post)
        assert_error(budi.post(banding, {"note": "Mengapa?"}), 403, "not_the_owner")
        assert_error(siti.post(banding, {"note": ""}), 400, "validation_error", "note")
        first = siti.post(banding, {"note": "Ini bukan iklan."})
        assert (first.status_code, first.json) == (201, {"appeal": "Ini bukan iklan."})
        assert siti.post(banding, {"note": "Sungguh."}).status_code == 200
        (seen,) = [each for each in cases(admin) if each["id"] == case["id"]]
        assert (seen["appeal"], seen["state"], seen["hidden_by"]) == ("Sungguh.", "open", "moderator")
        waiting = "/admins/moderasi?banding=true"
        assert [each["id"] for each in admin.get(waiting).json] == [case["id"]]
        assert case["id"] not in [each["id"] for each in admin.get("/admins/moderasi?banding=false").json]
        moderate(admin, "hide", **post)
        assert admin.get(waiting).json == []
        assert siti.post(banding, {"note": "Sekali lagi."}).status_code == 201
        moderate(admin, "keep", **post)
        assert_error(siti.post(banding, {"note": "Lagi?"}), 409, "not_hidden")


class Blocks:
    """Tests of a route that blocks the author of a post."""

    def test_the_response_says_that_the_author_is_blocked(self, siti, budi):
        response = budi.post(path_of(self, write_both(siti)))
        assert (response.status_code, response.json) == (200, {"is_blocked": True})

    def test_a_deleted_reply_and_a_block_of_an_own_post_are_refused(self, siti, budi):
        stub = write_both(budi)
        write_reply(siti, stub["thread_id"], parent_id=stub["reply_id"])
        budi.delete(f"/forum/replies/{stub['reply_id']}")
        if "/replies/" in path_of(self, stub):
            assert_error(siti.post(path_of(self, stub)), 404, "not_found")
        for use_pseudonym in (True, False):
            own = path_of(self, write_both(siti, use_pseudonym=use_pseudonym))
            assert_error(siti.post(own), 409, "own_post")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("threads?page=0", "page"), ("threads?per_page=101", "per_page"), ("threads?category_id=x", "category_id"),
        ("threads?category_id=99999999999999999999", "category_id"), ("threads?saved=mungkin", "saved"),
        ("threads/1?replies=perhaps", "replies"), ("replies?page=0", "page"), ("replies?saved=mungkin", "saved"),
        (f"replies?q={'x' * 101}", "q"), ("blokir?page=0", "page"),
    ],
)  # fmt: skip
def test_a_bad_query_is_400(siti, path, field):
    assert_error(siti.get(f"/forum/{path}"), 400, "validation_error", field)


class TestListCategories:
    """GET /forum/categories"""

    def test_seeded_categories_have_their_preference_tags(self, client):
        tags = {row["name"]: row["preference_tag"] for row in client.get("/forum/categories").json}
        assert tags == {
            "Umum": None, "Medis": "medical", "Kesehatan Mental": "mental_health", "Islam": "islam",
            "Kristen": "kristen", "Katolik": "katolik", "Hindu": "hindu", "Buddha": "buddha", "Konghucu": "konghucu",
            "Kepercayaan Lain": "other_belief",
        }  # fmt: skip


class TestListThreads:
    """GET /forum/threads"""

    def test_lists_newest_first_without_replies(self, client, siti, budi):
        written = [write_thread(siti) for _ in range(3)]
        write_reply(budi, written[0]["id"])
        rows = client.get("/forum/threads").json
        assert [row["id"] for row in rows] == [thread["id"] for thread in reversed(written)]
        whole = read_thread(client, written[0]["id"])
        del whole["replies"]
        assert rows[-1] == whole
        assert rows[-1]["replies_count"] == 1

    @pytest.mark.parametrize("query", ["?saved=true", "?mine=true"])
    def test_saved_and_mine_need_a_token(self, client, query):
        assert_error(client.get(f"/forum/threads{query}"), 401, "unauthorized")


class TestGetThread:
    """GET /forum/threads/<thread_id>"""

    def test_a_thread_is_readable_without_a_token(self, client, siti):
        written = write_thread(siti)
        read = read_thread(client, written["id"])
        assert read == {**written, "is_owner": False}

    def test_a_wrong_token_is_refused_here_and_in_the_lists(self, client, siti):
        thread = write_thread(siti)
        for path in ("/forum/categories", "/forum/threads", f"/forum/threads/{thread['id']}"):
            assert_error(client.with_token("x.y.z").get(path), 401, "invalid_token")

    def test_a_thread_of_a_deleted_account_stays_without_a_name(self, client, siti):
        thread = write_thread(siti)
        db.session.execute(sa.text("DELETE FROM users WHERE nama_ktp = 'Siti Aminah'"))
        assert read_thread(client, thread["id"])["author"] == {"id": None, "name": "Akun dihapus", "image": None}


class TestCreateThread:
    """POST /forum/threads"""

    def test_returns_the_record(self, siti):
        thread = write_thread(siti, title="  Menu  ", content="Nasi?\n\nAtau roti?")
        assert thread["author"] == {"id": thread["author"]["id"], "name": "Siti Aminah", "image": None}
        assert isinstance(thread["author"]["id"], int)
        assert thread["category"] == {"id": category_id(), "name": "Medis"}
        assert thread["created_at"].endswith("Z")
        expected = {
            "title": "Menu", "content": "Nasi?\n\nAtau roti?", "image": None, "use_pseudonym": False, "is_owner": True,
            "likes_count": 0, "saves_count": 0, "replies_count": 0, "replies": [],
        }  # fmt: skip
        assert {name: thread[name] for name in expected} == expected

    def test_takes_a_picture_as_multipart(self, client, siti):
        form = {
            "category_id": str(category_id()), "title": "Foto", "content": "Lihat", "use_pseudonym": "true",
            "image": (BytesIO(plain("JPEG", (2000, 1000))), "IMG_Siti_Aminah.jpg"),
        }  # fmt: skip
        thread = siti.open("POST", "/forum/threads", data=form, content_type="multipart/form-data").json
        assert thread["use_pseudonym"] is True
        assert thread["image"].startswith("/media/")
        assert client.get(thread["image"]).headers["Content-Type"] == "image/webp"

    def test_hostile_picture_leaves_no_thread_behind(self, siti):
        form = {
            "category_id": str(category_id()), "title": "Foto", "content": "Lihat",
            "image": (BytesIO(HOSTILE["SVG"]()), "foto.png"),
        }  # fmt: skip
        response = siti.open("POST", "/forum/threads", data=form, content_type="multipart/form-data")
        assert_error(response, 415, "not_an_image")
        assert db.session.scalar(sa.select(sa.func.count(Post.id))) == 0

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"title": ""}, "title"), ({"title": "   "}, "title"), ({"title": "x" * 201}, "title"),
            ({"title": None}, "title"), ({"content": ""}, "content"), ({"content": "x" * 20_001}, "content"),
            ({"category_id": 999_999}, "category_id"), ({"category_id": 2**63}, "category_id"),
            ({"category_id": "satu"}, "category_id"), ({"category_id": None}, "category_id"),
            ({"use_pseudonym": "mungkin"}, "use_pseudonym"), ({"use_pseudonym": None}, "use_pseudonym"),
            ({"image": "https://example.com/a.png"}, "image"),
        ],
    )  # fmt: skip
    def test_bad_thread_is_refused(self, siti, change, field):
        good = {"category_id": category_id(), "title": "Menu", "content": "Nasi?"}
        assert_error(siti.post("/forum/threads", {**good, **change}), 400, "validation_error", field)
        for name in good:
            rest = {key: value for key, value in good.items() if key != name}
            assert_error(siti.post("/forum/threads", rest), 400, "validation_error", name)


class TestUpdateThread(OwnersOnly):
    """PUT /forum/threads/<thread_id>"""

    def test_only_the_editable_fields_that_are_sent_are_changed(self, siti):
        thread = write_thread(siti)
        response = siti.put(
            f"/forum/threads/{thread['id']}", {"title": "Menu baru", "id": 77, "user_id": 1, "likes_count": 9}
        )
        assert response.status_code == 200
        assert response.json == {**thread, "title": "Menu baru", "updated_at": response.json["updated_at"]}

    def test_null_is_refused(self, siti):
        thread = write_thread(siti)
        for name in ("title", "content", "category_id", "use_pseudonym"):
            assert_error(siti.put(f"/forum/threads/{thread['id']}", {name: None}), 400, "validation_error", name)

    def test_a_move_to_another_category_updates_the_thread_counts(self, siti):
        thread = write_thread(siti)
        moved = siti.put(f"/forum/threads/{thread['id']}", {"category_id": category_id("Umum")}).json
        assert moved["category"]["name"] == "Umum"
        counts = dict(db.session.execute(sa.select(ForumCategory.name, ForumCategory.threads_count)).all())
        assert (counts["Medis"], counts["Umum"]) == (0, 1)
        assert_error(siti.put(f"/forum/threads/{thread['id']}", {"category_id": 999_999}), 400, field="category_id")

    def test_picture_is_replaced_and_removed(self, client, siti):
        def put(**form):
            response = siti.open("PUT", path, data=form, content_type="multipart/form-data")
            assert response.status_code == 200, response.json
            return response.json["image"]

        path = f"/forum/threads/{write_thread(siti)['id']}"
        first = put(image=(BytesIO(plain()), "a.jpg"))
        assert put(title="Tanpa gambar baru") == first
        second = put(image=(BytesIO(plain("PNG")), "b.png"))
        assert second != first
        assert client.get(first).status_code == 404
        assert client.get(second).status_code == 200
        assert siti.put(path, {"image": None}).json["image"] is None
        assert client.get(second).status_code == 404


class TestDeleteThread(OwnersOnly):
    """DELETE /forum/threads/<thread_id>"""

    def test_a_thread_is_deleted_with_its_replies_pictures_and_marks(self, client, siti, budi):
        thread = write_thread(siti)
        form = {"content": "Lihat", "image": (BytesIO(plain()), "a.jpg")}
        path = f"/forum/threads/{thread['id']}/reply"
        reply = budi.open("POST", path, data=form, content_type="multipart/form-data").json
        write_reply(siti, thread["id"], parent_id=reply["id"])
        for action in (f"/forum/threads/{thread['id']}/like", f"/forum/replies/{reply['id']}/save"):
            assert budi.post(action).status_code == 200
        response = siti.delete(f"/forum/threads/{thread['id']}")
        assert (response.status_code, response.json) == (200, {"message": "Utas dihapus."})
        assert_error(client.get(f"/forum/threads/{thread['id']}"), 404, "not_found")
        assert client.get(reply["image"]).status_code == 404
        for model in (Post, Mark):
            assert db.session.scalar(sa.select(sa.func.count()).select_from(model)) == 0
        assert_error(siti.delete(f"/forum/threads/{thread['id']}"), 404, "not_found")


class TestCreateReply:
    """POST /forum/threads/<thread_id>/reply"""

    def test_returns_the_record(self, budi, thread_id):
        reply = write_reply(budi, thread_id)
        assert reply["author"]["name"] == "Budi Hartono"
        expected = {
            "thread_id": thread_id, "parent_id": None, "content": "Kurangi gula.", "is_owner": True,
            "is_deleted": False, "is_liked": False, "is_saved": False, "likes_count": 0, "saves_count": 0,
            "replies": [],
        }  # fmt: skip
        assert {name: reply[name] for name in expected} == expected

    def test_the_parent_must_be_an_undeleted_reply_of_the_same_thread(self, siti, thread_id):
        elsewhere = write_reply(siti, write_thread(siti)["id"])["id"]
        deleted = write_reply(siti, thread_id)["id"]
        write_reply(siti, thread_id, parent_id=deleted)
        siti.delete(f"/forum/replies/{deleted}")
        for parent_id in (elsewhere, deleted, 999_999):
            response = siti.post(f"/forum/threads/{thread_id}/reply", {"content": "x", "parent_id": parent_id})
            assert_error(response, 400, "validation_error", "parent_id")
        assert read_thread(siti, thread_id)["replies_count"] == 1

    @pytest.mark.parametrize(
        ("sent", "field"),
        [
            ({}, "content"), ({"content": " "}, "content"), ({"content": "x" * 20_001}, "content"),
            ({"content": "x", "parent_id": "a"}, "parent_id"), ({"content": "x", "parent_id": 0}, "parent_id"),
            ({"content": "x", "use_pseudonym": 3}, "use_pseudonym"),
        ],
    )  # fmt: skip
    def test_bad_reply_is_refused(self, siti, thread_id, sent, field):
        assert_error(siti.post(f"/forum/threads/{thread_id}/reply", sent), 400, "validation_error", field)

    def test_the_rate_limit_is_30_replies_a_minute_and_300_a_day(self, app, siti, budi, thread_id, limited):
        path = f"/forum/threads/{thread_id}/reply"
        assert [siti.post(path, {"content": ""}).status_code for _ in range(31)] == [400] * 30 + [429]
        for _ in range(300):
            app.extensions["limits"].hit(parse("300 per day"), "limit", f"user:{budi.id}", "forum.create_reply")
        assert_error(budi.post(path, {"content": "x"}), 429, "too_many_requests")

    def test_an_empty_parent_id_in_a_form_means_no_parent(self, siti, thread_id):
        form = {"content": "x", "parent_id": "", "use_pseudonym": "0"}
        response = siti.open("POST", f"/forum/threads/{thread_id}/reply", data=form, content_type="multipart/form-data")
        assert (response.status_code, response.json["parent_id"]) == (201, None)


class TestLikeThread(Toggles):
    """POST /forum/threads/<thread_id>/like"""

    flag, count = "is_liked", "likes_count"


class TestSaveThread(Toggles):
    """POST /forum/threads/<thread_id>/save"""

    flag, count = "is_saved", "saves_count"


class TestListReplies:
    """GET /forum/replies"""

    def test_saved_replies_of_the_caller_are_listed_newest_first(self, siti, budi, thread_id):
        def ids(reader, query=""):
            return [row["id"] for row in reader.get(f"/forum/replies{query}").json]

        first, second, _ = (write_reply(siti, thread_id)["id"] for _ in range(3))
        for reply_id in (second, first):
            budi.post(f"/forum/replies/{reply_id}/save")
        siti.post(f"/forum/replies/{first}/like")
        assert ids(budi) == ids(budi, "?saved=true") == [second, first]
        assert ids(siti) == []
        budi.post(f"/forum/replies/{first}/save")
        assert ids(budi) == [second]


class TestUpdateReply(OwnersOnly):
    """PUT /forum/replies/<reply_id>"""

    def test_the_author_changes_a_reply_and_gets_its_nested_replies(self, siti, budi, thread_id):
        reply = write_reply(budi, thread_id)
        below = write_reply(siti, thread_id, parent_id=reply["id"])
        response = budi.put(f"/forum/replies/{reply['id']}", {"content": "Lebih baik", "parent_id": below["id"]})
        assert response.status_code == 200
        assert (response.json["content"], response.json["parent_id"]) == ("Lebih baik", None)
        assert_error(budi.put(f"/forum/replies/{reply['id']}", {"content": " "}), 400, field="content")
        assert [node["id"] for node in response.json["replies"]] == [below["id"]]


class TestDeleteReply(OwnersOnly):
    """DELETE /forum/replies/<reply_id>"""

    def test_the_author_deletes_a_reply(self, client, budi, thread_id):
        reply = write_reply(budi, thread_id)
        assert budi.delete(f"/forum/replies/{reply['id']}").json == {"message": "Balasan dihapus."}
        assert read_thread(client, thread_id)["replies"] == []


class TestLikeReply(Toggles):
    """POST /forum/replies/<reply_id>/like"""

    flag, count = "is_liked", "likes_count"


class TestSaveReply(Toggles):
    """POST /forum/replies/<reply_id>/save"""

    flag, count = "is_saved", "saves_count"


class TestListBlocks:
    """GET /forum/blokir"""

    def test_blocks_have_the_name_shown_at_the_time_newest_first_and_paged(self, client, siti, budi):
        assert budi.get("/forum/blokir").json == []
        reply_id = write_reply(siti, write_thread(siti)["id"])["id"]
        thread_id = write_thread(siti, use_pseudonym=True)["id"]
        for path in (f"replies/{reply_id}", f"threads/{thread_id}", f"threads/{thread_id}"):
            budi.post(f"/forum/{path}/blokir")
        siti.put("/profile", {"nama_ktp": "Siti Baru", "nama_samaran": "Kenanga"})
        rows = budi.get("/forum/blokir").json
        assert [(row["kind"], row["shown_as"]) for row in rows] == [("alias", "Melati"), ("name", "Siti Aminah")]
        assert {tuple(row) for row in rows} == {("id", "kind", "shown_as", "created_at")}
        paged = budi.get("/forum/blokir?page=2&per_page=1")
        assert (paged.json, paged.headers["X-Total-Count"]) == ([rows[1]], "2")
        assert siti.get("/forum/blokir").json == []


class TestDeleteBlock:
    """DELETE /forum/blokir/<block_id>"""

    @pytest.mark.parametrize("is_gone", [True, False])
    def test_an_own_block_is_deleted_even_if_its_post_is_deleted(self, siti, budi, admin, is_gone):
        first, second = (write_thread(siti, use_pseudonym=True)["id"] for _ in range(2))
        budi.post(f"/forum/threads/{first}/blokir")
        if is_gone:
            siti.delete(f"/forum/threads/{first}")
        assert second not in [row["id"] for row in budi.get("/forum/threads").json]
        (row,) = budi.get("/forum/blokir").json
        path = f"/forum/blokir/{row['id']}"
        assert_error(siti.delete(path), 404, "not_found")
        assert_error(admin.delete(path), 404, "not_found")
        response = budi.delete(path)
        assert (response.status_code, response.data) == (204, b"")
        assert_error(budi.delete(path), 404, "not_found")
        assert second in [row["id"] for row in budi.get("/forum/threads").json]


class TestReportThread(Reports):
    """POST /forum/threads/<thread_id>/lapor"""


class TestAppealThread(Appeals):
    """POST /forum/threads/<thread_id>/banding"""


class TestBlockThreadAuthor(Blocks):
    """POST /forum/threads/<thread_id>/blokir"""


class TestReportReply(Reports):
    """POST /forum/replies/<reply_id>/lapor"""

    def test_a_deleted_reply_is_404(self, siti, thread_id):
        reply_id = write_reply(siti, thread_id)["id"]
        write_reply(siti, thread_id, parent_id=reply_id)
        assert siti.delete(f"/forum/replies/{reply_id}").status_code == 200
        assert_error(siti.post(f"/forum/replies/{reply_id}/lapor", {"reason": "spam"}), 404, "not_found")


class TestAppealReply(Appeals):
    """POST /forum/replies/<reply_id>/banding"""


class TestBlockReplyAuthor(Blocks):
    """POST /forum/replies/<reply_id>/blokir"""
