"""The routes of posts and blocks. Most tests run once for threads and once for replies."""

from io import BytesIO
from itertools import product

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.forum.models import ForumCategory, Mark, Post, ReportReason
from app.forum.seed import CATEGORIES
from tests.core.media.samples import HOSTILE, plain
from tests.forum.posts import add_picture, category_id, read_thread, write_post, write_reply, write_thread
from tests.helpers.client import assert_error
from tests.routes.requests import undone

# --- threads and replies --------------------------------------------------------------------------------------------


def test_a_stranger_and_an_admin_cannot_change_or_delete_a_post(client, siti, budi, admin, noun):
    thread_id, post_id = write_post(noun, siti)
    before = read_thread(client, thread_id)
    for other, method in product((budi, admin), ("PUT", "DELETE")):
        assert_error(other.open(method, f"/forum/{noun}/{post_id}", {"content": "x"}), 403, "not_the_owner")
    assert read_thread(client, thread_id) == before


@pytest.mark.parametrize(
    ("action", "flag", "counter"), [("like", "is_liked", "likes_count"), ("save", "is_saved", "saves_count")]
)
def test_a_like_and_a_save_are_toggled_and_counted(client, siti, budi, noun, action, flag, counter):
    def read(reader, field):
        thread = read_thread(reader, thread_id)
        return (thread if noun == "threads" else thread["replies"][0])[field]

    thread_id, post_id = write_post(noun, siti)
    for writer, is_on, shown, count in (
        (budi, True, [False, True, False], 1), (siti, True, [False, True, True], 2),
        (budi, False, [False, False, True], 1),
    ):  # fmt: skip
        assert writer.post(f"/forum/{noun}/{post_id}/{action}").json == {flag: is_on}
        assert [read(reader, flag) for reader in (client, budi, siti)] == shown
        assert read(client, counter) == count


def test_a_first_report_is_201_and_a_repeated_report_is_200(siti, budi, noun, subtests):
    path = f"/forum/{noun}/{write_post(noun, siti)[1]}/lapor"
    for reason in ReportReason:
        with subtests.test(str(reason)), undone():
            first = budi.post(path, {"reason": reason, "note": "Lihat."})
            assert (first.status_code, first.json["reason"], first.json["note"]) == (201, reason, "Lihat.")
            again = budi.post(path, {"reason": "other"})
            assert (again.status_code, again.json) == (200, first.json)


def test_an_own_post_cannot_be_reported_or_blocked(siti, noun):
    for use_pseudonym in (True, False):
        _, post_id = write_post(noun, siti, use_pseudonym=use_pseudonym)
        for action in ("lapor", "blokir"):
            assert_error(siti.post(f"/forum/{noun}/{post_id}/{action}", {"reason": "spam"}), 409, "own_post")


# --- threads --------------------------------------------------------------------------------------------------------


def test_the_categories_have_their_preference_tags(client):
    assert {row["name"]: row["preference_tag"] for row in client.get("/forum/categories").json} == dict(CATEGORIES)


def test_a_thread_is_readable_without_a_token_in_the_list_without_replies(client, siti, budi):
    written = write_thread(siti)
    newer = write_thread(siti)
    assert read_thread(client, written["id"]) == {**written, "is_owner": False}
    write_reply(budi, written["id"])
    rows = client.get("/forum/threads").json
    assert [row["id"] for row in rows] == [newer["id"], written["id"]]
    assert {**rows[1], "replies": []} == {**written, "is_owner": False, "replies_count": 1}


def test_saved_and_own_threads_need_a_token(client):
    for query in ("saved", "mine"):
        assert_error(client.get(f"/forum/threads?{query}=true"), 401, "unauthorized")


def test_a_new_thread_is_returned_as_its_record(siti):
    thread = write_thread(siti, title="  Menu  ", content="Nasi?\n\nAtau roti?")
    assert thread == {
        **thread, "title": "Menu", "content": "Nasi?\n\nAtau roti?", "image": None, "use_pseudonym": False,
        "author": {"id": siti.id, "name": "Siti Aminah", "image": None}, "likes_count": 0, "saves_count": 0,
        "category": {"id": category_id(), "name": "Medis"}, "replies_count": 0, "replies": [], "is_owner": True,
    }  # fmt: skip


def test_a_blank_text_and_an_unknown_category_are_refused(siti, thread_id):
    good = {"category_id": category_id(), "title": "Menu", "content": "Nasi?"}
    for field, value in (("title", "   "), ("content", " "), ("category_id", 999_999)):
        change = {field: value}
        for response in (siti.post("/forum/threads", good | change), siti.put(f"/forum/threads/{thread_id}", change)):
            assert_error(response, 400, "validation_error", field)


def test_a_thread_takes_a_picture_but_no_hostile_file(client, siti):
    form = {"category_id": str(category_id()), "title": "Foto", "content": "Lihat", "use_pseudonym": "true"}
    picture = BytesIO(plain("JPEG", (2000, 1000))), "IMG_Siti_Aminah.jpg"
    thread = siti.post("/forum/threads", data={**form, "image": picture}).json
    assert thread["use_pseudonym"] is True
    assert client.get(thread["image"]).headers["Content-Type"] == "image/webp"
    hostile = siti.post("/forum/threads", data={**form, "image": (BytesIO(HOSTILE["SVG"]()), "foto.png")})
    assert_error(hostile, 415, "not_an_image")
    assert [row["id"] for row in client.get("/forum/threads").json] == [thread["id"]]


def test_only_the_editable_fields_that_are_sent_are_changed(siti):
    thread = write_thread(siti)
    sent = {"title": "Menu baru", "id": 77, "user_id": 1, "likes_count": 9}
    changed = siti.put(f"/forum/threads/{thread['id']}", sent).json
    assert changed == {**thread, "title": "Menu baru", "updated_at": changed["updated_at"]}


