"""Pictures: how they are stored and served, and what a commit or rollback changes."""

import errno
import os
import subprocess
import sys
from contextlib import suppress
from io import BytesIO

import boto3
import pytest
from moto.server import ThreadedMotoServer
from PIL import Image

from app.core.database.session import unit_of_work
from app.core.errors import Unavailable
from app.core.media import pictures, storage
from config import ROOT, Config
from tests.core.media.samples import plain
from tests.providers.raw_server import raw

BUCKET = "pictures"


@pytest.fixture(scope="module")
def object_store():
    """Yield the address of a local S3 server."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def endpoint(object_store, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_store)
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    client.close()
    return object_store


@pytest.fixture(params=["folder", "bucket"])
def site(request, tmp_path):
    """Yield an application that has pictures, but no database and no queue."""
    env = {"ENVIRONMENT": "testing", "MEDIA_ROOT": str(tmp_path / "media")}
    if request.param == "bucket":
        env |= {"MEDIA_S3_BUCKET": BUCKET}
        request.getfixturevalue("endpoint")
    yield from _application(env)


@pytest.fixture
def folder(tmp_path):
    yield from _application({"ENVIRONMENT": "testing", "MEDIA_ROOT": str(tmp_path / "media")})


def _application(env):
    from app import create_app

    app = create_app(Config.from_env(env))
    with app.app_context():
        yield app
        for store in (app.extensions["media"], *app.extensions["areas"].values()):
            if isinstance(store, storage.BucketStore) and "client" in vars(store):
                store.client.close()


def stored(site):
    return {name for name, _ in site.extensions["media"].names()}


@pytest.fixture
def client(site):
    return site.test_client()


def saved(data=None):
    with unit_of_work():
        return pictures.save(BytesIO(data or plain("JPEG", (2000, 1000))))


def test_a_saved_picture_is_served_with_immutable_caching(client):
    answer = client.get(pictures.url(saved()), buffered=True)
    assert answer.status_code == 200
    assert Image.open(BytesIO(answer.data)).size == (1600, 800)
    assert answer.content_length == len(answer.data)
    assert answer.headers["Content-Type"] == "image/webp"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    # The response to a request without `Origin` has no CORS headers. A cache must not return this response to a request
    # with `Origin`.
    assert answer.headers["Vary"] == "Origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_matching_etag_returns_304_without_a_body(client):
    address = pictures.url(saved())
    etag = client.get(address, buffered=True).headers["ETag"]
    again = client.get(address, headers={"If-None-Match": etag})
    assert (again.status_code, again.data) == (304, b"")


def test_picture_names_are_unique_and_match_the_name_pattern(site):
    names = {saved(plain()) for _ in range(5)}
    assert len(names) == 5
    assert all(pictures.NAME.fullmatch(name) for name in names)


def test_a_rollback_removes_the_saved_picture(site):
    before = stored(site)

    def save_and_fail():
        name = pictures.save(BytesIO(plain()))
        assert name in stored(site)
        raise RuntimeError("changed my mind")

    with pytest.raises(RuntimeError, match="changed my mind"), unit_of_work():
        save_and_fail()
    assert stored(site) == before


def test_a_discarded_picture_is_removed_after_the_commit(site):
    name = saved()
    with unit_of_work():
        pictures.discard(name)
        pictures.discard(None)
        assert name in stored(site)
    assert name not in stored(site)


def test_a_discarded_picture_is_kept_after_a_rollback(site):
    name = saved()

    def discard_and_fail():
        pictures.discard(name)
        raise RuntimeError("changed my mind")

    with pytest.raises(RuntimeError, match="changed my mind"), unit_of_work():
        discard_and_fail()
    assert name in stored(site)


@pytest.mark.parametrize(
    "path",
    [
        "/media/" + "0" * 32 + ".webp",
        "/media/" + "0" * 32 + ".png",
        "/media/../config.py",
        "/media/..%2f..%2fconfig.py",
        "/media/%2e%2e/%2e%2e/etc/passwd",
        "/media//etc/passwd",
        "/media/" + "0" * 32 + ".webp%00",
        "/media/" + "0" * 32 + ".webp%0a",
        "/media/" + "A" * 5000,
        "/media/",
    ],
)
def test_a_path_that_is_no_picture_returns_404(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json.keys() == {"error", "message", "request_id"}


def test_other_files_in_the_media_folder_are_not_served(folder):
    root = folder.extensions["media"].root
    (root / "00").mkdir(parents=True)
    (root / "00" / "secret.txt").write_text("secret")
    for path in ("/media/00/secret.txt", "/media/secret.txt", "/media/00%2fsecret.txt"):
        assert folder.test_client().get(path).status_code == 404


def test_files_in_the_exports_area_are_not_served_as_pictures(site, client):
    room = storage.area(storage.Area.EXPORTS)
    name = "0" * 32 + ".webp"
    # Both files have the same name, so the second one replaces the first.
    for content in (b"before", bytes(3 * storage.CHUNK_BYTES + 1)):
        room.put(name, BytesIO(content), "application/zip")
        assert room.get(name) == content
    picture = saved()
    assert [stored_name for stored_name, _ in room.names()] == [name]
    assert picture in stored(site)
    assert not {name, f"exports/{name}"} & stored(site), "a sweep of pictures would remove files of the room"
    assert client.get(f"/media/{name}").status_code == 404
    with site.test_request_context():
        response = room.response(name, "application/zip")
        response.direct_passthrough = False
        assert len(response.get_data()) == 3 * storage.CHUNK_BYTES + 1
        response.close()
    room.remove(name)
    room.remove(name)
    assert list(room.names()) == []


def test_a_copy_has_a_new_address_and_is_removed_by_a_rollback(site, client):
    name = saved()
    with unit_of_work():
        copied = pictures.copy(name)
    assert copied != name
    assert pictures.store().get(copied) == pictures.store().get(name)
    before = stored(site)
    with suppress(ZeroDivisionError), unit_of_work():
        pictures.copy(name)
        raise ZeroDivisionError
    assert stored(site) == before


def test_a_deleted_picture_is_404_also_for_a_client_that_has_it(site, client):
    name = saved()
    with unit_of_work():
        pictures.discard(name)
        assert name in stored(site)
    assert client.get(pictures.url(name), headers={"If-None-Match": f'"{name}"'}).status_code == 404


def test_a_full_disk_raises_unavailable_and_leaves_no_file(folder, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)  # simulates a full disk
    with pytest.raises(Unavailable), unit_of_work():
        pictures.save(BytesIO(plain()))
    root = folder.extensions["media"].root
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_a_media_root_that_is_a_file_raises_unavailable(folder):
    root = folder.extensions["media"].root
    root.write_text("a file where the folder should be")
    with pytest.raises(Unavailable), unit_of_work():
        pictures.save(BytesIO(plain()))
    assert folder.test_client().get("/media/" + "0" * 32 + ".webp").status_code in (404, 503)


def test_an_unreachable_object_store_is_reported_as_unavailable(endpoint, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    env = {"ENVIRONMENT": "testing", "MEDIA_S3_BUCKET": BUCKET}
    for app in _application(env):
        with pytest.raises(Unavailable), unit_of_work():
            pictures.save(BytesIO(plain()))
        answer = app.test_client().get("/media/" + "0" * 32 + ".webp")
        assert answer.status_code == 503
        assert answer.headers["Retry-After"]


def test_a_connection_lost_while_reading_a_picture_raises_unavailable(endpoint, monkeypatch):
    with raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nRIFF") as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        env = {"ENVIRONMENT": "testing", "MEDIA_S3_BUCKET": BUCKET}
        for _ in _application(env):
            with pytest.raises(Unavailable):
                pictures.store().get("0" * 32 + ".webp")


def test_a_missing_bucket_raises_unavailable(endpoint):
    env = {"ENVIRONMENT": "testing", "MEDIA_S3_BUCKET": "nobody-made-it"}
    for _ in _application(env):
        with pytest.raises(Unavailable), unit_of_work():
            pictures.save(BytesIO(plain()))


def test_a_paginated_bucket_list_is_read_completely(endpoint, monkeypatch):
    monkeypatch.setattr(storage, "NAMES_A_CALL", 2)
    env = {"ENVIRONMENT": "testing", "MEDIA_S3_BUCKET": BUCKET}
    for app in _application(env):
        client = app.extensions["media"].client
        for number in range(5):
            client.put_object(Bucket=BUCKET, Key=f"listed-{number}", Body=b"")
        assert len([name for name in stored(app) if name.startswith("listed-")]) == 5


@pytest.mark.processes
def test_the_service_with_a_media_folder_starts_without_boto3():
    code = (
        "import sys; sys.modules['boto3'] = sys.modules['botocore'] = None\n"
        "from app import create_app; from config import Config\n"
        "print(type(create_app(Config.from_env(dict(ENVIRONMENT='testing'))).extensions['media']).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "FolderStore\n", done.stderr


def test_the_picture_field_is_serialized_as_an_address():
    field = pictures.Picture()
    assert field.serialize("image", {"image": "a.webp"}) == "/media/a.webp"
    assert field.serialize("image", {"image": None}) is None
