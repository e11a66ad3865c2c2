"""Simulator of captcha verification: `siteverify` of reCAPTCHA, hCaptcha and Turnstile."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Refusals, Simulator

SECRET = "simulated-captcha-secret"
LIFE_S = 120.0
HUMAN = "human-"


class Captcha(Simulator):
    """A captcha provider. It accepts a token with the prefix `human-` if the token was not used before.

    `solve` creates a token of any age.
    """

    name = "captcha"

    def __init__(self) -> None:
        super().__init__()
        self._solved: dict[str, float] = {}
        self._used: set[str] = set()

    def env(self) -> dict[str, str]:
        return {"CAPTCHA_SECRET": SECRET, "CAPTCHA_URL": f"{self.url}/siteverify"}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post("/siteverify")(self._verify)

    def refusals(self) -> Refusals:
        codes = ("invalid-input-secret", "invalid-input-response", "timeout-or-duplicate", "bad-request")
        return {code: partial(refusal, code) for code in codes}

    def actions(self) -> dict[str, Callable[..., Any]]:
        return {"solve": self.solve}

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self._solved.clear()
            self._used.clear()

    def solve(self, age_s: float = 0.0) -> str:
        with self.lock:
            token = f"{HUMAN}{len(self._solved)}-{time.monotonic_ns()}"
            self._solved[token] = time.time() - age_s
        return token

    def _verify(self) -> ResponseReturnValue:
        # Real captcha services read only form data, and ignore a JSON body.
        if not request.form.get("secret"):
            return refusal("missing-input-secret")
        if request.form["secret"] != SECRET:
            return refusal("invalid-input-secret")
        token = request.form.get("response", "")
        if not token:
            return refusal("missing-input-response")
        if not token.startswith(HUMAN):
            return refusal("invalid-input-response")
        with self.lock:
            solved = self._solved.setdefault(token, time.time())
            if token in self._used or time.time() - solved > LIFE_S:
                return refusal("timeout-or-duplicate")
            self._used.add(token)
        moment = datetime.fromtimestamp(solved, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return {"success": True, "challenge_ts": moment, "hostname": "localhost"}


def refusal(code: str) -> ResponseReturnValue:
    """Return an error. `siteverify` always has HTTP status 200, and its field `success` is false."""
    return {"success": False, "error-codes": [code]}
