"""Tests of the simulator server: faults, and start and end of its process."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from time import monotonic

import pytest
import requests

from dev.simulators import faults, simulators
from dev.stack.waiting import PATIENCE_S, wait_until

TOKEN = {"Authorization": "simulated-messaging-token"}
FORM = {"target": "6281234567890", "message": "Halo", "countryCode": "62"}


def send(sim):
    return requests.post(f"{sim.url}/messaging/send", headers=TOKEN, data=FORM, timeout=PATIENCE_S)


def test_a_fault_applies_to_its_paths_and_its_number_of_calls(sim):
    sim.fault("messaging", "status", times=2, status=500, match="/send")
    assert [send(sim).status_code for _ in range(3)] == [500, 500, 200]
    sim.fault("messaging", "status", times=None, status=500, match="/messages")
    assert send(sim).status_code == 200
    sim.fault("messaging", "status", times=None, status=503)
    assert [send(sim).status_code for _ in range(3)] == [503, 503, 503]
    sim.clear_faults()
    assert send(sim).status_code == 200


def test_an_unknown_fault_is_refused_with_a_list_of_known_faults(sim):
    with pytest.raises(ValueError, match="rate_limit"):
        sim.fault("messaging", "sunspots")


def test_the_server_stops_during_hanging_calls_and_leaves_no_thread():
    before = set(threading.enumerate())
    with simulators() as sim, socket.create_connection(("127.0.0.1", int(sim.url.rpartition(":")[2]))) as idle:
        sim.fault("messaging", "hang", times=None)
        idle.sendall(b"POST /messaging/send HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
        wait_until(lambda: bool(sim.messaging.calls))
        started = monotonic()
    # The server stops without waiting until the hanging request ends.
    assert monotonic() - started < faults.PATIENCE_S
    wait_until(lambda: set(threading.enumerate()) <= before)


def test_the_process_prints_its_settings_calls_the_service_and_ends_on_sigterm():
    with socket.create_server(("127.0.0.1", 0)) as service:
        service.settimeout(PATIENCE_S)
        command = [sys.executable, "-m", "dev.simulators", f"http://127.0.0.1:{service.getsockname()[1]}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            url = json.loads(process.stdout.readline())["MESSAGING_URL"]
            requests.post(f"{url}/send", headers=TOKEN, data=FORM, timeout=PATIENCE_S)
            connection, _ = service.accept()
            assert connection.recv(100).startswith(b"POST /api/webhooks/fonnte/")  # the receipt of the message
            connection.close()
            os.kill(process.pid, signal.SIGTERM)
            rest, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, rest, errors) == (0, "", "")
