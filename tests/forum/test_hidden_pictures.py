"""Pictures of hidden posts. The address of such a picture returns 404 until the post is shown again.

If a killed process left a picture in the wrong store, `place_pictures` corrects this.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from unittest import mock
from zipfile import ZipFile

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core.database.session import db
from app.core.media import pictures, storage
from app.core.media.storage import Area
from app.forum import jobs
from app.identity.models import User
from app.personal_data import archive
from app.personal_data import jobs as personal_data
from tests.core.media.samples import plain
from tests.forum.posts import category_id, moderate
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import PASSWORD, make_admin, make_user


def picture() -> dict[str, Any]:
    return {"image": (io.BytesIO(plain()), "a.jpg")}


def thread_with_picture(writer: Client) -> tuple[int, str]:
    """Create a thread with a picture. Return the thread's id and the picture's path."""
    data = {"category_id": category_id(), "title": "Menu", "content": "Apa?", **picture()}
    response = writer.post("/forum/threads", data=data)
    assert response.status_code == 201, response.json
    return response.json["id"], response.json["image"]


def fetch(client: Client, address: str, **headers: str) -> TestResponse:
    return client.app.test_client().get(address, headers=headers, buffered=True)


def in_room() -> set[str]:
    return {name for name, _ in storage.area(Area.HIDDEN).names()}


def test_the_picture_of_a_hidden_thread_is_404_until_the_thread_is_kept(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id, address = thread_with_picture(siti)
    shown = fetch(client, address)
    assert shown.status_code == 200
    moderate(admin, "hide", thread_id=thread_id)
    assert_error(fetch(client, address), 404, "not_found")
    assert_error(fetch(client, address, **{"If-None-Match": shown.headers["ETag"]}), 404, "not_found")
    moderate(admin, "hide", "Alasan lain.", thread_id=thread_id)
    assert fetch(client, address).status_code == 404
    moderate(admin, "keep", thread_id=thread_id)
    assert fetch(client, address).data == shown.data
    assert in_room() == set()


def test_hiding_a_reply_hides_its_picture_but_not_the_picture_of_the_thread(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id, of_thread = thread_with_picture(siti)
    response = siti.post(f"/forum/threads/{thread_id}/reply", data={"content": "Nasi merah.", **picture()})
    of_reply = response.json["image"]
    moderate(admin, "hide", reply_id=response.json["id"])
    assert [fetch(client, address).status_code for address in (of_thread, of_reply)] == [200, 404]
    moderate(admin, "keep", reply_id=response.json["id"])
    assert fetch(client, of_reply).status_code == 200


def test_reports_that_hide_a_thread_also_hide_its_picture(client: Client, siti: Client) -> None:
    thread_id, address = thread_with_picture(siti)
    with mock.patch("app.forum.service.reports._may_hide", return_value=True):  # now one report hides a post
        client.as_(make_user()).post(f"/forum/threads/{thread_id}/lapor", {"reason": "spam"})
    assert fetch(client, address).status_code == 404


def test_a_new_picture_of_a_hidden_thread_is_hidden_and_the_old_one_removed(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id, before = thread_with_picture(siti)
    moderate(admin, "hide", thread_id=thread_id)
    after = siti.put(f"/forum/threads/{thread_id}", data=picture()).json["image"]
    assert [fetch(client, address).status_code for address in (before, after)] == [404, 404]
    assert in_room() == {after.removeprefix("/media/")}, "what was replaced is gone"
    moderate(admin, "keep", thread_id=thread_id)
    assert fetch(client, after).status_code == 200


@pytest.mark.parametrize("way", ["the author", "a moderator"])
def test_a_hidden_post_that_is_deleted_leaves_no_picture(siti: Client, admin: Client, way: str) -> None:
    thread_id, address = thread_with_picture(siti)
    moderate(admin, "hide", thread_id=thread_id)
    if way == "the author":
        assert siti.delete(f"/forum/threads/{thread_id}").status_code == 200
    else:
        moderate(admin, "delete", thread_id=thread_id)
    assert in_room() == set()
    assert address.removeprefix("/media/") not in {name for name, _ in pictures.store().names()}


# --- a process is killed after the commit and before the move of the picture -----------------------------------------


@pytest.mark.parametrize("decision", ["hide", "keep"])
def test_place_pictures_moves_a_picture_left_in_the_wrong_store(
    client: Client, siti: Client, admin: Client, decision: str
) -> None:
    thread_id, address = thread_with_picture(siti)
    if decision == "keep":
        moderate(admin, "hide", thread_id=thread_id)
    with mock.patch.object(storage.FolderStore, "move"):
        moderate(admin, decision, thread_id=thread_id)
    expected = 404 if decision == "hide" else 200
    assert fetch(client, address).status_code != expected
    jobs.place_pictures()
    assert fetch(client, address).status_code == expected
    jobs.place_pictures()
    assert fetch(client, address).status_code == expected


def test_place_pictures_removes_the_public_copy_of_a_hidden_picture(
    client: Client, siti: Client, admin: Client
) -> None:
    thread_id, address = thread_with_picture(siti)
    shown = fetch(client, address)
    moderate(admin, "hide", thread_id=thread_id)
    # To move a picture in a bucket, the service copies it and then deletes the original. If the process is killed
    # between these steps, the picture is in both stores.
    pictures.store().put(address.removeprefix("/media/"), shown.data, pictures.CONTENT_TYPE)
    assert fetch(client, address).status_code == 200
    jobs.place_pictures()
    assert fetch(client, address).status_code == 404
    assert in_room() == {address.removeprefix("/media/")}


def test_place_pictures_removes_a_hidden_picture_of_a_deleted_thread(siti: Client, admin: Client) -> None:
    thread_id, _ = thread_with_picture(siti)
    moderate(admin, "hide", thread_id=thread_id)
    with mock.patch.object(pictures, "remove"):
        siti.delete(f"/forum/threads/{thread_id}")
    assert len(in_room()) == 1
    jobs.place_pictures()
    assert in_room() == set()


# --- export, erasure, backup ------------------------------------------------------------------------------------------


def test_the_export_of_the_author_includes_the_hidden_picture(app: Flask, tmp_path: Path) -> None:
    author = make_user()
    writer, admin = Client(app).as_(author), Client(app).as_(make_admin())
    thread_id, address = thread_with_picture(writer)
    moderate(admin, "hide", thread_id=thread_id)
    archive.write(tmp_path / "export.zip", author, db.session.connection())
    with ZipFile(tmp_path / "export.zip") as file:
        assert f"gambar/{address.removeprefix('/media/')}" in file.namelist()


@pytest.mark.parametrize("posts", ["anonymise", "delete"])
def test_the_erasure_of_the_author_removes_the_hidden_picture(app: Flask, posts: str) -> None:
    author = make_user()
    author_id, writer, admin = author.id, Client(app).as_(author), Client(app).as_(make_admin())
    thread_id, _ = thread_with_picture(writer)
    moderate(admin, "hide", thread_id=thread_id)
    assert writer.delete("/profile", {"password": PASSWORD, "forum": posts}).status_code == 202
    db.session.execute(sa.update(User).where(User.id == author_id).values(erasure_due_at=sa.func.now()))
    db.session.commit()
    personal_data.erase(author_id)
    assert db.session.get(User, author_id) is None
    assert in_room() == set()
