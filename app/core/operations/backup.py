"""Backup and restore of the database (with pg_dump) and the pictures, in one folder.

A folder with `manifest.json` is a complete backup. It contains no data exports of users. The pictures are copied after
the dump. Only pictures that are deleted between the dump and the copy are missing.

A tombstone is the record that a user was erased. A restore reads the tombstones of all backups in the same parent
folder, because later backups contain more tombstones.
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
from app.core.lib import local_time
from app.core.media import pictures, storage
from app.core.media.storage import Area
from app.core.operations.failures import OperatorError
from app.core.settings import settings
from config import environment

DUMP = "database.dump"
PICTURES = "media"
HIDDEN_PICTURES = "hidden"
TOMBSTONES = "tombstones"
MANIFEST = "manifest.json"


def backup(target: Path) -> str:
    """Write a backup into the new folder `target`. Return a summary for the operator."""
    if target.exists():
        raise OperatorError(f"{target} is there already; a backup never overwrites another")
    for store in (*_picture_stores().values(), storage.area(Area.TOMBSTONES)):
        _check(store)
    unfinished = target.with_name(f"{target.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    unfinished.chmod(0o700)  # only the owner may read it, because the backup contains personal data
    revisions = _revisions()
    with (unfinished / DUMP).open("xb") as dump:
        _run("pg_dump", "--format=custom", "--no-owner", "--no-acl", output=dump)
    count = 0
    for part, store in _picture_stores().items():
        (unfinished / part).mkdir()
        count += _copy(store, unfinished / part)
    # Copy the hidden pictures again. A picture may have been hidden between the first copy of the hidden pictures and
    # the copy of the main store.
    count += _copy(pictures.hidden(), unfinished / HIDDEN_PICTURES)
    tombstones = storage.area(Area.TOMBSTONES)
    (unfinished / TOMBSTONES).mkdir()
    for name in storage.whole(tombstones):
        (unfinished / TOMBSTONES / name).write_bytes(tombstones.get(name))
    manifest = {"made_at": local_time.rfc3339(local_time.now()), "migrations": revisions, "pictures": count}
    (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    unfinished.rename(target)
    return f"{target}: the database at {', '.join(revisions)} and {count} pictures."


def restore(source: Path) -> str:
    """Restore the backup in `source` into an empty database and the picture stores."""
    try:
        manifest = json.loads((source / MANIFEST).read_text())
    except FileNotFoundError:
        raise OperatorError(f"{source} is no finished backup: {MANIFEST} is not there") from None
    with direct(UNLIMITED).connect() as connection:
        tables = sa.inspect(connection).get_table_names()
    if tables:
        raise OperatorError(f"the database is not empty ({len(tables)} tables): restore into a new one")
    # Restore pictures before rows, so that every row finds its picture. Names are random, so pictures do not overwrite
    # others.
    for part, store in _picture_stores().items():
        for path in sorted((source / part).glob("*")):  # older backups have no folder for hidden pictures
            store.put(path.name, path.read_bytes(), pictures.CONTENT_TYPE)
    # Restore tombstones before the dump. If the restore is killed later, the service still erases these people again.
    for path in sorted(source.absolute().parent.glob(f"*/{TOMBSTONES}/*")):
        # If `MEDIA_ROOT` is next to the backup, the pattern also finds subfolders of the tombstone store. Skip these.
        if path.is_file():
            storage.area(Area.TOMBSTONES).put(path.name, path.read_bytes(), "text/plain")
    with (source / DUMP).open("rb") as dump:
        _run("pg_restore", "--no-owner", "--no-acl", "--exit-on-error", "--single-transaction", source=dump)
    return f"Restored the backup of {manifest['made_at']}: {manifest['pictures']} pictures, migrations as of then."


def _picture_stores() -> dict[str, storage.Store]:
    """Return the picture stores by backup folder.

    Hidden pictures are copied before the main store. Otherwise a picture that is shown again between the two copies
    would be missing.
    """
    return {HIDDEN_PICTURES: pictures.hidden(), PICTURES: pictures.store()}


def _check(store: storage.Store) -> None:
    """Raise `OperatorError` if a file is unreadable. Call this before the dump, because the dump may take long."""
    if not isinstance(store, storage.FolderStore):
        return
    try:
        with suppress(FileNotFoundError):  # no picture has been stored yet
            next(store.root.iterdir(), None)  # check this separately, because `glob` skips a folder that it cannot read
        for shard in store.root.glob("??/"):
            for path in shard.iterdir():
                with suppress(FileNotFoundError):  # the file was deleted after it was listed
                    path.open("rb").close()
    except OSError as error:
        raise OperatorError(f"{error.filename} cannot be read: {error.strerror}") from None


def _copy(store: storage.Store, folder: Path) -> int:
    """Copy the files that the backup folder does not have yet. Return the number of copied files."""
    count = 0
    for name in (name for name in storage.whole(store) if not (folder / name).exists()):
        try:
            (folder / name).write_bytes(store.get(name))
            count += 1
        except NotFound:  # the file was deleted after it was listed
            continue
        except Unavailable as error:
            raise OperatorError(f"{name} cannot be read: {error.__cause__}") from None
    return count


def _revisions() -> list[str]:
    with direct(UNLIMITED).connect() as connection:
        return sorted(MigrationContext.configure(connection).get_current_heads())


def _run(program: str, *arguments: str, source: BinaryIO | None = None, output: BinaryIO | None = None) -> None:
    """Run a PostgreSQL program on the service's database. The data goes through a pipe of this process.

    If this process is killed, the pipe closes and the program fails. A killed restore leaves nothing in the database,
    because a restore is one transaction.
    """
    executable = shutil.which(program)
    if executable is None:
        raise OperatorError(f"{program} is not in PATH: install PostgreSQL's client programs, as new as the server")
    url = sa.make_url(settings.database_url)
    # this dialect function also handles several hosts with ports
    _, parameters = url.get_dialect()().create_connect_args(url)
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
            raise OperatorError(f"{program} failed: {message}")


def _pass_on(process: subprocess.Popen[bytes], source: BinaryIO | None, output: BinaryIO | None) -> None:
    if process.stdin and source:
        # a broken pipe: the program failed, and its error output has the reason
        with suppress(BrokenPipeError), process.stdin as pipe:
            shutil.copyfileobj(source, pipe)
    if process.stdout and output:
        shutil.copyfileobj(process.stdout, output)
