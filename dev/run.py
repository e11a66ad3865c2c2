"""`make run`: run the whole service on this machine as in production, with its own servers and secrets.

PostgreSQL, Valkey, gunicorn and the workers are children of this process. If DATABASE_URL or REDIS_URL is set, the
program uses that server and does not start its own. When this process ends or is killed, all its children end too. If a
child crashes, the program ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import http.client
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator

from config import DEVELOPMENT_ENV, INSTANCE, ROOT, Config, ConfigError, environment
from dev.servers import free_port, programs, start_postgres, start_valkey
from dev.settings import defaults, given, known_to_config, secrets_of, write_private
from dev.simulators import webhooks
from dev.supervisor import Child, Supervisor, ToolError, end_orphans, short
from dev.terminal import Stopped, Warnings, say, step, stop_signals, waiting

LOGS = INSTANCE / "logs"
SERVERS, SERVICE = INSTANCE / "servers.processes", INSTANCE / "service.processes"
QUEUES = ("urgent", "bulk")

WELCOME = """
The service runs.

  Start page         {here}/
  API                {here}/api
  API docs           {here}/api/docs
  Messages sent      {here}/dev/outbox
  Health             {here}/healthz   {here}/readyz   {here}/metrics

  Demo logins        superadmin, admin, siti (pasien), budi (pendamping); password rahasia123
  Commands           .venv/bin/flask --help
  Backup             needs pg_dump: PATH={programs}:$PATH deploy/backup FOLDER
  Logs               {logs}

Warnings appear below. Ctrl-C ends everything.
"""


class RunsAlreadyError(ToolError):
    """Another `make run` has locked this checkout."""


def main() -> int:
    try:
        with stop_signals() as pause, only_one_here() as announce:
            port, env = read_settings()
            announce(port)
            with reserved(port):
                serve(port, env, pause)
    except Stopped:
        say("Stopped.")
        return 0
    except (ToolError, ConfigError) as error:
        say(str(error))
    return 1


def serve(port: int, env: dict[str, str], pause: Callable[[float], None]) -> None:
    """Start all servers and processes, and watch them until an exception ends this function."""
    end_orphans(SERVICE)
    end_orphans(SERVERS)

    def watch(seconds: float) -> None:
        servers.check()
        pause(seconds)

    with (
        Supervisor(LOGS, register=SERVERS, pause=pause, tell=waiting) as servers,
        Supervisor(LOGS, register=SERVICE, pause=watch, tell=waiting) as service,
    ):
        try:
            say(f"Starting in {ROOT}")
            env |= start_servers(servers, env)
            here = f"http://127.0.0.1:{port}"
            env |= {name: value for name, value in simulators(servers, env, here).items() if not given(env, name)}
            servers.afterwards.callback(DEVELOPMENT_ENV.unlink, missing_ok=True)
            write_private(DEVELOPMENT_ENV, known_to_config(env))
            start_service(service, port, env)
            say(WELCOME.format(here=here, programs=short(programs()), logs=short(LOGS)))
            warnings = Warnings({child.name: child.log for child in service.children})
            while True:
                warnings.show()
                service.check()
                watch(0.3)
        except ToolError as error:
            say(f"\n{error}")
            say("Ending the rest.")
            raise SystemExit(1) from None
        except Stopped:
            say("\nStopping ...")
            raise


def start_servers(supervisor: Supervisor, env: dict[str, str]) -> dict[str, str]:
    """Start PostgreSQL and Valkey, unless the user has configured their addresses. Return their settings."""
    found: dict[str, str] = {}
    if not given(env, "DATABASE_URL"):
        with step("PostgreSQL"):
            found["DATABASE_URL"] = start_postgres(supervisor, INSTANCE / "postgres").url()
    if not given(env, "REDIS_URL"):
        with step("Valkey"):
            found["REDIS_URL"] = start_valkey(supervisor, INSTANCE / "valkey").url
    return found


def simulators(supervisor: Supervisor, env: dict[str, str], here: str) -> dict[str, str]:
    """Start simulators of all providers if SIMULATE=1, and return the settings that use them.

    The messaging simulator calls the webhooks of the service at the address `here`.
    """
    if env.get("SIMULATE", "").lower() not in ("1", "on", "true", "yes"):
        return {}
    with step("Provider simulators"):
        child = supervisor.spawn("simulators", [sys.executable, "-m", "dev.simulators", here], env=env, cwd=ROOT)
        supervisor.wait_until(lambda: child.log.read_text(errors="replace").endswith("}\n"), child)
    return {**json.loads(child.log.read_text().splitlines()[-1]), **webhooks.settings()}


def start_service(supervisor: Supervisor, port: int, env: dict[str, str]) -> None:
    def start(name: str, *words: str) -> Child:
        return supervisor.spawn(name, [sys.executable, "-m", *words], env=env, cwd=ROOT, patience=10)

    with step("Migrations, seed and demo data"):
        supervisor.complete(start("prepare", "dev.prepare"))
    with step("gunicorn and the workers"):
        # Start gunicorn after `prepare`, because a client may wait for /readyz and then log in as a demo user.
        web = start("web", "gunicorn", "-c", "gunicorn.conf.py", "dev.wsgi:app")
        for queue in QUEUES:
            # Each worker process reads only one queue. With two queues, RQ can lose a job when the worker process
            # crashes.
            start(f"worker-{queue}", "rq.cli", "worker", "-c", "worker", "-w", "worker.Worker", queue)
        supervisor.wait_until(lambda: is_ready(port), web)
        supervisor.check()


def is_ready(port: int) -> bool:
    """Return whether `/readyz` of the service at this port answers 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


