"""Simulator of captcha verification: `siteverify` of reCAPTCHA, hCaptcha and Turnstile."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Refusals, Simulator

SECRET = "simulated-captcha-secret"
LIFE_S = 120.0
HUMAN = "human-"


class Captcha(Simulator):
    """A captcha provider. It accepts each token with the prefix `human-` once. `solve` creates a token of any age."""

    name = "captcha"

    def __init__(self) -> None:
        super().__init__()
        #: Times until tokens are valid. A used token has the time 0.
        self._valid_until: dict[str, float] = {}

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
            self._valid_until.clear()

    def solve(self, age_s: float = 0.0) -> str:
        with self.lock:
            token = f"{HUMAN}{len(self._valid_until)}-{time.monotonic_ns()}"
            self._valid_until[token] = time.time() + LIFE_S - age_s
        return token

    def _verify(self) -> ResponseReturnValue:
        # Real captcha services read only form data, and ignore a JSON body.
        token = request.form.get("response", "")
        if request.form.get("secret") != SECRET:
            return refusal("invalid-input-secret")
        if not token.startswith(HUMAN):
            return refusal("invalid-input-response")
        with self.lock:
            if self._valid_until.get(token, time.time()) < time.time():
                return refusal("timeout-or-duplicate")
            self._valid_until[token] = 0
        return {"success": True, "hostname": "localhost"}


def refusal(code: str) -> ResponseReturnValue:
    """Return an error. `siteverify` always has HTTP status 200, and its field `success` is false."""
    return {"success": False, "error-codes": [code]}
