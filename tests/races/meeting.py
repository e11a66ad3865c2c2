"""Tool for tests of concurrent requests. It uses a real server, real commits, and threads that start together.

An encounter is a generator function. It prepares rows, yields the concurrent calls, receives their responses in the
same order, and checks the result. `@encounter(200, 404)` lists the allowed statuses. Every other status is a failure.
"""

import http.client
import json
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Barrier, Thread
from typing import Any

import sqlalchemy as sa
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server

from app.core.database.session import db, unit_of_work
from app.identity import sessions
from app.identity.models import RoleName
from dev.stack.waiting import PATIENCE_S
from tests.helpers.factories import PASSWORD, make_user

#: HTTP statuses that mean success.
FINE = frozenset({200, 201, 202, 204})


@dataclass(frozen=True)
class Response:
    status: int
    body: Any


@dataclass(frozen=True)
class Call:
    """One request that is not sent yet. `upload` is the picture of a multipart form. `key` is the `Idempotency-Key`."""

    method: str
    path: str
    body: Any = None
    token: str | None = None
    upload: bytes | None = None
    key: str | None = None

    def __str__(self):
        return f"{self.method} {self.path} {self.body}"

    def content(self):
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if self.key:
            headers["Idempotency-Key"] = self.key
        if self.upload is not None:
            part = b'--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n'
            return part + self.upload + b"\r\n--x--\r\n", {**headers, "Content-Type": "multipart/form-data; boundary=x"}
        if self.body is None:
            return None, headers
        return json.dumps(self.body).encode(), {**headers, "Content-Type": "application/json"}


@dataclass(frozen=True)
class Job:
    """Work of a worker or scheduler that runs at the same time. Its status is 200, or 500 after an exception."""

    work: Callable[[], object]

    def __str__(self):
        return f"job {self.work}"


@dataclass(frozen=True)
class Person:
    """A logged-in person, with methods that return calls of this person."""

    id: int = 0
    username: str = ""
    token: str | None = None
    refresh_token: str = ""

    def get(self, path):
        return Call("GET", path, None, self.token)

    def post(self, path, **body):
        return Call("POST", path, body, self.token)

    def put(self, path, **body):
        return Call("PUT", path, body, self.token)

    def upload(self, path, picture):
        return Call("PUT", path, None, self.token, picture)

    def delete(self, path, **body):
        return Call("DELETE", path, body or None, self.token)

    def log_in(self):
        return Call("POST", "/login", {"username": self.username, "password": PASSWORD})


NOBODY = Person()


@dataclass
class Scene:
    """Functions that prepare and check the rows of an encounter."""

    app: Flask
    port: int
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def person(self, *roles, **data):
        with unit_of_work():
            user = make_user(*roles, **data)
            pair = sessions.begin(user)
            return Person(user.id, user.username, pair.access_token, pair.refresh_token)

    def admin(self):
        return self.person(RoleName.ADMIN)

    def new(self, call):
        """Send one call alone, and return the id of the created record."""
        response = self.send(call)
        assert response.status in FINE, response
        return response.body["id"]

    def number(self):
        return next(self.numbers)

    def sql(self, text, **values):
        """Return the value in the first column of the first row."""
        with db.engine.connect() as connection:
            return connection.execute(sa.text(text), values).scalar()

    def change(self, text, **values):
        """Change rows directly in the database, for changes that the API does not offer."""
        with db.engine.begin() as connection:
            connection.execute(sa.text(text), values)

    def send(self, call, barrier=None):
        body, headers = call.content()
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)) as connection:
            connection.connect()
            if barrier is not None:
                barrier.wait(PATIENCE_S)
            connection.request(call.method, f"/api{call.path}", body, headers)
            response = connection.getresponse()
            text = response.read()
            is_json = response.headers.get_content_type() == "application/json"
            return Response(response.status, json.loads(text) if is_json and text else text)

    def run(self, job, barrier):
        with self.app.app_context():
            barrier.wait(PATIENCE_S)
            try:
                return Response(200, job.work())
            except Exception as error:  # noqa: BLE001  # as a worker logs it
                return Response(500, repr(error))

    def meet(self, calls):
        barrier = Barrier(len(calls))

        def start(call):
            return self.run(call, barrier) if isinstance(call, Job) else self.send(call, barrier)

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(start, calls))


Script = Generator[Sequence[Call | Job], list[Response], None]
Encounter = Callable[[Scene], Script]


@dataclass(frozen=True)
class Registered:
    name: str
    run: Encounter
    statuses: frozenset[int]


ENCOUNTERS = []


def encounter(*statuses, name=""):
    """Register an encounter (a group of concurrent calls). `statuses` are the allowed statuses of its calls."""

    def register(run):
        ENCOUNTERS.append(Registered(name or run.__name__, run, frozenset(statuses)))
        return run

    return register


def play(scene, registered):
    """Run an encounter once, and check the statuses of its calls."""
    script = registered.run(scene)
    calls = next(script)
    responses = scene.meet(calls)
    told = [f"{call}: {response.status} {response.body}" for call, response in zip(calls, responses, strict=True)]
    assert {response.status for response in responses} <= registered.statuses, "\n".join(told)
    try:
        script.send(responses)
    except StopIteration:
        pass
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *told])) from error
    else:
        raise RuntimeError("an encounter yields once")


class _Handler(WSGIRequestHandler):
    def log_request(self, *_):
        """Write no log line, because the application already logs each request."""


@contextmanager
def serving(app):
    """Run the application on a threaded HTTP server, and yield the server's loopback port."""
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Handler)
    thread = Thread(target=server.serve_forever, name="races")
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def statuses(responses):
    return sorted(response.status for response in responses)
