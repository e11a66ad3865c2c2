"""Owners of pictures."""

from io import BytesIO

import pytest
import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.identity import own_pictures
from app.identity.models import OwnPicture, RoleName, User
from tests.core.media.samples import plain
from tests.helpers.factories import make_user


def picture():
    return {"image": (BytesIO(plain()), "a.jpg")}


@pytest.fixture
def user_id(app):
    return make_user().id


@pytest.fixture
def person(client, user_id):
    return client.as_(db.session.get_one(User, user_id))


def thread(client):
    return client.post("/forum/threads", data={"category_id": 1, "title": "Menu", "content": "Apa?", **picture()})


def reply(client, thread_id):
    return client.post(f"/forum/threads/{thread_id}/reply", data={"content": "Nasi merah.", **picture()})


def kept(user_id):
    """Return the names of a person's pictures in the table `own_pictures`."""
    return set(db.session.scalars(sa.select(OwnPicture.name).filter_by(user_id=user_id)))


def name_of(response):
    return str(response.json["image"]).removeprefix("/media/")


def test_the_owner_of_each_stored_picture_is_recorded(person, user_id):
    """Upload and replace pictures in the profile, a thread and a reply."""
    person.put("/profile", data=picture())
    profile = name_of(person.put("/profile", data=picture()))
    first = thread(person)
    changed = name_of(person.put(f"/forum/threads/{first.json['id']}", data=picture()))
    answer = reply(person, first.json["id"])
    answered = name_of(person.put(f"/forum/replies/{answer.json['id']}", data=picture()))
    assert kept(user_id) == {profile, changed, answered}


def test_owner_records_are_deleted_with_the_pictures(person, user_id, client):
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


def test_a_komunitas_picture_has_no_owner(client):
    user = make_user(RoleName.ADMIN)
    admin, user_id = client.as_(user), user.id
    assert admin.post("/komunitas", data={"nama": "Sehat", **picture()}).status_code == 201
    assert not kept(user_id)


def test_the_sweep_deletes_records_of_unreferenced_pictures(person, user_id):
    make_user()  # has no picture, and NOT IN finds no row if a NULL is among the names
    thread(person)
    named = name_of(person.put("/profile", data=picture()))
    db.session.execute(sa.text("DELETE FROM posts"))  # as a super-admin could do in the SQL console
    with unit_of_work():
        own_pictures.sweep()
    assert kept(user_id) == {named}
