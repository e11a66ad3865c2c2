"""Tests of `make run`: one command starts the service, and one signal ends all its processes."""

import os
import re
import signal
import socket

import pytest
import requests

from dev.run import is_ready
from dev.stack.waiting import PATIENCE_S, wait_until
from tests.e2e.launcher import Launcher, copy_checkout

pytestmark = [pytest.mark.takes(seconds=60), pytest.mark.processes]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with Launcher(copy_checkout(tmp_path_factory.mktemp("run") / "first")) as launcher:
        yield launcher
    assert launcher.is_gone()


@pytest.fixture(scope="module")
def other_checkout(tmp_path_factory):
    return copy_checkout(tmp_path_factory.mktemp("run") / "second")


@pytest.fixture(scope="module")
def lived_in(other_checkout):
    """Return a checkout of an earlier run. That run created the user joko. Then Ctrl-C ended the run."""
    with Launcher(other_checkout) as launcher:
        launcher.flask("users", "create", "--username", "joko", "--role", "pasien", "--password", "sandi123")
        for _ in range(2):
            os.killpg(launcher.process.pid, signal.SIGINT)
        assert launcher.process.wait(PATIENCE_S) == 0
        assert launcher.is_gone()
        assert not (other_checkout / "instance" / "development.env").exists()
    return other_checkout


def login(launcher, username, password="rahasia123"):
    body = {"username": username, "password": password}
    return requests.post(f"{launcher.url}/api/login", json=body, timeout=PATIENCE_S).status_code


def test_the_printed_pages_accounts_and_tools_exist(running):
    pages = re.findall(rf"{running.url}(/\S*)", running.output)
    assert {"/", "/api", "/api/docs", "/dev/outbox", "/healthz", "/readyz"} <= set(pages)
    for page in set(pages) - {"/api"}:
        assert requests.get(running.url + page, timeout=PATIENCE_S).status_code == 200, page
    for name in re.findall(r"superadmin|admin|siti|budi", running.output):
        assert login(running, name) == 200, name
    (folder,) = re.findall(r"PATH=(\S+):\$PATH", running.output)
    assert (running.checkout / folder / "pg_dump").exists()


def test_login_works_as_soon_as_the_service_is_ready(tmp_path):
    launcher = Launcher(copy_checkout(tmp_path / "third"))
    launcher.start()
    try:
        wait_until(lambda: is_ready(launcher.port))
        assert login(launcher, "siti") == 200
    finally:
        launcher.end()


def test_flask_commands_find_the_servers_without_configuration(running):
    running.flask("users", "create", "--username", "wati", "--role", "pasien", "--password", "sandi123")
    assert login(running, "wati", "sandi123") == 200
    assert re.fullmatch(r"\d+ NIK can be read\.\n", running.beside("flask", "nik", "verify"))


def test_a_second_start_in_one_checkout_is_refused_with_the_url_of_the_first(running):
    second = Launcher(running.checkout)
    second.screen = running.screen.with_name("second.screen")
    second.start()
    assert second.process.wait(PATIENCE_S) == 1
    assert second.output == f"It runs here already: {running.url}, process {running.process.pid}.\n"
    assert login(running, "siti") == 200


@pytest.mark.parametrize(
    ("name", "words"), [("web", "gunicorn"), ("worker-bulk", "worker.Worker bulk"), ("postgres", "bin/postgres -D")]
)
def test_a_crash_of_one_process_is_reported_and_ends_only_its_own_checkout(running, lived_in, name, words):
    secrets = (lived_in / "instance" / "secrets.env").read_text()
    with Launcher(lived_in) as other:
        assert (lived_in / "instance" / "secrets.env").read_text() == secrets
        assert login(other, "joko", "sandi123") == 200  # joko's account is still in the database
        assert login(running, "joko", "sandi123") == 401
        other.child(words).kill()
        assert other.process.wait(PATIENCE_S) == 1
        assert f"{name} was ended by SIGKILL, unexpectedly." in other.output
        assert f"instance/logs/{name}.log" in other.output
        wait_until(other.is_gone)
    assert login(running, "siti") == 200


def test_a_used_port_is_reported_in_one_line_before_any_start(other_checkout):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        launcher = Launcher(other_checkout, port=port)
        launcher.start()
        assert launcher.process.wait(PATIENCE_S) == 1
    assert re.fullmatch(rf"Port {port} is taken; choose another: make run PORT=\d+\n", launcher.output)


def test_invalid_settings_are_reported_before_postgresql_starts(other_checkout):
    launcher = Launcher(other_checkout, RATE_LIMITS="perhaps", MESSAGING_PROVIDER="pigeon")
    launcher.start()
    assert launcher.process.wait(PATIENCE_S) == 1
    assert "RATE_LIMITS must be on or off" in launcher.output
    assert "MESSAGING_PROVIDER must be one of" in launcher.output
    assert "PostgreSQL" not in launcher.output


def test_servers_and_settings_of_the_user_override_the_defaults(lived_in, variables):
    with Launcher(lived_in, SIMULATE="1", MESSAGING_PROVIDER="outbox", **variables) as launcher:
        assert login(launcher, "siti") == 200
        assert login(launcher, "joko", "sandi123") == 401
        commands = [" ".join(process.cmdline()) for process in launcher.processes()]
        assert not [command for command in commands if "postgres" in command or "valkey" in command]
        settings = (lived_in / "instance" / "development.env").read_text()
        assert re.search(r"^VIDEO_URL='http://127\.0\.0\.1:\d+/", settings, re.MULTILINE)
        # Settings of the user override those of `make run`.
        assert "MESSAGING_PROVIDER='outbox'" in settings
        assert launcher.child("dev.simulators").is_running()
        # If the launcher is killed with SIGKILL, every child also ends.
        launcher.process.kill()
        wait_until(launcher.is_gone)


def test_flask_commands_start_and_stop_servers_if_none_run(lived_in):
    stopped = Launcher(lived_in)
    assert "PostgreSQL ..." in stopped.beside("flask", "db", "upgrade")
    assert re.fullmatch(
        r"  PostgreSQL .*\n  Valkey .*\n\d+ NIK can be read\.\n", stopped.beside("flask", "nik", "verify")
    )
    assert stopped.is_gone()
