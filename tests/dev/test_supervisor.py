"""Tests that child processes end with their parent, even if the parent is killed."""

import json
import signal
import subprocess
import sys

import psutil
import pytest

from config import ROOT
from dev.stack.waiting import eventually
from dev.supervisor import CrashError, Supervisor, end_orphans

pytestmark = pytest.mark.processes

SLEEP = ["/bin/sleep", "60"]

#: Program that ends after two seconds of processor time.
WORK = "import time\nwhile time.process_time() < 2: pass\nprint('ready', flush=True)"

#: Program that starts a sleeping child, prints the child's process id, and waits to be killed.
STARTER = """
import sys, time
from pathlib import Path
from dev.supervisor import Supervisor

with Supervisor(Path(sys.argv[1])) as supervisor:
    print(supervisor.spawn("sleeper", ["/bin/sleep", "60"]).process.pid, flush=True)
    time.sleep(60)
"""


def gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_children_are_stopped_at_the_end_of_the_with_block(tmp_path):
    with Supervisor(tmp_path) as supervisor:
        pids = [supervisor.spawn(name, SLEEP).process.pid for name in ("one", "two")]
        assert all(map(psutil.pid_exists, pids))
    assert all(map(gone, pids))


def test_a_child_that_ignores_its_signal_is_killed_after_the_timeout(tmp_path):
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.spawn("deaf", ["/bin/sh", "-c", "trap '' TERM; echo deaf; sleep 60"], patience=0.2)
        supervisor.wait_until(lambda: "deaf" in child.log.read_text(), child)
    assert gone(child.process.pid)


def test_child_processes_of_a_crashed_child_are_stopped(tmp_path):
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.spawn("parent", ["/bin/sh", "-c", "sleep 60 & echo $!; wait"])
        supervisor.wait_until(lambda: child.log.read_text().endswith("\n"), child)
        grandchild = int(child.log.read_text())
        child.process.kill()
        child.process.wait()
        assert psutil.pid_exists(grandchild)
    assert eventually(lambda: gone(grandchild))


def test_a_crash_is_reported_with_exit_code_and_last_output(tmp_path):
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.spawn("web", ["/bin/sh", "-c", "echo no such table; exit 3"])
        child.process.wait()
        with pytest.raises(CrashError) as crash:
            supervisor.check()
    assert "web ended with exit code 3" in str(crash.value)
    assert "no such table" in str(crash.value)


def test_waiting_for_a_child_fails_when_the_child_exits(tmp_path):
    with Supervisor(tmp_path) as supervisor, pytest.raises(CrashError, match="exit code 1 while it started"):
        supervisor.wait_until(lambda: False, supervisor.spawn("web", ["/bin/false"]))


def test_a_child_that_uses_the_processor_does_not_time_out(tmp_path):
    with Supervisor(tmp_path) as supervisor:
        child = supervisor.spawn("busy", [sys.executable, "-c", f"{WORK}\ntime.sleep(60)"])
        supervisor.wait_until(lambda: "ready" in child.log.read_text(), child, patience=1)
        supervisor.complete(supervisor.spawn("work", [sys.executable, "-c", WORK]), patience=1)


def test_waiting_for_an_idle_child_times_out(tmp_path):
    with Supervisor(tmp_path) as supervisor, pytest.raises(CrashError, match="hung did nothing for 1 s"):
        supervisor.wait_until(lambda: False, supervisor.spawn("hung", SLEEP), patience=1)


def test_a_long_wait_prints_the_name_of_the_child(tmp_path, monkeypatch):
    monkeypatch.setattr("dev.supervisor.TELL_EVERY_S", 0)
    said = []
    with Supervisor(tmp_path, tell=said.append) as supervisor:
        supervisor.wait_until(lambda: len(said) == 2, supervisor.spawn("web", SLEEP))
    assert said[0] == f"waiting for web, 0 s so far ({tmp_path}/web.log)"


def test_the_log_of_the_run_before_is_kept_and_only_the_owner_can_read_logs(tmp_path):
    (tmp_path / "echo.log").touch(0o644)
    for word in ("first", "second"):
        with Supervisor(tmp_path) as supervisor:
            supervisor.complete(supervisor.spawn("echo", ["/bin/echo", word]))
    assert (tmp_path / "echo.log").read_text() == "second\n"
    assert (tmp_path / "echo.log.1").read_text() == "first\n"
    assert {log.stat().st_mode & 0o777 for log in tmp_path.iterdir()} == {0o600}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_children_end_when_their_starter_is_killed(tmp_path):
    command = [sys.executable, "-c", STARTER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout
        child = int(starter.stdout.readline())
        starter.kill()
    assert eventually(lambda: gone(child))


@pytest.mark.parametrize(("hours_ago", "is_stopped"), [(0, True), (1, False)], ids=["orphan", "reused process id"])
def test_registered_orphan_processes_are_stopped(tmp_path, hours_ago, is_stopped):
    register = tmp_path / "processes"
    with subprocess.Popen(SLEEP, start_new_session=True) as process:
        started = psutil.Process(process.pid).create_time() - 3600 * hours_ago
        register.write_text(json.dumps([process.pid, started, signal.SIGTERM]) + "\n[17, ")
        end_orphans(register)
        assert gone(process.pid) == is_stopped
        process.kill()
    assert not register.exists()
