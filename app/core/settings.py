"""The running application's configuration, for code that has no Flask in its arguments."""

from __future__ import annotations

from typing import cast

from flask import current_app
from werkzeug.local import LocalProxy

from config import Config

settings: Config = cast(Config, LocalProxy(lambda: current_app.extensions["config"]))
