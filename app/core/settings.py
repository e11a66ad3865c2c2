"""The running application's configuration and extensions, for code below the routes, which knows no Flask."""

from __future__ import annotations

from typing import Any, cast

from flask import current_app
from werkzeug.local import LocalProxy

from config import Config


def extensions() -> dict[str, Any]:
    """Return what the running application holds, by name."""
    return current_app.extensions


def current() -> Config:
    """The configuration itself, to keep or to look up by."""
    config: Config = extensions()["config"]
    return config


settings: Config = cast(Config, LocalProxy(current))
