"""Limit of the total size of a person's pictures."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core.database.session import db, unit_of_work
from app.core.media import pictures
from app.core.web.rate_limits import RateLimits
from app.identity import own_pictures
from app.identity.models import OwnPicture, RoleName, User
from app.identity.own_pictures import PicturesFull
from tests.core.media.samples import plain
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.overlap import done_twice_at_once


def picture() -> dict[str, Any]:
    return {"image": (BytesIO(plain()), "a.jpg")}


@pytest.fixture
def user_id(app: Flask) -> int:
    return make_user().id


@pytest.fixture
def person(client: Client, user_id: int) -> Client:
    return client.as_(db.session.get_one(User, user_id))


def thread(client: Client) -> TestResponse:
    return client.post("/forum/threads", data={"category_id": 1, "title": "Menu", "content": "Apa?", **picture()})


def reply(client: Client, thread_id: int) -> TestResponse:
    return client.post(f"/forum/threads/{thread_id}/reply", data={"content": "Nasi merah.", **picture()})


def stored() -> set[str]:
    return {name for name, _ in pictures.store().names()}


def kept(user_id: int) -> dict[str, int]:
    """Read a person's pictures from the table `own_pictures`. Return the size of each in bytes, by picture name."""
    rows = db.session.execute(sa.select(OwnPicture.name, OwnPicture.bytes).filter_by(user_id=user_id))
    return {row.name: row.bytes for row in rows}


def name_of(response: TestResponse) -> str:
    return str(response.json["image"]).removeprefix("/media/")


def test_the_recorded_picture_sizes_match_the_stored_pictures(person: Client, user_id: int) -> None:
    """Upload and replace pictures in the profile, a thread and a reply."""
    person.put("/profile", data=picture())
    profile = name_of(person.put("/profile", data=picture()))
    first = thread(person)
    changed = name_of(person.put(f"/forum/threads/{first.json['id']}", data=picture()))
    answer = reply(person, first.json["id"])
    answered = name_of(person.put(f"/forum/replies/{answer.json['id']}", data=picture()))
    assert kept(user_id) == {name: len(pictures.store().get(name)) for name in (profile, changed, answered)}


def test_picture_size_records_are_deleted_with_the_pictures(person: Client, user_id: int, client: Client) -> None:
    other = make_user()
    owner, other_id = client.as_(other), other.id
    first = thread(owner).json["id"]
    reply(person, first)
    alone = reply(person, first).json["id"]
    mine = thread(person).json["id"]
    person.put("/profile", data=picture())
    assert len(kept(user_id)) == 4
    person.delete(f"/forum/replies/{alone}")
    person.put(f"/forum/threads/{mine}", {"image": None})
    person.put("/profile", {"image": None})
    assert len(kept(user_id)) == 1
    owner.delete(f"/forum/threads/{first}")
    assert not kept(user_id)
    assert not kept(other_id)


@pytest.fixture
def room_for_two(person: Client, user_id: int, limited: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Upload two pictures, and set the limit to their total size, so that a third picture exceeds it."""
    person.put("/profile", data=picture())
    thread(person)
    monkeypatch.setattr(own_pictures, "MAX_BYTES", sum(kept(user_id).values()))


@pytest.mark.usefixtures("room_for_two")
def test_a_picture_over_the_quota_is_refused_and_not_stored(person: Client, user_id: int, client: Client) -> None:
    before, own = stored(), kept(user_id)
    refused = thread(person)
    assert_error(refused, 409, "pictures_full")
    assert refused.json["message"] == (
        "Gambar Anda sudah memakai 100 MB. Hapus gambar lama sebelum mengunggah yang baru."
    )
    owner = client.as_(make_user())
    other_thread = thread(owner).json["id"]
    assert_error(reply(person, other_thread), 409, "pictures_full")
    answer = person.post(f"/forum/threads/{other_thread}/reply", data={"content": "Tanpa gambar."})
    assert answer.status_code == 201
    assert_error(person.put(f"/forum/replies/{answer.json['id']}", data=picture()), 409, "pictures_full")
    assert kept(user_id) == own
    assert len(stored() - before) == 1  # only the other person's picture is new


@pytest.mark.usefixtures("room_for_two")
def test_replacing_a_picture_is_allowed_when_the_quota_is_full(person: Client, user_id: int) -> None:
    assert person.put("/profile", data=picture()).status_code == 200
    assert len(kept(user_id)) == 2
    person.put("/profile", {"image": None})
    assert thread(person).status_code == 201


@pytest.mark.usefixtures("room_for_two")
def test_the_picture_quota_is_not_enforced_when_limits_are_disabled(person: Client, user_id: int, app: Flask) -> None:
    app.extensions["limits"].enabled = False
    assert thread(person).status_code == 201
    assert len(kept(user_id)) == 3


def test_a_komunitas_picture_does_not_count_for_the_admin_who_uploads_it(client: Client) -> None:
    user = make_user(RoleName.ADMIN)
    admin, user_id = client.as_(user), user.id
    assert admin.post("/komunitas", data={"nama": "Sehat", **picture()}).status_code == 201
    assert not kept(user_id)


def test_deleting_a_person_deletes_their_picture_size_records(client: Client) -> None:
    leaving = make_user(RoleName.ADMIN)
    client.as_(leaving).put("/profile", data=picture())
    thread(client.as_(leaving))
    admin, path = client.as_(make_user(RoleName.ADMIN)), f"/admins/{leaving.id}"
    assert admin.delete(path).status_code == 200
    assert db.session.scalar(sa.select(sa.func.count()).select_from(OwnPicture)) == 0


def test_the_sweep_deletes_records_of_unreferenced_pictures(person: Client, user_id: int) -> None:
    thread(person)
    named = name_of(person.put("/profile", data=picture()))
    db.session.execute(sa.text("DELETE FROM forum_threads"))  # as a super-admin could do in the SQL console
    with unit_of_work():
        own_pictures.sweep()
    assert set(kept(user_id)) == {named}


def test_two_concurrent_uploads_cannot_exceed_the_quota(committed: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(committed.extensions, "limits", RateLimits(committed.extensions["redis"], enabled=True))
    with unit_of_work():
        user_id = make_user().id
        size = pictures.save(BytesIO(plain())).size
    monkeypatch.setattr(own_pictures, "MAX_BYTES", size)
    second = done_twice_at_once(
        committed, lambda: own_pictures.keep(user_id, {"image": pictures.save(BytesIO(plain()))})
    )
    with pytest.raises(PicturesFull):
        second.result()
    assert db.session.scalar(sa.select(sa.func.sum(OwnPicture.bytes))) == size
