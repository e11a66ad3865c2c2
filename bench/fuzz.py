"""`make fuzz`: requests generated from the OpenAPI document, as an anonymous caller and with each role.

Schemathesis sends valid and invalid requests. The document must describe each response, and no request may crash the
service. Afterwards `bench.malformed` sends requests with malformed bodies and headers. `tests/fuzz` runs a few requests
of both kinds.

`python -m bench.fuzz [seed]` begins with another seed.
"""

from __future__ import annotations

import re
import secrets
import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import schemathesis
from flask import Flask
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events

from app.core.database.session import db, unit_of_work
from app.core.errors import Unauthorized
from app.core.web.fields import Loaded
from app.identity import sessions, users
from app.identity.models import RoleName, User
from app.providers import vapid
from bench import malformed
from bench.environment import environment
from dev import demo
from dev.simulators import simulators

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

#: Numbers of requests.
GENERATED, MALFORMED = 20_000, 10_000

WHO: tuple[RoleName | None, ...] = (None, *RoleName)

#: Checks of schemathesis that are switched off. The routes break the rules of some checks on purpose. Other tests cover
#: the rules of the remaining checks.
LEFT_OUT = {
    # The document cannot describe rules between fields, expired codes and province names, so a 400 response is right.
    "positive_data_acceptance",
    # The path `/faskes/search` also matches `/faskes/<id>`, so it also accepts the methods of `/faskes/<id>`.
    "allow_header_conformance",
    "ignored_auth",  # excluded because tests/architecture calls every route with every kind of token
    "missing_required_header",  # excluded because this is the same check under another name
}

#: Header of a generated request. The session's token replaces it when the request is sent.
SESSION = "Bearer session"


@dataclass
class Findings:
    """Statuses of all responses, and the faults. Each fault has an example request that causes the fault."""

    answers: Counter[int] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "\n".join(f"{what}\n    {how}" for what, how in self.faults.items()) or "nothing"


class FuzzIdentity:
    """The application for a client with a role, who logs in again if an earlier request ended the session or account.

    The login is right before a request, because schemathesis makes the requests of an operation before it sends them.
    """

    def __init__(self, app: Flask, role: RoleName) -> None:
        self.app = app
        self.role = role
        self.user_id = 0
        self.token = ""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        # A request may lack the header on purpose.
        if environ.get("HTTP_AUTHORIZATION") == SESSION:
            environ["HTTP_AUTHORIZATION"] = f"Bearer {self.current()}"
        return self.app(environ, start_response)

    def current(self) -> str:
        """Return the token of a session that has the role."""
        with self.app.app_context(), unit_of_work():
            if not self._is_valid():
                self.token = self._log_in()
            return self.token

    def _is_valid(self) -> bool:
        try:
            return sessions.get_caller(self.token).has(self.role)
        except Unauthorized:
            return False

    def _log_in(self) -> str:
        person = db.session.get(User, self.user_id)
        if person is None or self.role not in person.role_names:
            name = f"fuzz.{secrets.token_hex(6)}"
            known: Loaded = {"username": name, "password": "rahasia123", "nama_ktp": "F", "nama_samaran": "F"}
            person = users.create(known, [self.role])
            self.user_id = person.id
        if self.role is RoleName.SUPERADMIN:
            return sessions.begin_superadmin(person)
        return sessions.begin(person).access_token

    def get(self, *_: object) -> str:
        return SESSION

    def set(self, case: Any, token: str, _: object) -> None:
        case.headers = {**(case.headers or {}), "Authorization": token}


def operations_of(app: Flask, role: RoleName | None) -> list[str]:
    """Return the ids of the operations that need `role`. Routes for anybody with a token count as those of a pasien."""
    found = []
    for path in app.test_client().get("/api/openapi.json").get_json()["paths"].values():
        for operation in (part for part in path.values() if "operationId" in part):
            needed = re.search("Needs the role ([a-z]+)", operation["description"])
            anybody = RoleName.PASIEN if operation["security"] else None
            if role == (needed[1] if needed else anybody):
                found.append(operation["operationId"])
    return found


