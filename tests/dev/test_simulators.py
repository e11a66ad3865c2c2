"""Tests of the simulator server: faults, control routes, and start and end of its process."""

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

from config import Config
from dev.simulators import faults, simulators
from dev.stack.waiting import PATIENCE_S, wait_until

TOKEN = {"Authorization": "simulated-messaging-token"}
FORM = {"target": "6281234567890", "message": "Halo", "countryCode": "62"}


def send(sim, *, within_s=PATIENCE_S, **options):
    with requests.Session() as session:  # Each call uses a new connection, so that a fault affects only one call.
        return session.post(f"{sim.url}/messaging/send", headers=TOKEN, data=FORM, timeout=within_s, **options)


def test_a_connection_fault_fails_one_call_and_the_next_succeeds(sim):
    errors = {
        "down": requests.ConnectionError,
        "drop": requests.exceptions.ChunkedEncodingError,
        "hang": requests.ReadTimeout,
        "not_http": requests.ConnectionError,
    }
    for kind, error in errors.items():
        sim.fault("messaging", kind)
        with pytest.raises(error):
            send(sim, within_s=0.3 if kind == "hang" else PATIENCE_S)
        assert sim.messaging.sent == []
        assert send(sim).json()["status"] is True
        assert [call.fault for call in sim.messaging.calls] == [kind, None]
        sim.reset()


def test_each_content_fault_returns_its_response(sim):
    sim.fault("messaging", "garbage")
    reply = send(sim)
    assert reply.headers["Content-Type"] == "application/json"
    with pytest.raises(ValueError, match=r"."):
        reply.json()
    sim.fault("messaging", "wrong_type")
    assert send(sim).headers["Content-Type"].startswith("text/html")
    sim.fault("messaging", "status", status=429, retry_after=7)
    reply = send(sim)
    assert (reply.status_code, reply.headers["Retry-After"]) == (429, "7")
    sim.fault("messaging", "redirect")
    reply = send(sim, allow_redirects=False)
    assert (reply.status_code, reply.headers["Location"]) == (302, "http://10.0.0.1/latest/meta-data/")


def test_a_fault_after_sending_loses_only_the_response(sim):
    sim.fault("messaging", "drop", after=True)
    with pytest.raises(requests.RequestException):
        send(sim)
    assert len(sim.messaging.sent) == 1


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


def test_calls_are_recorded_with_path_query_headers_and_body(sim):
    requests.post(f"{sim.url}/messaging/send?a=1", headers=TOKEN, data=FORM, timeout=PATIENCE_S)
    call = sim.messaging.calls[0]
    assert (call.method, call.path, call.query) == ("POST", "/send", {"a": "1"})
    assert call.headers["authorization"] == TOKEN["Authorization"]
    assert "target=6281234567890" in call.body


def test_other_processes_can_set_faults_read_calls_and_reset_over_http(sim):
    control = f"{sim.url}/_control"
    order = {"name": "messaging", "kind": "status", "times": 1, "status": 503}
    assert requests.post(f"{control}/fault", json=order, timeout=PATIENCE_S).status_code == 201
    assert [send(sim).status_code for _ in range(2)] == [503, 200]
    received = requests.get(f"{control}/calls/messaging", timeout=PATIENCE_S).json()
    assert [message["text"] for message in received] == ["Halo"]
    assert requests.post(f"{control}/captcha/solve", timeout=PATIENCE_S).json().startswith("human-")
    assert requests.post(f"{control}/fault", json={"name": "x", "kind": "hang"}, timeout=PATIENCE_S).status_code == 400
    assert requests.get(f"{control}/calls/nobody", timeout=PATIENCE_S).status_code == 404
    requests.post(f"{control}/reset", timeout=PATIENCE_S)
    assert requests.get(f"{control}/calls/messaging", timeout=PATIENCE_S).json() == []


def test_every_provider_setting_points_at_the_simulators(sim):
    config = Config.from_env({"ENVIRONMENT": "testing", **sim.env})
    assert config.messaging_provider == "fonnte"
    for address in (config.messaging_url, config.captcha_url, config.video_url, config.article_source_url):
        assert address is not None
        assert address.startswith(sim.url)
    assert config.article_hosts == (sim.url.removeprefix("http://"),)


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


def test_the_process_prints_its_settings_serves_and_ends_on_sigterm():
    command = [sys.executable, "-m", "dev.simulators", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["env"]["CAPTCHA_URL"] == f"{ready['url']}/captcha/siteverify"
        assert requests.get(f"{ready['url']}/_control/env", timeout=PATIENCE_S).json() == ready["env"]
        os.kill(process.pid, signal.SIGTERM)
        rest, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, rest, errors) == (0, "", "")
