"""`make run`: one command serves, one signal ends it, and nothing stays behind."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.e2e.launcher import Launcher, copy_checkout
from tests.waiting import wait_until

pytestmark = pytest.mark.serial


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("run") / "first")


@pytest.fixture(scope="module")
def other_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_checkout(tmp_path_factory.mktemp("run") / "second")


@pytest.fixture
def running(checkout: Path) -> Iterator[Launcher]:
    with Launcher(checkout) as launcher:
        yield launcher


def login(launcher: Launcher, username: str, password: str = "rahasia123") -> int:
    body = {"username": username, "password": password}
    return requests.post(f"{launcher.url}/api/login", json=body, timeout=10).status_code


def test_everything_it_prints_is_there_and_a_second_checkout_runs_beside_it(
    checkout: Path, other_checkout: Path
) -> None:
    with Launcher(checkout) as launcher:
        pages = re.findall(rf"{launcher.url}(/\S*)", launcher.output)
        assert {"/", "/api", "/api/docs", "/dev/outbox", "/healthz", "/readyz"} <= set(pages)
        for page in set(pages) - {"/api"}:
            assert requests.get(launcher.url + page, timeout=10).status_code == 200, page
        for name in re.findall(r"superadmin|admin|siti|budi", launcher.output):
            assert login(launcher, name) == 200, name
        # `flask` finds the servers without configuration.
        launcher.flask("users", "create", "--username", "wati", "--role", "pasien", "--password", "sandi123")
        assert login(launcher, "wati", "sandi123") == 200

        with Launcher(other_checkout) as other:
            assert login(other, "siti") == 200
            assert login(other, "wati", "sandi123") == 401
        assert other.is_gone()
        assert requests.get(f"{launcher.url}/healthz", timeout=10).status_code == 200
    assert launcher.is_gone()


def test_ctrl_c_twice_and_even_a_kill_end_every_process_and_the_next_start_finds_its_data(checkout: Path) -> None:
    with Launcher(checkout) as launcher:
        secrets = (checkout / "instance" / "secrets.env").read_text()
        launcher.flask("users", "create", "--username", "joko", "--role", "pasien", "--password", "sandi123")
        for _ in range(2):
            os.killpg(launcher.process.pid, signal.SIGINT)
        assert launcher.process.wait(20) == 0
        assert launcher.is_gone()
        assert not (checkout / "instance" / "development.env").exists()
    with Launcher(checkout) as launcher:
        launcher.process.kill()
        wait_until(launcher.is_gone, 15)
    with Launcher(checkout) as launcher:
        assert login(launcher, "joko", "sandi123") == 200
        assert (checkout / "instance" / "secrets.env").read_text() == secrets


@pytest.mark.parametrize(
    ("name", "words"),
    [("web", "gunicorn"), ("worker-bulk", "worker.Worker bulk"), ("postgres", "bin/postgres -D")],
)
def test_a_crash_of_one_process_is_told_and_ends_the_rest(running: Launcher, name: str, words: str) -> None:
    running.child(words).kill()
    assert running.process.wait(30) == 1
    assert f"{name} was ended by SIGKILL, unexpectedly." in running.output
    assert f"instance/logs/{name}.log" in running.output
    wait_until(running.is_gone, 5)


def test_a_second_start_in_one_checkout_is_refused_and_told_where_the_first_is(running: Launcher) -> None:
    second = Launcher(running.checkout)
    second.screen = running.screen.with_name("second.screen")
    second.start()
    assert second.process.wait(10) == 1
    assert second.output == f"It runs here already: {running.url}, process {running.process.pid}.\n"
    assert login(running, "siti") == 200


def test_a_taken_port_is_one_line_before_anything_is_started(other_checkout: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        launcher = Launcher(other_checkout, port=port)
        launcher.start()
        assert launcher.process.wait(10) == 1
    assert re.fullmatch(rf"Port {port} is taken; choose another: make run PORT=\d+\n", launcher.output)


def test_wrong_settings_are_told_before_anything_is_started(other_checkout: Path) -> None:
    launcher = Launcher(other_checkout, RATE_LIMITS="perhaps", MESSAGING_PROVIDER="pigeon")
    launcher.start()
    assert launcher.process.wait(10) == 1
    assert "RATE_LIMITS must be on or off" in launcher.output
    assert "MESSAGING_PROVIDER must be one of" in launcher.output
    assert "PostgreSQL" not in launcher.output


def test_servers_of_the_user_are_used_instead(other_checkout: Path, variables: dict[str, str]) -> None:
    with Launcher(other_checkout, **variables) as launcher:
        assert login(launcher, "siti") == 200
        commands = [" ".join(process.cmdline()) for process in launcher.processes()]
        assert not [command for command in commands if "postgres" in command or "valkey" in command]


def test_simulators_take_the_place_of_every_provider(other_checkout: Path) -> None:
    with Launcher(other_checkout, SIMULATE="1", MESSAGING_PROVIDER="outbox") as launcher:
        settings = (other_checkout / "instance" / "development.env").read_text()
        assert re.search(r"^VIDEO_URL='http://127\.0\.0\.1:\d+/", settings, re.MULTILINE)
        # What the user sets wins.
        assert "MESSAGING_PROVIDER='outbox'" in settings
        assert launcher.child("dev.simulators").is_running()
    assert launcher.is_gone()


def test_a_command_works_whether_or_not_it_runs(other_checkout: Path) -> None:
    stopped = Launcher(other_checkout)
    assert "PostgreSQL ..." in stopped.beside("flask", "db", "upgrade")
    assert re.fullmatch(
        r"  PostgreSQL .*\n  Valkey .*\n\d+ NIK can be read\.\n", stopped.beside("flask", "nik", "verify")
    )
    assert stopped.is_gone()
    with Launcher(other_checkout) as launcher:
        assert re.fullmatch(r"\d+ NIK can be read\.\n", launcher.beside("flask", "nik", "verify"))
