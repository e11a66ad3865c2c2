"""Simulator of a heartbeat monitor with the API of healthchecks.io. The simulator records each call."""

from __future__ import annotations

from flask import Blueprint, request
from flask.typing import ResponseReturnValue

from dev.simulators.base import Refusals, Simulator

CHECK = "5c1a1d1e-0b7e-4d0a-9d7a-3a1f0e9b8c7d"


class Heartbeat(Simulator):
    """A heartbeat monitor. `said` contains a pair for each call.

    The first value of a pair is `success` or `fail`, and the second value is the request body.
    """

    name = "heartbeat"

    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str]] = []

    def env(self) -> dict[str, str]:
        return {"HEARTBEAT_URL": f"{self.url}/{CHECK}"}

    def routes(self, blueprint: Blueprint) -> None:
        blueprint.post(f"/{CHECK}", defaults={"what": "success"})(self._hear)
        blueprint.post(f"/{CHECK}/<what>")(self._hear)

    def refusals(self) -> Refusals:
        return {"unknown": lambda: ("(not found)", 404), "rate": lambda: ("(rate limited)", 429)}

    def reset(self) -> None:
        super().reset()
        with self.lock:
            self.said.clear()

    def _hear(self, what: str) -> ResponseReturnValue:
        with self.lock:
            self.said.append((what, request.get_data(as_text=True)))
        return "OK"
