"""Where pictures lie: a folder, or a bucket of an S3-compatible store. Names are checked before they get here.

What is no picture has a room of its own beside them, which nothing serves and no sweep of pictures enters.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self

from flask import Flask, Response, current_app, send_file

from app.core.errors import NotFound, Unavailable
from config import Config

#: How names end that are not finished; what killed processes left has them for good, until a sweep.
UNFINISHED = ".part"
CHUNK_BYTES = 64 * 1024
NAMES_A_CALL = 1000


class Room(StrEnum):
    """What lies beside the pictures."""

    #: The files of people's own data, each for a day.
    EXPORTS = "exports"
    #: Whom a restored backup must not bring back.
    TOMBSTONES = "tombstones"
    #: Pictures that nobody is served for now.
    HIDDEN = "hidden"


class Store(Protocol):
    """Named, immutable pieces of bytes. Every method raises `Unavailable` when the store is full or away."""

    def put(self, name: str, data: bytes, content_type: str) -> None:
        """Store it whole or not at all; after the call it survives a crash."""

    def put_file(self, name: str, file: Path, content_type: str) -> None:
        """As `put`, with what a file holds, however large; one that was stored under this name is replaced."""

    def response(self, name: str, content_type: str) -> Response:
        """It as a response that is streamed; raises `NotFound`."""

    def get(self, name: str) -> bytes:
        """The whole of it; raises `NotFound`."""

    def remove(self, name: str) -> None:
        """Nothing happens when it is not there."""

    def move(self, name: str, room: Self) -> None:
        """Put it into another room of the same store; nothing happens when it is not here."""

    def names(self) -> Iterator[tuple[str, datetime]]:
        """Every name with the time it was stored at, unfinished ones included: a sweep wants them all."""


class FolderStore:
    """Files below one folder, in 256 folders by the first two letters of their random names.

    What is `private` the system's user of this service alone can read: folders have 0700, files 0600.
    """

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self.root = root
        self.private = private

    def _path(self, name: str) -> Path:
        return self.root / name[:2] / name

    def put(self, name: str, data: bytes, content_type: str) -> None:  # the name's ending says it
        with self._writing(name) as file:
            file.write(data)

    def put_file(self, name: str, file: Path, content_type: str) -> None:
        with file.open("rb") as source, self._writing(name) as target:
            shutil.copyfileobj(source, target, CHUNK_BYTES)

    @contextmanager
    def _writing(self, name: str) -> Iterator[BinaryIO]:
        """A file that gets its name when everything is written."""
        path = self._path(name)
        # What a killed process left is in nobody's way.
        unfinished = path.with_suffix(f".{secrets.token_hex(4)}{UNFINISHED}")
        with _available():
            self._make_folder(path.parent)
            try:
                with unfinished.open("xb") as file:
                    if self.private:
                        os.fchmod(file.fileno(), 0o600)
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(path)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
            _fsync(path.parent)

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if self.private:  # also a folder that was there before
            for each in (self.root, folder):
                each.chmod(0o700)

    def response(self, name: str, content_type: str) -> Response:
        try:
            return send_file(self._path(name), mimetype=content_type, etag=False)
        except FileNotFoundError:
            raise NotFound from None
        except OSError:
            raise Unavailable from None

    def get(self, name: str) -> bytes:
        with _available():
            try:
                return self._path(name).read_bytes()
            except FileNotFoundError:
                raise NotFound from None

    def remove(self, name: str) -> None:
        with _available():
            self._path(name).unlink(missing_ok=True)

    def move(self, name: str, room: Self) -> None:
        source, target = self._path(name), room._path(name)
        with _available():
            room._make_folder(target.parent)
            with suppress(FileNotFoundError):
                source.replace(target)
                _fsync(target.parent)

    def names(self) -> Iterator[tuple[str, datetime]]:
        for path in self.root.glob("??/*"):
            with suppress(FileNotFoundError):  # somebody removed it meanwhile
                yield path.name, datetime.fromtimestamp(path.stat().st_mtime, UTC)


class BucketStore:
    """Objects of one bucket. Credentials come from where boto3 looks for them: `AWS_*` variables, files, the host.

    boto3 is there where `requirements-s3.txt` is installed; `Config` asks for it when the bucket is named.
    """

    def __init__(self, bucket: str, endpoint: str | None, room: Room | None = None) -> None:
        self.bucket = bucket
        self.endpoint = endpoint
        self.prefix = f"{room}/" if room else ""

    @cached_property
    def client(self) -> Any:
        import boto3  # a third of a second, paid by the first picture
        from botocore.config import Config as BotoConfig

        waits = BotoConfig(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 2, "mode": "standard"})
        return boto3.client("s3", endpoint_url=self.endpoint, config=waits)

    def put(self, name: str, data: bytes, content_type: str) -> None:
        self._call("put_object", Key=self.prefix + name, Body=data, ContentType=content_type)

    def put_file(self, name: str, file: Path, content_type: str) -> None:
        with file.open("rb") as body:
            self._call("put_object", Key=self.prefix + name, Body=body, ContentType=content_type)

    def response(self, name: str, content_type: str) -> Response:
        stored = self._call("get_object", Key=self.prefix + name)
        body = stored["Body"]
        response = Response(body.iter_chunks(CHUNK_BYTES), mimetype=content_type)
        response.content_length = stored["ContentLength"]
        response.call_on_close(body.close)
        return response

    def get(self, name: str) -> bytes:
        from botocore.exceptions import BotoCoreError

        stored = self._call("get_object", Key=self.prefix + name)
        try:
            body: bytes = stored["Body"].read()
        except BotoCoreError as error:  # cut off, or too slow
            raise Unavailable from error
        finally:
            stored["Body"].close()
        return body

    def remove(self, name: str) -> None:
        self._call("delete_object", Key=self.prefix + name)

    def move(self, name: str, room: Self) -> None:
        source = {"Bucket": self.bucket, "Key": self.prefix + name}
        with suppress(NotFound):
            self._call("copy_object", Key=room.prefix + name, CopySource=source)
            self.remove(name)

    def names(self) -> Iterator[tuple[str, datetime]]:
        token: dict[str, str] = {}
        while True:
            page = self._call("list_objects_v2", Prefix=self.prefix, Delimiter="/", MaxKeys=NAMES_A_CALL, **token)
            for entry in page.get("Contents", ()):
                yield entry["Key"].removeprefix(self.prefix), entry["LastModified"]
            if not page.get("IsTruncated"):
                return
            token = {"ContinuationToken": page["NextContinuationToken"]}

    def _call(self, operation: str, **arguments: Any) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            call: Callable[..., Any] = getattr(self.client, operation)
            return call(Bucket=self.bucket, **arguments)
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in ("NoSuchKey", "404"):
                raise NotFound from None
            raise Unavailable from error
        except BotoCoreError as error:
            raise Unavailable from error


def whole(store: Store) -> Iterator[str]:
    """Every name of a store but the unfinished ones."""
    return (name for name, _ in store.names() if not name.endswith(UNFINISHED))


def create(config: Config, room: Room | None = None) -> Store:
    """The store that the settings name, or a room in it; nothing is opened yet."""
    if config.media_s3_bucket:
        return BucketStore(config.media_s3_bucket, config.media_s3_endpoint, room)
    return FolderStore(config.media_root / room if room else config.media_root, private=room is Room.EXPORTS)


def init_app(app: Flask, config: Config) -> None:
    app.extensions["media"] = create(config)
    app.extensions["rooms"] = {room: create(config, room) for room in Room}


def room(name: Room) -> Store:
    """A room of the running application."""
    rooms: dict[Room, Store] = current_app.extensions["rooms"]
    return rooms[name]


@contextmanager
def _available() -> Iterator[None]:
    """A full disk or a folder that is gone is not a crash."""
    try:
        yield
    except OSError as error:
        raise Unavailable from error


def _fsync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
