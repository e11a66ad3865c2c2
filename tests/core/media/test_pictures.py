"""Pictures: how they are stored and served, and what a commit or rollback changes."""

import errno
import os
import subprocess
import sys
from contextlib import suppress
from io import BytesIO
from unittest.mock import Mock

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


@pytest.fixture(scope="module")
def application():
    """Yield an application that has pictures, but no database and no queue."""
    from app import create_app

    app = create_app(Config.from_env({"ENVIRONMENT": "testing"}))
    with app.app_context():
        yield app


@pytest.fixture
def store_in(application):
    """Return a function that makes the application store pictures as these settings say."""

    def change(**settings):
        close()
        storage.init_app(application, Config.from_env({"ENVIRONMENT": "testing", **settings}))
        return application

    def close():
        for store in (application.extensions["media"], *application.extensions["areas"].values()):
            if isinstance(store, storage.BucketStore) and "client" in vars(store):
                store.client.close()

    yield change
    close()


@pytest.fixture
def endpoint(object_store, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_store)
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    client.close()


@pytest.fixture
def folder(store_in, tmp_path):
    return store_in(MEDIA_ROOT=str(tmp_path / "media"))


@pytest.fixture(params=["folder", "bucket"])
def site(request, store_in):
    """Return the application with a folder of pictures or a bucket."""
    if request.param == "folder":
        return request.getfixturevalue("folder")
    request.getfixturevalue("endpoint")
    return store_in(MEDIA_S3_BUCKET=BUCKET)


def stored(site):
    return {name for name, _ in site.extensions["media"].names()}


@pytest.fixture
def client(site):
    return site.test_client()


def saved(data=None):
    with unit_of_work():
        return pictures.save(BytesIO(data or plain("JPEG", (2000, 1000))))


def test_a_saved_picture_is_served_with_immutable_caching(client):
    name = saved()
    address = pictures.url(name)
    assert pictures.NAME.fullmatch(name)
    answer = client.get(address, buffered=True)
    assert answer.status_code == 200
    assert Image.open(BytesIO(answer.data)).size == (1600, 800)
    assert answer.content_length == len(answer.data)
    assert answer.headers["Content-Type"] == "image/webp"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    # The response to a request without `Origin` has no CORS headers. A cache must not return this response to a request
    # with `Origin`.
    assert answer.headers["Vary"] == "Origin"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    again = client.get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_a_rollback_removes_the_saved_picture(site):
    before = stored(site)
    with suppress(ZeroDivisionError), unit_of_work():
        assert pictures.save(BytesIO(plain())) in stored(site)
        raise ZeroDivisionError
    assert stored(site) == before


def test_a_discarded_picture_is_removed_after_the_commit_and_kept_after_a_rollback(site, client):
    name = saved()
    with suppress(ZeroDivisionError), unit_of_work():
        pictures.discard(name)
        raise ZeroDivisionError
    assert name in stored(site)
    with unit_of_work():
        pictures.discard(name)
        pictures.discard(None)
        assert name in stored(site)
    assert name not in stored(site)
    # A client that has the picture gets no 304.
    assert client.get(pictures.url(name), headers={"If-None-Match": f'"{name}"'}).status_code == 404


def test_a_path_that_is_no_picture_returns_404(folder):
    secret = folder.extensions["media"].root / "00" / "secret.txt"
    secret.parent.mkdir(parents=True)
    secret.write_text("secret")
    client, name = folder.test_client(), "0" * 32
    for path in (
        f"{name}.webp", f"{name}.png", f"{name}.webp%00", f"{name}.webp%0a", "A" * 5000, "", "/etc/passwd",
        "../config.py", "..%2f..%2fconfig.py", "%2e%2e/%2e%2e/etc/passwd", "00/secret.txt", "00%2fsecret.txt",
    ):  # fmt: skip
        answer = client.get(f"/media/{path}")
        assert answer.status_code == 404, path
        assert answer.json.keys() == {"error", "message", "request_id"}


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


def test_a_full_disk_raises_unavailable_and_leaves_no_file(folder, monkeypatch):
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(Unavailable), unit_of_work():
        pictures.save(BytesIO(plain()))
    root = folder.extensions["media"].root
    assert [path for path in root.rglob("*") if path.is_file()] == []


def test_a_bucket_that_is_missing_unreachable_or_breaks_off_is_unavailable(endpoint, store_in, monkeypatch):
    store_in(MEDIA_S3_BUCKET="nobody-made-it")
    with pytest.raises(Unavailable), unit_of_work():
        pictures.save(BytesIO(plain()))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    app = store_in(MEDIA_S3_BUCKET=BUCKET)
    with pytest.raises(Unavailable), unit_of_work():
        pictures.save(BytesIO(plain()))
    answer = app.test_client().get("/media/" + "0" * 32 + ".webp")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    with raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nRIFF") as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        store_in(MEDIA_S3_BUCKET=BUCKET)
        with pytest.raises(Unavailable):
            pictures.store().get("0" * 32 + ".webp")


def test_a_paginated_bucket_list_is_read_completely(endpoint, store_in, monkeypatch):
    monkeypatch.setattr(storage, "NAMES_A_CALL", 2)
    app = store_in(MEDIA_S3_BUCKET=BUCKET)
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