def fuzz(app: Flask, role: RoleName | None, *, examples: int, seed: int) -> Findings:
    """Send requests as `role` to the operations that need it. Without a role, the operations need no token.

    Each operation gets `examples` requests, and requests with boundary values (limits) of every field.
    """
    app.config["PROPAGATE_EXCEPTIONS"] = False  # so that a crash gives a 500 response
    findings = Findings()
    caller = FuzzIdentity(app, role) if role is not None else app
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", caller, config=SchemathesisConfig(seed=seed))
    schema = schema.include(operation_id=operations_of(app, role))
    schema.config.generation.update(max_examples=examples)
    schema.config.phases.stateful.enabled = False
    schema.config.auth.auto_signup = False  # otherwise schemathesis would register a user
    for name in LEFT_OUT:
        getattr(schema.config.checks, name).enabled = False
    if isinstance(caller, FuzzIdentity):
        schema.auth.providers.append(caller)
    for event in engine.from_schema(schema).execute():
        match event:
            case events.ScenarioFinished():
                findings.faults |= _faults(event)
                findings.answers.update(
                    each.response.status_code for each in event.recorder.interactions.values() if each.response
                )
            case events.NonFatalError():
                findings.faults[f"{event.label}: schemathesis could not go on: {event.value}"] = ""
            case events.FatalError():
                raise event.exception
    return findings


def _faults(event: events.ScenarioFinished) -> dict[str, str]:
    faults = {}
    for case_id, checks in event.recorder.checks.items():
        for check in checks:
            if check.failure_info is not None and not _is_accepted(check.name, event.recorder.cases[case_id].value):
                failure = check.failure_info.failure
                what = f"{failure.operation}: {check.name}: {failure.title}. {failure.message[:300]}"
                faults[what] = check.failure_info.code_sample[:2000]
    return faults


def _is_accepted(check: str, case: Any) -> bool:
    """Return whether the service accepts this request on purpose, although the document does not describe it.

    Forms are text: `0` is a boolean there, and blank items are left out. In a query, an empty filter is no filter, and
    schemathesis sends an empty object as one. Blanks are no body, which is right where the body is optional.
    """
    is_form = case.media_type == "multipart/form-data"
    has_empty_filter = any(value in ("", {}) for value in (case.query or {}).values())
    is_blank = isinstance(case.body, bytes) and not case.body.strip()
    has_no_body = is_blank and not case.operation.definition.raw["requestBody"]["required"]
    return check == "negative_data_rejection" and (is_form or has_empty_filter or has_no_body)


def main(seed: int = 1) -> int:
    started = time.monotonic()
    answers: Counter[int] = Counter()
    faults = 0
    public, private = vapid.new_keys()
    keys = {"VAPID_PUBLIC_KEY": public, "VAPID_PRIVATE_KEY": private, "VAPID_SUBJECT": "mailto:fuzz@example.org"}
    with simulators() as outside, environment({**outside.env, **keys}) as bench:
        with bench.app.app_context(), unit_of_work():
            demo.fill()
        while answers.total() < GENERATED:
            for role in WHO:
                findings = fuzz(bench.app, role, examples=20, seed=seed)
                answers += findings.answers
                faults += len(findings.faults)
                asked = findings.answers.total()
                print(f"as {role or 'nobody'}, seed {seed}: {asked} requests; {findings}", flush=True)
            seed += 1
        tokens = [FuzzIdentity(bench.app, role).current() for role in WHO if role]
        refused = malformed.ask(bench.app, tokens, examples=MALFORMED, seed=seed)
        print(f"malformed: {refused.total()} requests")
        answers += refused
    by_status = ", ".join(f"{count} x {status}" for status, count in sorted(answers.items()))
    print(f"{answers.total()} requests in {time.monotonic() - started:.0f} s: {by_status}; {faults} faults.")
    return 1 if faults or any(status >= 500 for status in answers) else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
