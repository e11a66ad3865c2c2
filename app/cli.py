"""The `flask` commands, one line each into a service."""

from __future__ import annotations

from flask import Flask


def init_app(app: Flask) -> None:
    pass
