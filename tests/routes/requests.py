"""Functions that send the good request of a route, and undo what it changed."""

import re
from contextlib import contextmanager

from app.core.database.session import db
from tests.inbox.bodies import sign
from tests.routes.registry import ROUTES


def send(world, route, client=None, *, extra=None, query="", unknown=False):
    """Send the good request of a route, by default as its own sender.

    `extra` are additional fields of the body, and `query` additional parameters. With `unknown`, no record has the ids.
    """
    row = ROUTES[route]
    client = client or getattr(world, row.sender)
    method, path = route.split(" ")

    def value(parameter):
        kind, name = parameter.groups()
        return str(getattr(world, row.at.get(name, name))) if not unknown else "999999999" if kind else "tidak-ada"

    path = re.sub(r"<(?:(\w+):)?(\w+)>", value, path)
    options = {"query_string": "&".join(filter(None, [row.query.format_map(vars(world)), query]))}
    body = row.body(world) if callable(row.body) else row.body
    if isinstance(body, bytes):
        headers = {"X-Hub-Signature-256": sign(body)}
        return client.open(method, path, data=body, content_type="application/json", headers=headers)
    return client.open(method, path, body if extra is None else {**extra, **(body or {})}, **options)


@contextmanager
def undone():
    """Roll back the changes of the block, so that the next route starts with the same rows."""
    db.session.commit()
    savepoint = db.engine.begin_nested()
    try:
        yield
    finally:
        db.session.rollback()
        savepoint.rollback()