# --- checks before any server starts --------------------------------------------------------------------------


@contextlib.contextmanager
def only_one_here() -> Iterator[Callable[[int], None]]:
    """Lock the checkout, because two runs at the same time would share a database folder.

    Yield a function that stores the port of this run. The error message of a second run contains the stored port.
    """
    try:
        INSTANCE.mkdir(exist_ok=True)
        file = (INSTANCE / "run.lock").open("a+")
    except PermissionError:
        raise ToolError(f"{INSTANCE} belongs to another user: make it yours, or remove it.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise RunsAlreadyError(f"It runs here already: {file.read().strip() or 'it is just starting'}.") from None
        file.truncate(0)

        def announce(port: int) -> None:
            file.write(f"http://127.0.0.1:{port}, process {os.getpid()}")
            file.flush()

        yield announce


def read_settings() -> tuple[int, dict[str, str]]:
    """Return the port and the checked settings, with defaults for settings that a developer can omit."""
    DEVELOPMENT_ENV.unlink(missing_ok=True)  # After a killed run, this file may name servers that have ended.
    env = environment()
    if env.get("ENVIRONMENT", "development") != "development":
        raise ToolError(f"`make run` is for development, but ENVIRONMENT is {env['ENVIRONMENT']}.")
    Config.from_env({**env, "ENVIRONMENT": "development"})
    port = env.get("PORT", "8000")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise ToolError("PORT must be a whole number from 1 to 65535")
    env.pop("BIND", None)  # BIND is for a service behind a proxy. `make run` uses only PORT.
    made = {**defaults(int(port), env), **secrets_of(INSTANCE / "secrets.env"), "PYTHONUNBUFFERED": "1"}
    return int(port), {name: value for name, value in made.items() if not given(env, name)} | env


@contextlib.contextmanager
def reserved(port: int) -> Iterator[None]:
    """Raise `ToolError` if the port is taken. Otherwise reserve the port, so that no other user can open it.

    gunicorn opens the port with SO_REUSEPORT, so another process of the same user could still share the port.
    """
    here = ("127.0.0.1", port)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(here)
        except OSError as error:
            why = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
            raise ToolError(f"Port {port} {why}; choose another: make run PORT={free_port()}") from None
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(here)
        yield


if __name__ == "__main__":
    sys.exit(main())
