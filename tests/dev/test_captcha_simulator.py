"""Tests of the simulated `siteverify` responses of reCAPTCHA, hCaptcha and Turnstile."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from dev.simulators import Server
from dev.simulators.captcha import SECRET
from dev.stack.waiting import PATIENCE_S


def verify(sim: Server, **form: str) -> Any:
    form = {"secret": SECRET, "response": "human-1", "remoteip": "203.0.113.9"} | form
    reply = requests.post(f"{sim.url}/captcha/siteverify", data=form, timeout=PATIENCE_S)
    assert reply.status_code == 200
    return reply.json()


def refused(code: str) -> dict[str, Any]:
    return {"success": False, "error-codes": [code]}


def test_a_token_is_accepted_only_once(sim: Server) -> None:
    first = verify(sim)
    assert first["success"] is True
    assert first["challenge_ts"].endswith("Z")
    assert first["hostname"] == "localhost"
    assert verify(sim) == refused("timeout-or-duplicate")


def test_a_token_expires_after_two_minutes(sim: Server) -> None:
    assert verify(sim, response=sim.captcha.solve(age_s=110))["success"] is True
    assert verify(sim, response=sim.captcha.solve(age_s=121)) == refused("timeout-or-duplicate")


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"secret": "wrong"}, "invalid-input-secret"),
        ({"secret": ""}, "missing-input-secret"),
        ({"response": ""}, "missing-input-response"),
        ({"response": "robot"}, "invalid-input-response"),
    ],
)
def test_a_wrong_secret_or_token_has_an_error_code(sim: Server, form: dict[str, str], code: str) -> None:
    assert verify(sim, **form) == refused(code)


def test_a_json_body_is_not_read(sim: Server) -> None:
    body = {"secret": SECRET, "response": "human-1"}
    reply = requests.post(f"{sim.url}/captcha/siteverify", json=body, timeout=PATIENCE_S)
    assert reply.json() == refused("missing-input-secret")
