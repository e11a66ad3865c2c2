"""Access to the settings and extensions of the running application, for modules that do not import Flask."""

from __future__ import annotations

from typing import Any, cast

from flask import current_app
from werkzeug.local import LocalProxy

from config import Config


def extensions() -> dict[str, Any]:
    return current_app.extensions


def current() -> Config:
    """Return the configuration object itself, not the proxy `settings`.

    Use this object as a cache key, or where a reference to the configuration is stored.
    """
    config: Config = extensions()["config"]
    return config


settings: Config = cast(Config, LocalProxy(current))
