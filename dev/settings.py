"""Settings of `make run`: secrets that are created once, and the file that passes settings to other processes."""

from __future__ import annotations

import base64
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from dotenv import dotenv_values

from app.providers import vapid
from config import SETTINGS

#: Usual origin of a client that runs on the developer's machine.
CLIENT_ORIGIN = "http://localhost:5173"


def given(env: Mapping[str, str], name: str) -> bool:
    """Return whether the user set this setting, in its own variable or in its `_FILE` variable."""
    return bool(env.get(name) or env.get(f"{name}_FILE"))


def defaults(port: int, env: Mapping[str, str]) -> dict[str, str]:
    """Return default settings for a developer who has not configured a client.

    Reset links open a development page, and the usual origins of clients may call the API.
    """
    settings = {"ENVIRONMENT": "development"}
    if not given(env, "FRONTEND_URL"):
        settings["FRONTEND_URL"] = f"http://localhost:{port}/dev"
        settings["CORS_ORIGINS"] = f"http://localhost:{port},http://127.0.0.1:{port},{CLIENT_ORIGIN}"
    if not given(env, "PUBLIC_URL"):
        settings["PUBLIC_URL"] = f"http://localhost:{port}"
    return settings


def secrets_of(file: Path) -> dict[str, str]:
    """Return the development secrets in `file`. Create and store missing secrets."""
    known = {name: value for name, value in dotenv_values(file).items() if value} if file.exists() else {}
    makers: dict[str, Callable[[], str]] = {
        "SECRET_KEY": lambda: secrets.token_urlsafe(48),
        "JWT_SECRET_KEYS": lambda: secrets.token_urlsafe(48),
        "NIK_KEYS": lambda: "dev:" + base64.b64encode(secrets.token_bytes(32)).decode(),
        "VAPID_PRIVATE_KEY": lambda: vapid.new_keys()[1],
    }
    settings = {name: make() for name, make in makers.items() if name not in known}
    if settings:
        write_private(file, known | settings)
    return known | settings


def write_private(file: Path, values: Mapping[str, str]) -> None:
    """Write `values` to an env file that only its owner can read. Replace the file in one step."""
    lines = [f"{name}='{_escaped(value)}'\n" for name, value in sorted(values.items())]
    unfinished = file.with_name(f"{file.name}.new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.writelines(lines)
    unfinished.replace(file)


def known_to_config(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.removesuffix("_FILE") in SETTINGS}


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
