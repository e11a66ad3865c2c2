"""Control routes of the simulators: received calls, faults and actions. Tests in other processes use these routes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Blueprint, abort, jsonify, request
from flask.typing import ResponseReturnValue

from dev.simulators.messaging import Messaging
from dev.simulators.push import Push
from dev.simulators.replayed import Captcha, Heartbeat, Ministry, PlacesSearch, Videos
from dev.simulators.server import Server


@contextmanager
def simulators(port: int = 0) -> Iterator[Server]:
    """Run all simulators during the block.

    >>> with simulators() as sim:
    ...     sim.fault("messaging", "hang", times=1)
    """
    server = Server([Messaging(), Captcha(), Videos(), Ministry(), Push(), PlacesSearch(), Heartbeat()], port)
    server.serve(control_routes(server))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def control_routes(server: Server) -> Blueprint:
    blueprint = Blueprint("control", __name__, url_prefix="/_control")

    @blueprint.get("/env")
    def env() -> ResponseReturnValue:
        return server.env

    @blueprint.get("/calls/<name>")
    def calls(name: str) -> ResponseReturnValue:
        if name not in server.simulators:
            abort(404)
        return jsonify(server.simulators[name].received())

    @blueprint.post("/fault")
    def fault() -> ResponseReturnValue:
        options: dict[str, Any] = request.get_json()
        try:
            server.fault(options.pop("name"), options.pop("kind"), **options)
        except (KeyError, TypeError, ValueError) as error:
            return {"error": str(error)}, 400
        return {}, 201

    @blueprint.post("/clear")
    def clear() -> ResponseReturnValue:
        server.clear_faults()
        return {}

    @blueprint.post("/reset")
    def reset() -> ResponseReturnValue:
        server.reset()
        return {}

    @blueprint.post("/<name>/<action>")
    def act(name: str, action: str) -> ResponseReturnValue:
        actions = server.simulators[name].actions() if name in server.simulators else {}
        if action not in actions:
            abort(404)
        return jsonify(actions[action](**request.get_json(silent=True) or {}))

    return blueprint
