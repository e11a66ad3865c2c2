"""Limits for uploads of pictures."""

from io import BytesIO

import pytest

from app.identity.models import RoleName
from tests.core.media.samples import plain
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user


def upload(client, path="/profile"):
    """Upload a file that is no picture, and return the status. Such an upload is fast, and counts for the limit."""
    return client.put(path, data={"image": (BytesIO(b"no picture"), "a.jpg")}).status_code


def test_a_person_may_upload_twenty_pictures_a_minute_on_all_routes_together(client, limited):
    person, other = client.as_(make_user()), client.as_(make_user())
    assert [upload(person) for _ in range(20)] == [415] * 20
    assert upload(person, "/forum/threads/1") == 429
    refused = person.post("/forum/threads/1/reply", data={"content": "a", "image": (BytesIO(plain()), "a.jpg")})
    assert_error(refused, 429, "too_many_requests")
    assert int(refused.headers["Retry-After"]) > 0
    assert upload(other) == 415


def test_a_request_without_a_picture_does_not_count_as_an_upload(client, limited):
    person = client.as_(make_user())
    statuses = [person.put("/profile", {"nama_ktp": f"Siti {n}"}).status_code for n in range(25)]
    assert statuses == [200] * 25


def test_an_empty_file_input_does_not_count_as_an_upload(client, limited):
    person = client.as_(make_user())
    forms = ({"nama_ktp": f"Siti {n}", "image": (BytesIO(), "")} for n in range(25))
    assert [person.put("/profile", data=form).status_code for form in forms] == [200] * 25


@pytest.mark.parametrize("path", ["/komunitas/9", "/dokter/9", "/articles/9", "/admins/9"])
def test_an_admin_may_upload_thirty_pictures_a_minute(client, limited, path):
    admin = client.as_(make_user(RoleName.ADMIN))
    assert 429 not in {upload(admin, path) for _ in range(30)}
    assert upload(admin, path) == 429
