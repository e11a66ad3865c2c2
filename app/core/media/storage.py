"""File stores: a folder, or a bucket of an S3-compatible service.

Callers must validate the names. The main store contains the pictures that are served. All other files are in
additional stores (`Area`). The additional stores are not served, and the cleanup of pictures skips them.
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
from typing import Any, BinaryIO, Protocol

from flask import Flask, Response, current_app, send_file

from app.core.errors import NotFound, Unavailable
from config import Config

#: Suffix of unfinished files. A killed process leaves such files until the next cleanup.
UNFINISHED = ".part"
CHUNK_BYTES = 64 * 1024
NAMES_A_CALL = 1000


class Area(StrEnum):
    """Stores other than the main store of pictures."""

    #: Data exports of users. Each file is kept for a day.
    EXPORTS = "exports"
    #: Records of erased users (tombstones). After a restore, the service uses these records to erase the users again.
    TOMBSTONES = "tombstones"


class Store(Protocol):
    """A store of files with names. A stored file can be replaced as a whole, but its content never changes.

    All methods raise `Unavailable` if the store is full or unreachable.
    """

    def put(self, name: str, source: BinaryIO, content_type: str) -> None:
        """Store a file of any size, completely or not at all. Replace an existing file with the same name.

        After the return, the file survives a crash of the machine.
        """

    def response(self, name: str, content_type: str) -> Response:
        """Return a response that streams the data. Raise `NotFound` if the name does not exist."""

    def get(self, name: str) -> bytes:
        """Return the data. Raise `NotFound` if the name does not exist."""

    def remove(self, name: str) -> None:
        """Remove the data. Do nothing if the name does not exist."""

    def names(self) -> Iterator[tuple[str, datetime]]:
        """Yield all names with the time at which they were stored.

        Include unfinished files, because the cleanup removes them.
        """


class FolderStore:
    """A store in a folder. Each file is in a subfolder that has the first two letters of the file's name as its name.

    The names of files are random, so there are up to 256 subfolders. Only the system user of this service can read a
    `private` store: mode 0700 for folders, 0600 for files.
    """

    def __init__(self, root: Path, *, private: bool = False) -> None:
        self.root = root
        self.private = private

    def _path(self, name: str) -> Path:
        return self.root / name[:2] / name

    def put(self, name: str, source: BinaryIO, content_type: str) -> None:  # the suffix of `name` determines the type
        path = self._path(name)
        # The suffix is random, so that unfinished files of killed processes do not conflict.
        unfinished = path.with_suffix(f".{secrets.token_hex(4)}{UNFINISHED}")
        with _available():
            path.parent.mkdir(parents=True, exist_ok=True)
            if self.private:  # set the mode of an existing folder too
                self.root.chmod(0o700)
                path.parent.chmod(0o700)
            try:
                with unfinished.open("xb") as file:
                    if self.private:
                        os.fchmod(file.fileno(), 0o600)
                    shutil.copyfileobj(source, file, CHUNK_BYTES)
                    file.flush()
                    os.fsync(file.fileno())
                unfinished.replace(path)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
            _fsync(path.parent)

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

    def names(self) -> Iterator[tuple[str, datetime]]:
        for path in self.root.glob("??/*"):
            with suppress(FileNotFoundError):  # another process has removed the file
                yield path.name, datetime.fromtimestamp(path.stat().st_mtime, UTC)


class BucketStore:
    """A store in a bucket of an S3-compatible service.

    boto3 finds the address and the credentials in `AWS_*` variables, in files or on the host. `requirements-s3.txt`
    installs boto3. If a bucket is configured, `Config` requires boto3.
    """

    def __init__(self, bucket: str, area: Area | None = None) -> None:
        self.bucket = bucket
        self.prefix = f"{area}/" if area else ""

    @cached_property
    def client(self) -> Any:
        import boto3  # the import takes 0.3 s, so it is delayed until the first picture
        from botocore.config import Config as BotoConfig

        waits = BotoConfig(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 2, "mode": "standard"})
        return boto3.client("s3", config=waits)

    def put(self, name: str, source: BinaryIO, content_type: str) -> None:
        self._call("put_object", Key=self.prefix + name, Body=source, ContentType=content_type)

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
        except BotoCoreError as error:  # the connection was lost or is too slow
            raise Unavailable from error
        finally:
            stored["Body"].close()
        return body

    def remove(self, name: str) -> None:
        self._call("delete_object", Key=self.prefix + name)

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


def create(config: Config, area: Area | None = None) -> Store:
    """Return the configured main store, or the additional store `area`. Do not open a connection yet."""
    if config.media_s3_bucket:
        return BucketStore(config.media_s3_bucket, area)
    return FolderStore(config.media_root / area if area else config.media_root, private=area is Area.EXPORTS)


def init_app(app: Flask, config: Config) -> None:
    app.extensions["media"] = create(config)
    app.extensions["areas"] = {area: create(config, area) for area in Area}


def area(name: Area) -> Store:
    areas: dict[Area, Store] = current_app.extensions["areas"]
    return areas[name]


@contextmanager
def _available() -> Iterator[None]:
    """Turn an `OSError` into `Unavailable`, for example if the disk is full."""
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
