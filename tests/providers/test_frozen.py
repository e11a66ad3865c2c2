"""Tests of a process that is suspended during a call. The call returns the response or has an unknown outcome."""

import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from config import ROOT
from dev.stack.waiting import wait_until

pytestmark = pytest.mark.processes

BUDGET_S = 4.0

CALL = f"""
import sys
from app.providers.http import Http, ProviderError
http = Http("test", read_s={BUDGET_S}, budget_s={BUDGET_S}, attempts=1)
print("ready", flush=True)
sys.stdin.readline()
try:
    print(http.fetch("POST", sys.argv[1], data={{}}).json(), flush=True)
except ProviderError as error:
    print(error.kind, error.outcome_unknown, flush=True)
"""
ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{"ok":true}'


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def caller(server):
    url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    command = [sys.executable, "-c", CALL, url]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        yield process
        process.kill()


def begin(caller, server):
    """Start the call, read its request to the end, suspend the process and return the connection."""
    assert caller.stdin is not None
    caller.stdin.write("\n")
    caller.stdin.flush()
    connection, _ = server.accept()
    assert connection.recv(65536).startswith(b"POST")
    caller.send_signal(signal.SIGSTOP)
    wait_until(lambda: psutil.Process(caller.pid).status() == psutil.STATUS_STOPPED)
    return connection


def outcome(caller):
    caller.send_signal(signal.SIGCONT)
    assert caller.stdout is not None
    return caller.stdout.readline()


def test_a_response_during_suspension_is_returned_or_its_outcome_is_unknown(caller, server):
    with begin(caller, server) as connection:
        connection.sendall(ANSWER)
        time.sleep(BUDGET_S + 0.5)
        assert outcome(caller) in ("{'ok': True}\n", "timeout True\n", "broken True\n")
