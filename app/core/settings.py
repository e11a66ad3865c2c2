"""The running application's configuration, for code that has no Flask in its arguments."""

from __future__ import annotations

from typing import cast

from flask import current_app
from werkzeug.local import LocalProxy

from config import Config


def current() -> Config:
    """The configuration itself, to keep or to look up by."""
    config: Config = current_app.extensions["config"]
    return config


settings: Config = cast(Config, LocalProxy(current))
