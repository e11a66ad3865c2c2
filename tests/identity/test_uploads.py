"""Limits for uploads of pictures."""

from io import BytesIO

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


def test_a_request_without_a_picture_or_with_an_empty_file_input_is_no_upload(client, limited):
    for is_file_input in (False, True):
        person = client.as_(make_user())
        for n in range(21):
            picture = {"image": (BytesIO(), "")} if is_file_input else {}
            response = person.put("/profile", data={"nama_ktp": f"Siti {n}", **picture})
            assert response.status_code == 200, response.text


def test_an_admin_may_upload_thirty_pictures_a_minute(client, limited):
    for path in ("/komunitas/9", "/dokter/9", "/articles/9", "/admins/9"):
        admin = client.as_(make_user(RoleName.ADMIN))
        assert 429 not in {upload(admin, path) for _ in range(30)}, path
        assert upload(admin, path) == 429, path
