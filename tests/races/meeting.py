"""Concurrent requests and jobs, each in its own thread and with real commits."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from threading import Barrier
from typing import Any

import sqlalchemy as sa
from flask import Flask
from psycopg2.errors import ForeignKeyViolation
from sqlalchemy.exc import IntegrityError

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

    def told(self):
        """Return the status, and the code of an error."""
        if self.status < 400:
            return self.status, None
        return self.status, self.body.get("error") if isinstance(self.body, dict) else self.body


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
    name: str = ""

    def __str__(self):
        return self.name


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
    """Functions that prepare and check rows, and run calls."""

    app: Flask
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

    def send(self, call):
        body, headers = call.content()
        with self.app.app_context():
            response = self.app.test_client().open(f"/api{call.path}", method=call.method, data=body, headers=headers)
        return Response(response.status_code, response.json if response.is_json and response.data else response.data)

    def do(self, call):
        """Send a request, or run a job."""
        if not isinstance(call, Job):
            return self.send(call)
        with self.app.app_context():
            try:
                return Response(200, call.work())
            except IntegrityError as error:
                # A job that adds rows for a person who is deleted meanwhile fails. The scheduler runs it again.
                return Response(200 if isinstance(error.orig, ForeignKeyViolation) else 500, repr(error))
            except Exception as error:  # noqa: BLE001  # as a worker logs it
                return Response(500, repr(error))

    def forget(self):
        """Empty Redis."""
        self.app.extensions["redis"].flushdb()

    def meet(self, calls):
        """Run calls in threads that start together. Return their responses."""
        barrier = Barrier(len(calls))

        def start(call):
            barrier.wait(PATIENCE_S)
            return self.do(call)

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(start, calls))


def statuses(responses):
    return sorted(response.status for response in responses)
