"""One HTTP server for all simulators, on a loopback port. It can also apply faults."""

from __future__ import annotations

import contextlib
import socket
from io import BytesIO
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Flask
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler
from werkzeug.test import run_wsgi_app
from werkzeug.wrappers import Request, Response

from dev.simulators.base import Call, Simulator
from dev.simulators.faults import LATENCY, WIRE, Exchange, Fault

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class _Handler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002  # werkzeug's name
        """Write no log line, because the simulators record their calls."""


class _Listener(ThreadedWSGIServer):
    """A server that closes its keep-alive connections when it ends, so that the server's threads end too."""

    def __init__(self, host: str, port: int, app: Any) -> None:
        self.open: set[socket.socket] = set()
        super().__init__(host, port, app, handler=_Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self.open):
            with contextlib.suppress(OSError):  # The connection may have ended already.
                connection.shutdown(socket.SHUT_RDWR)


class Server:
    """All simulators, each under `/<name>` and as an attribute, for example `server.messaging`."""

    def __init__(self, simulators: list[Simulator]) -> None:
        self.simulators = {simulator.name: simulator for simulator in simulators}
        self._faults: list[Fault] = []
        self._lock = RLock()
        self._stopped = Event()  # set to end all hanging requests
        self._app = Flask("simulators")
        for simulator in simulators:
            blueprint = Blueprint(simulator.name, __name__, url_prefix=f"/{simulator.name}")
            simulator.routes(blueprint)
            self._app.register_blueprint(blueprint)
        self._listener = _Listener("127.0.0.1", 0, self._answer)
        self.url = f"http://127.0.0.1:{self._listener.port}"
        for simulator in simulators:
            simulator.url = f"{self.url}/{simulator.name}"
        # This socket reserves a port but does not listen, so the port refuses connections.
        self._unheard = socket.socket()
        self._unheard.bind(("127.0.0.1", 0))
        self._thread = Thread(target=self._listener.serve_forever, args=(0.05,), name="simulators", daemon=True)

    def __getattr__(self, name: str) -> Any:
        simulators: dict[str, Simulator] = self.__dict__.get("simulators", {})
        if name in simulators:
            return simulators[name]
        raise AttributeError(name)

    @property
    def env(self) -> dict[str, str]:
        return {name: value for simulator in self.simulators.values() for name, value in simulator.env().items()}

    @property
    def closed_url(self) -> str:
        return f"http://127.0.0.1:{self._unheard.getsockname()[1]}"

    def fault(self, name: str, kind: str, **options: Any) -> Fault:
        """Plan a failure of one simulator. `kind` is a name in `faults.WIRE` or in the simulator's `refusals`."""
        known = {*WIRE, LATENCY, *self.simulators[name].refusals}
        if kind not in known:
            raise ValueError(f"{name} knows no fault {kind!r}, but {', '.join(sorted(known))}")
        fault = Fault(name, kind, **options)
        with self._lock:
            self._faults.append(fault)
        return fault

    def clear_faults(self) -> None:
        """Remove all faults, and end the hanging requests."""
        with self._lock:
            self._faults.clear()
            self._stopped.set()
            self._stopped = Event()

    def reset(self) -> None:
        self.clear_faults()
        for simulator in self.simulators.values():
            simulator.reset()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.clear_faults()
        self._listener.shutdown()
        self._listener.server_close()
        self._unheard.close()
        self._thread.join()

    def _answer(self, environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        request = Request(environ)
        name = request.path.split("/")[1]
        if name not in self.simulators:
            return self._app(environ, start_response)
        body = request.get_data()
        environ["wsgi.input"] = BytesIO(body)
        fault = self._next_fault(name, request.path)
        self._record(name, request, body, fault)
        if fault is None:
            return self._app(environ, start_response)
        if fault.kind == LATENCY:
            self._stopped.wait(fault.seconds)
            return self._app(environ, start_response)
        if fault.after:
            run_wsgi_app(self._app, dict(environ), buffered=True)
        return self._fail(fault, environ)(environ, start_response)

    def _next_fault(self, name: str, path: str) -> Fault | None:
        with self._lock:
            for fault in self._faults:
                if fault.name == name and fault.match in path and (fault.times is None or fault.met < fault.times):
                    fault.met += 1
                    return fault
        return None

    def _record(self, name: str, request: Request, body: bytes, fault: Fault | None) -> None:
        simulator = self.simulators[name]
        call = Call(
            request.method,
            request.path.removeprefix(f"/{name}"),
            request.args.to_dict(),
            {key.lower(): value for key, value in request.headers.items()},
            body.decode("utf-8", "replace"),
            fault.kind if fault else None,
        )
        with simulator.lock:
            simulator.calls.append(call)

    def _fail(self, fault: Fault, environ: WSGIEnvironment) -> Response:
        if fault.kind in WIRE:
            return WIRE[fault.kind](Exchange(fault, environ["werkzeug.socket"], self._stopped))
        return self._app.make_response(self.simulators[fault.name].refusals[fault.kind])
