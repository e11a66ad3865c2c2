"""Settings of the service: the only place that reads the environment.

`Config.from_env` turns a mapping of strings into typed values and names everything that is missing or wrong in one
error. Each setting says its own environment variable and meaning; the README's table is made from them
(`flask settings`).
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit

from dotenv import dotenv_values

ROOT = Path(__file__).resolve().parent
INSTANCE = ROOT / "instance"

#: Where pictures go when nothing else is said.
MEDIA = INSTANCE / "media"

#: Written by `make run`: where its servers are, and the secrets that it made. Every process of the checkout finds them.
DEVELOPMENT_ENV = INSTANCE / "development.env"

MIN_SECRET_BYTES = 32


class ConfigError(Exception):
    """Everything wrong with the settings, one line a setting."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        hint = "`ENVIRONMENT=development flask keys new` prints a set of good secrets."
        super().__init__("Wrong or missing settings:\n" + "\n".join(f"  {line}" for line in problems) + f"\n{hint}")


def environment() -> dict[str, str]:
    """The process's variables over those of `.env` over those that `make run` wrote; empty ones count as absent."""
    files = {} if os.environ.get("ENVIRONMENT") == "production" else dotenv_values(DEVELOPMENT_ENV)
    merged = {**files, **dotenv_values(ROOT / ".env"), **os.environ}
    return {name: value for name, value in merged.items() if value}


# --- how one value is read ------------------------------------------------------------------------------------------


def _boolean(text: str) -> bool:
    values = {
        "1": True,
        "true": True,
        "on": True,
        "yes": True,
        "0": False,
        "false": False,
        "off": False,
        "no": False,
    }
    try:
        return values[text.strip().lower()]
    except KeyError:
        raise ValueError("must be on or off") from None


def _integer(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"-?\d{1,12}", text.strip()) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return read


def _span(low: int, high: int) -> Callable[[str], tuple[int, int]]:
    def read(text: str) -> tuple[int, int]:
        match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text.strip())
        if not match or not low <= int(match[1]) <= int(match[2]) <= high:
            raise ValueError(f"must be two whole numbers from {low} to {high}, as in 30-300")
        return int(match[1]), int(match[2])

    return read


def _choice(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    return read


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http or https address")
    return text.rstrip("/")


def _page_url(text: str) -> str:
    """Like `_url`, but the path is kept to the letter: it is a page, not the root of an interface."""
    _url(text)
    return text


def _origins(text: str) -> tuple[str, ...]:
    return tuple(_url(part) for part in _list(text))


def _database_url(text: str) -> str:
    # SQLAlchemy 2.1 reads `postgresql://` as psycopg 3.
    match = re.fullmatch(r"postgres(?:ql)?(?:\+psycopg2)?(://.*)", text)
    if not match:
        raise ValueError("must be a postgresql:// address")
    return "postgresql+psycopg2" + match[1]


def _redis_url(text: str) -> str:
    if urlsplit(text).scheme not in ("redis", "rediss", "unix", "sentinel"):
        raise ValueError("must be a redis://, rediss://, unix:// or sentinel:// address")
    return text


def _nik_keys(text: str) -> tuple[tuple[str, bytes], ...]:
    keys: list[tuple[str, bytes]] = []
    for part in _list(text):
        kid, _, encoded = part.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            key = b""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,16}", kid) or len(key) != 32:
            raise ValueError("must be a comma list of kid:base64 of 32 bytes")
        keys.append((kid, key))
    if len({kid for kid, _ in keys}) != len(keys) or not keys:
        raise ValueError("must name at least one key, and each key id once")
    return tuple(keys)


def setting(
    env: str, doc: str, *, default: Any = MISSING, read: Callable[[str], Any] = str, secret: bool = False
) -> Any:
    """One setting: its environment variable, its meaning, how its text is read, and what serves when it is absent."""
    metadata = {"env": env, "doc": doc, "read": read, "secret": secret}
    return field(default=default, metadata=metadata, repr=not secret)