def test_a_move_to_another_category_updates_the_thread_counts(siti, thread_id):
    moved = siti.put(f"/forum/threads/{thread_id}", {"category_id": category_id("Umum")}).json
    assert moved["category"]["name"] == "Umum"
    counts = dict(db.session.execute(sa.select(ForumCategory.name, ForumCategory.threads_count)).all())
    assert (counts["Medis"], counts["Umum"]) == (0, 1)


def test_a_picture_is_replaced_and_removed(client, siti, thread_id):
    path = f"/forum/threads/{thread_id}"
    first = add_picture(siti, f"threads/{thread_id}")
    assert siti.put(path, {"title": "Tanpa gambar baru"}).json["image"] == first
    second = add_picture(siti, f"threads/{thread_id}")
    assert [client.get(each).status_code for each in (first, second)] == [404, 200]
    assert siti.put(path, {"image": None}).json["image"] is None
    assert client.get(second).status_code == 404


def test_a_thread_is_deleted_with_its_replies_pictures_and_marks(client, siti, budi, thread_id):
    reply_id = write_reply(budi, thread_id)["id"]
    picture = add_picture(budi, f"replies/{reply_id}")
    write_reply(siti, thread_id, parent_id=reply_id)
    for action in (f"threads/{thread_id}/like", f"replies/{reply_id}/save"):
        assert budi.post(f"/forum/{action}").status_code == 200
    response = siti.delete(f"/forum/threads/{thread_id}")
    assert (response.status_code, response.json) == (200, {"message": "Utas dihapus."})
    assert client.get(picture).status_code == 404
    for model in (Post, Mark):
        assert db.session.scalar(sa.select(sa.func.count()).select_from(model)) == 0


# --- replies --------------------------------------------------------------------------------------------------------


def test_a_new_reply_is_returned_as_its_record(budi, thread_id):
    reply = write_reply(budi, thread_id)
    assert reply == {
        **reply, "thread_id": thread_id, "parent_id": None, "content": "Kurangi gula.", "is_owner": True,
        "author": {"id": budi.id, "name": "Budi Hartono", "image": None}, "is_deleted": False, "is_liked": False,
        "is_saved": False, "likes_count": 0, "saves_count": 0, "replies": [],
    }  # fmt: skip


def test_the_parent_must_be_an_undeleted_reply_of_the_same_thread(siti, thread_id):
    elsewhere = write_reply(siti, write_thread(siti)["id"])["id"]
    deleted = write_reply(siti, thread_id)["id"]
    write_reply(siti, thread_id, parent_id=deleted)
    siti.delete(f"/forum/replies/{deleted}")
    for parent_id in (elsewhere, deleted, 999_999):
        response = siti.post(f"/forum/threads/{thread_id}/reply", {"content": "x", "parent_id": parent_id})
        assert_error(response, 400, "validation_error", "parent_id")
    assert read_thread(siti, thread_id)["replies_count"] == 1


def test_an_empty_parent_id_in_a_form_means_no_parent(siti, thread_id):
    form = {"content": "x", "parent_id": "", "use_pseudonym": "0"}
    response = siti.post(f"/forum/threads/{thread_id}/reply", data=form, content_type="multipart/form-data")
    assert (response.status_code, response.json["parent_id"]) == (201, None)


def test_the_author_changes_a_reply_and_gets_its_nested_replies(siti, budi, thread_id):
    path = f"/forum/replies/{write_reply(budi, thread_id)['id']}"
    below = write_reply(siti, thread_id, parent_id=int(path.rpartition("/")[2]))
    changed = budi.put(path, {"content": "Lebih baik", "parent_id": below["id"]}).json
    assert (changed["content"], changed["parent_id"]) == ("Lebih baik", None)
    assert [node["id"] for node in changed["replies"]] == [below["id"]]
    assert_error(budi.put(path, {"content": " "}), 400, field="content")


# --- blocks ---------------------------------------------------------------------------------------------------------


def test_blocks_have_the_name_shown_at_the_time_newest_first_and_paged(siti, budi):
    assert budi.get("/forum/blokir").json == []
    _, reply_id = write_post("replies", siti)
    thread_id = write_thread(siti, use_pseudonym=True)["id"]
    for path in (f"replies/{reply_id}", f"threads/{thread_id}", f"threads/{thread_id}"):
        budi.post(f"/forum/{path}/blokir")
    siti.put("/profile", {"nama_ktp": "Siti Baru", "nama_samaran": "Kenanga"})
    rows = budi.get("/forum/blokir").json
    assert [(row["kind"], row["shown_as"]) for row in rows] == [("alias", "Melati"), ("name", "Siti Aminah")]
    paged = budi.get("/forum/blokir?page=2&per_page=1")
    assert (paged.json, paged.headers["X-Total-Count"]) == ([rows[1]], "2")
    assert siti.get("/forum/blokir").json == []


def test_a_block_is_deleted_even_if_its_post_is_deleted(siti, budi, admin):
    first, second = (write_thread(siti, use_pseudonym=True)["id"] for _ in range(2))
    budi.post(f"/forum/threads/{first}/blokir")
    siti.delete(f"/forum/threads/{first}")
    assert budi.get("/forum/threads").json == []
    path = f"/forum/blokir/{budi.get('/forum/blokir').json[0]['id']}"
    for stranger in (siti, admin):
        assert_error(stranger.delete(path), 404, "not_found")
    assert (budi.delete(path).status_code, budi.delete(path).status_code) == (204, 404)
    assert [row["id"] for row in budi.get("/forum/threads").json] == [second]
