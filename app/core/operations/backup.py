"""Backup and restore: the database by pg_dump, the pictures from wherever they lie, in one folder.

The folder is finished when `manifest.json` is there. The dump is taken before the pictures, so each picture that it
names is copied unless it was discarded in between.

Tombstones come along, of those who were erased. A restore takes those of every backup beside its own, for a later one
knows of more people whom an older one must not bring back. People's exports are in no backup.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import sqlalchemy as sa
from alembic.migration import MigrationContext
from psycopg2.extensions import make_dsn

from app.core.database.engines import UNLIMITED, direct
from app.core.errors import NotFound, Unavailable
from app.core.lib import clock
from app.core.media import pictures, storage
from app.core.media.storage import Room
from app.core.settings import settings
from config import environment

DUMP = "database.dump"
PICTURES = "media"
HIDDEN_PICTURES = "hidden"
TOMBSTONES = "tombstones"
MANIFEST = "manifest.json"


class BackupError(Exception):
    """Why it cannot be done, for the operator."""


def backup(target: Path) -> str:
    """Write everything into the new folder `target`; returns what there is in it."""
    if target.exists():
        raise BackupError(f"{target} is there already; a backup never overwrites another")
    for store in (*_picture_stores().values(), storage.room(Room.TOMBSTONES)):
        _check(store)
    unfinished = target.with_name(f"{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    unfinished.chmod(0o700)  # what is in it is personal
    revisions = _revisions()
    with (unfinished / DUMP).open("xb") as dump:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-acl", output=dump)
    count = 0
    for part, store in _picture_stores().items():
        (unfinished / part).mkdir()
        count += _copy(store, unfinished / part)
    # Hidden ones once more, for what was hidden before it was copied.
    count += _copy(pictures.hidden(), unfinished / HIDDEN_PICTURES)
    tombstones = storage.room(Room.TOMBSTONES)
    (unfinished / TOMBSTONES).mkdir()
    for name in storage.whole(tombstones):
        (unfinished / TOMBSTONES / name).write_bytes(tombstones.get(name))
    manifest = {"made_at": clock.rfc3339(clock.now()), "migrations": revisions, "pictures": count}
    (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    unfinished.rename(target)
    return f"{target}: the database at {', '.join(revisions)} and {count} pictures."


def restore(source: Path) -> str:
    """Put the backup in the folder `source` into an empty database and the store of pictures."""
    try:
        manifest = json.loads((source / MANIFEST).read_text())
    except FileNotFoundError:
        raise BackupError(f"{source} is no finished backup: {MANIFEST} is not there") from None
    with direct(UNLIMITED).connect() as connection:
        tables = sa.inspect(connection).get_table_names()
    if tables:
        raise BackupError(f"the database is not empty ({len(tables)} tables): restore into a new one")
    # Pictures first: names are random, so they collide with nothing, and no row ever names one that is not there yet.
    for part, store in _picture_stores().items():
        for path in sorted((source / part).glob("*")):  # backups of before have no hidden ones
            store.put(path.name, path.read_bytes(), pictures.CONTENT_TYPE)
    # Restore tombstones before the dump. If the restore is killed later, the service erases these people again.
    for path in sorted(source.absolute().parent.glob(f"*/{TOMBSTONES}/*")):
        if path.is_file():  # `MEDIA_ROOT` may lie next to the backup; its tombstones are one folder deeper
            storage.room(Room.TOMBSTONES).put(path.name, path.read_bytes(), "text/plain")
    with (source / DUMP).open("rb") as dump:
        _run("pg_restore", "--no-owner", "--no-acl", "--exit-on-error", "--single-transaction", source=dump)
    return f"Restored the backup of {manifest['made_at']}: {manifest['pictures']} pictures, migrations as of then."


def _picture_stores() -> dict[str, storage.Store]:
    """By their folders in a backup; the hidden ones first, for what is shown again before it was copied."""
    return {HIDDEN_PICTURES: pictures.hidden(), PICTURES: pictures.store()}


def _check(store: storage.Store) -> None:
    """Raise `BackupError` for the first unreadable entry, before a dump that may take long."""
    if not isinstance(store, storage.FolderStore):
        return
    try:
        with suppress(FileNotFoundError):  # there is no picture yet
            next(store.root.iterdir(), None)  # `glob` skips a folder that it cannot read
        for shard in store.root.glob("??/"):
            for path in shard.iterdir():
                with suppress(FileNotFoundError):  # discarded meanwhile
                    path.open("rb").close()
    except OSError as error:
        raise BackupError(f"{error.filename} cannot be read: {error.strerror}") from None


def _copy(store: storage.Store, folder: Path) -> int:
    """Copy what is not in the folder yet; returns how many these are."""
    count = 0
    for name in (name for name in storage.whole(store) if not (folder / name).exists()):
        try:
            (folder / name).write_bytes(store.get(name))
            count += 1
        except NotFound:  # discarded meanwhile
            continue
        except Unavailable as error:
            raise BackupError(f"{name} cannot be read: {error.__cause__}") from None
    return count


def _revisions() -> list[str]:
    with direct(UNLIMITED).connect() as connection:
        return sorted(MigrationContext.configure(connection).get_current_heads())


def _run(program: str, *arguments: str, source: BinaryIO | None = None, output: BinaryIO | None = None) -> None:
    """Run one of PostgreSQL's programs on our database; its password is in no list of processes.

    What it reads or writes goes through a pipe of ours: when this process is killed, the program meets the pipe's end
    and gives up too, and a restore, which is one transaction, leaves nothing.
    """
    executable = shutil.which(program)
    if executable is None:
        raise BackupError(f"{program} is not in PATH: install PostgreSQL's client programs, as new as the server")
    url = sa.make_url(settings.database_url)
    _, parameters = url.get_dialect()().create_connect_args(url)  # of several hosts each with its port
    password = parameters.pop("password", None)
    env = {**environment(), **({"PGPASSWORD": password} if password else {})}
    with TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603  # the program is PostgreSQL's, the arguments are ours
            [executable, f"--dbname={make_dsn(**parameters)}", *arguments],
            env=env,
            stdin=subprocess.PIPE if source else subprocess.DEVNULL,
            stdout=subprocess.PIPE if output else subprocess.DEVNULL,
            stderr=errors,
        )
        with process:
            try:
                _pass_on(process, source, output)
            except BaseException:
                process.kill()
                raise
        if process.returncode:
            errors.seek(0)
            message = errors.read().decode(errors="replace").strip()[-500:]
            raise BackupError(f"{program} failed: {message}")


def _pass_on(process: subprocess.Popen[bytes], source: BinaryIO | None, output: BinaryIO | None) -> None:
    if process.stdin and source:
        with suppress(BrokenPipeError), process.stdin as pipe:  # it has failed, and says why
            shutil.copyfileobj(source, pipe)
    if process.stdout and output:
        shutil.copyfileobj(process.stdout, output)