@dataclass(frozen=True, kw_only=True)
class Config:
    """Every setting of the service, typed. Times are in the unit that the name ends in."""

    # the process
    environment: str = setting(
        "ENVIRONMENT", "`development`, `testing` or `production`", default="production",
        read=_choice("development", "testing", "production"),
    )  # fmt: skip
    port: int = setting("PORT", "Port that gunicorn listens on", default=8000, read=_integer(1, 65535))
    log_level: str = setting(
        "LOG_LEVEL", "Least severe log line that is written", default="INFO",
        read=_choice("DEBUG", "INFO", "WARNING", "ERROR"),
    )  # fmt: skip
    trusted_proxies: int = setting(
        "TRUSTED_PROXIES",
        "How many proxies stand in front and set the forwarded headers",
        default=0,
        read=_integer(0, 10),
    )
    cors_origins: tuple[str, ...] = setting(
        "CORS_ORIGINS", "Comma list of the origins whose pages may call the API (default: that of `FRONTEND_URL`)",
        default=(), read=_origins,
    )  # fmt: skip
    frontend_url: str = setting(
        "FRONTEND_URL", "Address of the single-page application; reset links point there", read=_url
    )
    rate_limits: bool = setting("RATE_LIMITS", "`on` or `off`", default=True, read=_boolean)
    metrics_token: str | None = setting(
        "METRICS_TOKEN", "When set, `/metrics` asks for it as a bearer token", default=None, secret=True
    )

    # where the data lives
    database_url: str = setting("DATABASE_URL", "PostgreSQL, 15 or newer", read=_database_url, secret=True)
    database_pooler_url: str | None = setting(
        "DATABASE_POOLER_URL",
        "PgBouncer in transaction mode in front of `DATABASE_URL`, which then serves migrations, exports and SQL alone "
        "(run `flask pooler` once)",
        default=None, read=_database_url, secret=True,
    )  # fmt: skip
    database_pool_size: int = setting(
        "DATABASE_POOL_SIZE", "Connections that one process keeps", default=8, read=_integer(1, 200)
    )
    redis_url: str = setting("REDIS_URL", "Redis 7 or Valkey 8, or newer", read=_redis_url, secret=True)
    media_root: Path = setting(  # noqa: RUF009  # `setting` is a field
        "MEDIA_ROOT",
        "Folder of the pictures",
        default=MEDIA,
        read=lambda text: Path(text).absolute(),
    )
    media_s3_bucket: str | None = setting(
        "MEDIA_S3_BUCKET", "Bucket of the pictures, in place of the folder", default=None
    )
    media_s3_endpoint: str | None = setting(
        "MEDIA_S3_ENDPOINT", "Address of an S3-compatible store", default=None, read=_url
    )

    # secrets
    secret_key: str = setting("SECRET_KEY", "Signs what the service hands out and takes back", secret=True)
    jwt_secret_keys: tuple[str, ...] = setting(
        "JWT_SECRET_KEYS",
        "Comma list; the first signs access tokens, all verify them",
        read=_list,
        secret=True,
    )
    nik_keys: tuple[tuple[str, bytes], ...] = setting(
        "NIK_KEYS", "Comma list of `kid:base64 of 32 bytes`; the first encrypts NIK, all decrypt it", read=_nik_keys,
        secret=True,
    )  # fmt: skip

    # sessions
    access_token_minutes: int = setting(
        "ACCESS_TOKEN_MINUTES", "Life of an access token", default=15, read=_integer(1, 1440)
    )
    refresh_token_days: int = setting("REFRESH_TOKEN_DAYS", "Life of a session", default=30, read=_integer(1, 365))
    refresh_idle_days: int = setting(
        "REFRESH_IDLE_DAYS", "A session unused for so long ends", default=7, read=_integer(1, 365)
    )
    admin_session_hours: int = setting(
        "ADMIN_SESSION_HOURS", "Life of an administrator's session", default=12, read=_integer(1, 720)
    )
    admin_idle_minutes: int = setting(
        "ADMIN_IDLE_MINUTES",
        "An administrator's session unused for so long ends",
        default=30,
        read=_integer(1, 1440),
    )
    superadmin_token_minutes: int = setting(
        "SUPERADMIN_TOKEN_MINUTES",
        "Life of a super-admin token, which has no refresh",
        default=15,
        read=_integer(1, 120),
    )
    superadmin_sql_mode: str = setting(
        "SUPERADMIN_SQL_MODE", "`ro` makes the SQL console read-only", default="rw", read=_choice("rw", "ro")
    )
    superadmin_database_url: str | None = setting(
        "SUPERADMIN_DATABASE_URL",
        "Address that the SQL console logs in with (default: `DATABASE_URL`); `flask sql-role create` makes a role"
        " that can only read",
        default=None,
        read=_database_url,
        secret=True,
    )

    # messaging
    messaging_provider: str = setting(
        "MESSAGING_PROVIDER", "`fonnte`, `whatsapp_cloud`, or `outbox`: stored, sent nowhere", default="outbox",
        read=_choice("fonnte", "whatsapp_cloud", "outbox"),
    )  # fmt: skip
    messaging_url: str | None = setting(
        "MESSAGING_URL", "Base address in place of the provider's own", default=None, read=_url
    )
    messaging_token: str | None = setting(
        "MESSAGING_TOKEN", "Token of the messaging provider", default=None, secret=True
    )
    messaging_sender_id: str | None = setting(
        "MESSAGING_SENDER_ID", "Phone number id (`whatsapp_cloud` only)", default=None
    )

    # human verification
    captcha_secret: str | None = setting(
        "CAPTCHA_SECRET", "Secret of reCAPTCHA, hCaptcha or Turnstile; without it registration asks for none",
        default=None, secret=True,
    )  # fmt: skip
    captcha_url: str = setting(
        "CAPTCHA_URL",
        "Address of `siteverify`",
        default="https://www.google.com/recaptcha/api/siteverify",
        read=_url,
    )

    # places
    places_key: str | None = setting(
        "PLACES_KEY",
        "Key of the places provider; without it the database alone answers",
        default=None,
        secret=True,
    )
    places_url: str = setting(
        "PLACES_URL",
        "Base address of the places provider",
        default="https://maps.googleapis.com/maps/api/place",
        read=_url,
    )
    geocoder: str = setting(
        "GEOCODER",
        "`offline`, `google` or `nominatim`",
        default="offline",
        read=_choice("offline", "google", "nominatim"),
    )
    geocoder_key: str | None = setting("GEOCODER_KEY", "Key of the geocoder (`google`)", default=None, secret=True)
    geocoder_url: str | None = setting(
        "GEOCODER_URL", "Base address in place of the geocoder's own", default=None, read=_url
    )

    # content
    video_key: str | None = setting(
        "VIDEO_KEY",
        "Key of the video platform; without it the live routes answer 502",
        default=None,
        secret=True,
    )
    video_url: str = setting(
        "VIDEO_URL",
        "Base address of the video platform",
        default="https://www.googleapis.com/youtube/v3",
        read=_url,
    )
    article_source_url: str = setting(
        "ARTICLE_SOURCE_URL", "List page of the health ministry's site",
        default="https://ayosehat.kemkes.go.id/artikel", read=_page_url,
    )  # fmt: skip
    article_hosts: tuple[str, ...] = setting(
        "ARTICLE_HOSTS", "Comma list of hosts (`host` or `host:port`) of articles (default: the source's)",
        default=(), read=_list,
    )  # fmt: skip

    # web push
    vapid_public_key: str | None = setting("VAPID_PUBLIC_KEY", "Public key of web push, base64url", default=None)
    vapid_private_key: str | None = setting(
        "VAPID_PRIVATE_KEY", "Private key of web push, base64url", default=None, secret=True
    )
    vapid_subject: str | None = setting("VAPID_SUBJECT", "`mailto:` or https address of the operator", default=None)
    push_hosts: tuple[str, ...] = setting(
        "PUSH_HOSTS",
        "Comma list of hosts that push endpoints may have (default: any public one)",
        default=(),
        read=_list,
    )

    # broadcasts
    broadcast_delay_seconds: tuple[int, int] = setting(
        "BROADCAST_DELAY_SECONDS",
        "Range of the random wait before a broadcast",
        default=(30, 300),
        read=_span(0, 86400),
    )
    broadcast_hours: tuple[int, int] = setting(
        "BROADCAST_HOURS", "Local hours in which broadcasts are sent", default=(8, 20), read=_span(0, 24)
    )
    broadcast_per_minute: int = setting(
        "BROADCAST_PER_MINUTE",
        "Most broadcast messages a minute, all users together",
        default=60,
        read=_integer(1, 1_000_000),
    )
    broadcast_per_user_per_day: int = setting(
        "BROADCAST_PER_USER_PER_DAY",
        "Most broadcast messages a user and day",
        default=1,
        read=_integer(0, 100),
    )

    @property
    def is_production(self) -> bool:
        return self.environment == "production"

    @property
    def is_development(self) -> bool:
        return self.environment == "development"

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """Origins of CORS: those of the setting, else that of the front end."""
        if self.cors_origins:
            return self.cors_origins
        parts = urlsplit(self.frontend_url)
        return (f"{parts.scheme}://{parts.netloc}",)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Self:
        """Read every setting from `env` (default: `environment()`).

        `NAME_FILE` gives a secret from a file. Raises `ConfigError` that names all that is missing or wrong.
        """
        env = environment() if env is None else env
        problems: list[str] = []
        values: dict[str, Any] = {}
        defaults = development_defaults() if env.get("ENVIRONMENT") in ("development", "testing") else {}
        for spec in fields(cls):
            name = spec.metadata["env"]
            try:
                text = _text(env, name, secret=spec.metadata["secret"])
                text = defaults.get(name) if text is None else text
                if text is not None:
                    values[spec.name] = cast(Callable[[str], Any], spec.metadata["read"])(text)
                elif spec.default is MISSING:
                    problems.append(f"{name} is missing: {spec.metadata['doc']}")
            except ValueError as error:
                problems.append(f"{name} {error}")
        if not problems:
            config = cls(**values)
            problems = _conflicts(config)
            if not problems:
                return config
        raise ConfigError(problems)


def development_defaults() -> dict[str, str]:
    """What serves in development and testing alone; each secret is refused in production by `_conflicts`."""
    return {
        "DATABASE_URL": "postgresql://localhost/health",
        "REDIS_URL": "redis://localhost:6379/0",
        "FRONTEND_URL": "http://localhost:5173",
        "SECRET_KEY": "development-only-secret-key-not-for-production",
        "JWT_SECRET_KEYS": "development-only-jwt-secret-that-no-production-service-ever-accepts",
        "NIK_KEYS": "dev:" + base64.b64encode(b"development-only-nik-key-32-byte").decode(),
    }


def _text(env: Mapping[str, str], name: str, *, secret: bool) -> str | None:
    if env.get(name):
        return env[name]
    path = env.get(f"{name}_FILE") if secret else None
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip() or None
    except OSError as error:
        raise ValueError(f"cannot be read from {path}: {error.strerror}") from error


def _conflicts(config: Config) -> list[str]:
    """What is wrong between settings, each of which is well-formed alone."""
    problems: list[str] = []
    if config.messaging_provider != "outbox" and not config.messaging_token:
        problems.append(f"MESSAGING_TOKEN is missing: {config.messaging_provider} needs it")
    if config.messaging_provider == "whatsapp_cloud" and not config.messaging_sender_id:
        problems.append("MESSAGING_SENDER_ID is missing: whatsapp_cloud needs it")
    if config.geocoder == "google" and not config.geocoder_key:
        problems.append("GEOCODER_KEY is missing: google needs it")
    if bool(config.vapid_public_key) != bool(config.vapid_private_key):
        problems.append("VAPID_PUBLIC_KEY and VAPID_PRIVATE_KEY go together")
    if config.is_production:
        problems += _production_problems(config)
    return problems


def _production_problems(config: Config) -> list[str]:
    problems = [
        f"{name.upper()} is missing: web push needs it in production"
        for name in ("vapid_public_key", "vapid_private_key", "vapid_subject")
        if getattr(config, name) is None
    ]
    secrets = [
        ("SECRET_KEY", config.secret_key),
        *(("JWT_SECRET_KEYS", key) for key in config.jwt_secret_keys),
        *(("NIK_KEYS", base64.b64encode(key).decode()) for _, key in config.nik_keys),
    ]
    seen: dict[str, str] = {}
    known = "development-only"
    for name, value in secrets:
        raw = base64.b64decode(value) if name == "NIK_KEYS" else value.encode()
        if len(raw) < MIN_SECRET_BYTES or len(set(raw)) < 10 or raw.startswith(known.encode()):
            problems.append(f"{name} is weak or a default: at least {MIN_SECRET_BYTES} random bytes are needed")
        if value in seen:
            problems.append(f"{name} repeats a secret of {seen[value]}: every purpose needs its own")
        seen[value] = name
    return problems
