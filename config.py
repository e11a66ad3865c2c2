"""Settings of the service. Only this module reads the environment.

`Config.from_env` converts strings to typed values, and reports all invalid settings in one error. The environment
variable of a setting is its name in capitals. `flask settings` prints the table of `docs/settings.md`, and `flask
settings --env` prints `.env.example`.

This module must not import `app`, because gunicorn's master process would then keep old code of `app` after a reload.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from dotenv import dotenv_values

ROOT = Path(__file__).resolve().parent
INSTANCE = ROOT / "instance"

#: Default folder for pictures.
MEDIA = INSTANCE / "media"

#: File with addresses of development servers and generated secrets. `make run` writes it. All processes of a checkout
#: read it.
DEVELOPMENT_ENV = INSTANCE / "development.env"

MIN_SECRET_BYTES = 32


#: Settings whose values `flask keys new` prints.
NEW_KEYS = ("SECRET_KEY", "JWT_SECRET_KEYS", "NIK_KEYS", "VAPID_PRIVATE_KEY", "VAPID_SUBJECT")


class ConfigError(Exception):
    """Error with all problems of the settings, one line per setting."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        lines = ["Wrong or missing settings:", *(f"  {line}" for line in problems)]
        if any(line.startswith(NEW_KEYS) for line in problems):
            lines.append("`flask keys new` prints a set of good secrets.")
        super().__init__("\n".join(lines))


def environment() -> dict[str, str]:
    """Return variables from the environment, from `.env`, and from the file of `make run`.

    If several sources have a variable, the first source in this order counts. Production ignores the file of
    `make run`. An empty value counts as missing.
    """
    variables = os.environ  # noqa: TID251  # the only place
    files = {} if variables.get("ENVIRONMENT") == "production" else dotenv_values(DEVELOPMENT_ENV)
    merged = {**files, **dotenv_values(ROOT / ".env"), **variables}
    return {name: value for name, value in merged.items() if value}


# --- parsers of values ----------------------------------------------------------------------------------------------
# The message of a `ValueError` describes a valid value.


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in ("1", "true", "on", "yes", "0", "false", "off", "no"):
        raise ValueError("must be on or off")
    return word in ("1", "true", "on", "yes")


def _integer(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"\s*-?\d{1,12}\s*", text) or not low <= int(text) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(text)

    return read


def _range(low: int, high: int, example: str) -> Callable[[str], tuple[int, int]]:
    def read(text: str) -> tuple[int, int]:
        match = re.fullmatch(r"\s*(\d{1,6})-(\d{1,6})\s*", text)
        if not match or not low <= int(match[1]) <= int(match[2]) <= high:
            raise ValueError(f"must be two whole numbers from {low} to {high}, as in {example}")
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


def _secrets(text: str) -> tuple[str, ...]:
    secrets = _list(text)
    if not secrets:
        raise ValueError("must name at least one secret")
    return secrets


def _countries(text: str) -> tuple[str, ...]:
    codes = tuple(code.removeprefix("+") for code in _list(text))
    if not codes or not all(re.fullmatch(r"\*|[1-9]\d{0,2}", code) for code in codes):
        raise ValueError("must be a comma list of country calling codes, as in 62,65, or *")
    return codes


def _number(text: str) -> str:
    digits = re.sub(r"[\s().-]", "", text).removeprefix("+")
    if not re.fullmatch(r"[1-9]\d{7,14}", digits):
        raise ValueError("must be a phone number with its country code, as in +6281234567890")
    return f"+{digits}"


def _contact(text: str) -> str:
    line = " ".join(text.split())
    if not 1 <= len(line) <= 80:
        raise ValueError("must have 1 to 80 characters, as in WhatsApp 0811-1234-567, Senin-Jumat 08.00-16.00")
    return line


def _path_secret(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{32,200}", text):
        raise ValueError("must be 32 to 200 of A-Z, a-z, 0-9, - and _")
    return text


def _path(text: str) -> Path:
    return Path(text).absolute()


def _url(text: str) -> str:
    return _page_url(text).rstrip("/")


def _page_url(text: str) -> str:
    """Check an address like `_url`, but keep a trailing slash, because the address of a page may need it."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http or https address")
    return text


def _origins(text: str) -> tuple[str, ...]:
    return tuple(_url(part) for part in _list(text))


def _templates(text: str) -> tuple[tuple[str, str], ...]:
    try:
        names = json.loads(text)
    except ValueError:  # the text is not JSON
        names = None
    if not isinstance(names, dict) or not all(isinstance(name, str) and name for name in names.values()):
        raise ValueError('must be a JSON object of kinds and their templates, as in {"reminder": "pengingat"}')
    return tuple(names.items())


#: Example of a URL with several hosts, for an error message. SQLAlchemy cannot read libpq's own format,
#: `h1:5432,h2:5432`.
SEVERAL_HOSTS = "postgresql://user:password@/health?host=h1:5432&host=h2:5432&target_session_attrs=read-write"


def _database_url(text: str) -> str:
    match = re.fullmatch(r"postgres(?:ql)?(?:\+psycopg2)?(://.*)", text)
    if not match:
        raise ValueError("must be a postgresql:// address")
    if "," in urlsplit(text).netloc.rpartition("@")[2]:
        raise ValueError(f"must name several hosts as in {SEVERAL_HOSTS}")
    return "postgresql+psycopg2" + match[1]  # for `postgresql://`, SQLAlchemy 2.1 would use psycopg 3


def _redis_url(text: str) -> str:
    if urlsplit(text).scheme not in ("redis", "rediss", "unix"):
        raise ValueError("must be a redis://, rediss:// or unix:// address")
    return text


def _nik_keys(text: str) -> tuple[tuple[str, bytes], ...]:
    keys: dict[str, bytes] = {}
    parts = _list(text)
    for part in parts:
        kid, _, encoded = part.partition(":")
        try:
            keys[kid] = base64.b64decode(encoded, validate=True)
        except ValueError:  # the text is not base64
            keys[kid] = b""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,16}", kid) or len(keys[kid]) != 32:
            raise ValueError("must be a comma list of kid:base64 of 32 bytes")
    if not keys or len(keys) != len(parts):
        raise ValueError("must name at least one key, and each key id once")
    return tuple(keys.items())


def _vapid_private_key(text: str) -> str:
    try:
        vapid_public_key(text)
    except ValueError:
        raise ValueError("must be 32 bytes in base64url, as `flask keys new` prints them") from None
    return text


def _vapid_subject(text: str) -> str:
    if not re.fullmatch(r"mailto:[^@\s]+@[^@\s]+|https://[^\s/]+\S*", text):
        raise ValueError("must be a mailto: or https address, as in mailto:you@example.org")
    return text


def vapid_public_key(private_key: str) -> str:
    """Return the public key of a private key. Both are in base64url without padding.

    Raise `ValueError` if the private key is invalid.
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    raw = base64.b64decode(private_key.rstrip("=").translate(str.maketrans("-_", "+/")) + "=", validate=True)
    if len(raw) != 32:
        raise ValueError("not 32 bytes")
    public = ec.derive_private_key(int.from_bytes(raw), ec.SECP256R1()).public_key()
    point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()


# --- the settings ---------------------------------------------------------------------------------------------------


def setting(doc: str, read: Callable[[str], Any] = str, *, default: Any = MISSING, secret: bool = False) -> Any:
    """Declare a setting: its documentation, the function that parses its text, and its default.

    The value of a secret may be in a file. The variable `NAME_FILE` then contains the path of this file. `repr` does
    not show secrets.
    """
    return field(default=default, metadata={"doc": doc, "read": read, "secret": secret}, repr=not secret)


#: Settings that are required only in production.
NEEDED_IN_PRODUCTION = ("vapid_private_key", "vapid_subject")


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of the service, with types. The suffix of a name gives the unit of a duration."""

    # environment, addresses and monitoring
    environment: str = setting(
        "`development`, `testing` or `production`",
        _choice("development", "testing", "production"),
        default="production",
    )
    port: int = setting("Port that gunicorn listens on", _integer(1, 65535), default=8000)
    log_level: str = setting(
        "Lowest level of log lines that are written", _choice("DEBUG", "INFO", "WARNING", "ERROR"), default="INFO"
    )
    trusted_proxies: int = setting(
        "Number of proxies in front that set the `X-Forwarded-*` headers", _integer(0, 10), default=0
    )
    cors_origins: tuple[str, ...] = setting(
        "Comma list of the origins whose pages may call the API (default: that of `FRONTEND_URL`)", _origins, default=()
    )
    frontend_url: str = setting("Address of the single-page application. Reset links point there", _url)
    public_url: str | None = setting(
        "Public address of this service. Messages end with a link to it, to answer by (default: no links)",
        _url,
        default=None,
    )
    contact: str | None = setting(
        "How people reach the administrator, at most 80 characters, for example "
        "`WhatsApp 0811-1234-567, Senin-Jumat 08.00-16.00` (default: texts do not mention the administrator)",
        _contact,
        default=None,
    )
    console: bool | None = setting(
        "`on` or `off`: the page for administrators and moderators at `/console` (default: `on` in development only)",
        _boolean,
        default=None,
    )
    rate_limits: bool = setting("`on` or `off`", _boolean, default=True)
    metrics_token: str | None = setting("If set, `/metrics` needs it as a bearer token", default=None, secret=True)

    heartbeat_url: str | None = setting(
        "Address that a worker calls every minute if all is well; otherwise it calls `/fail` below it (as for"
        " healthchecks.io)",
        _url,
        default=None,
        secret=True,
    )

    # database, Redis and files
    database_url: str = setting("PostgreSQL, 15 or newer", _database_url, secret=True)
    database_pooler_url: str | None = setting(
        "PgBouncer in transaction mode in front of `DATABASE_URL`. Only migrations, exports and the SQL console then "
        "use `DATABASE_URL` (run `flask pooler` once)",
        _database_url,
        default=None,
        secret=True,
    )
    database_replica_url: str | None = setting(
        "Streaming replica of `DATABASE_URL` for administrators' exports, the overview, and SQL in mode `ro`. Its data"
        " may be old. While it cannot be reached, the primary serves them",
        _database_url,
        default=None,
        secret=True,
    )
    redis_url: str = setting("Redis 7 or Valkey 8, or newer; `rediss://` with TLS", _redis_url, secret=True)
    media_root: Path = setting("Folder of the pictures", _path, default=MEDIA)  # noqa: RUF009  # `setting` returns a dataclass field
    media_s3_bucket: str | None = setting(
        "S3 bucket of the pictures, instead of the folder (needs `requirements-s3.txt`)", default=None
    )
    media_s3_endpoint: str | None = setting("Address of an S3-compatible store", _url, default=None)

    # secret keys
    secret_key: str = setting("Key for the tokens in links and pushes, and for hashes of codes", secret=True)
    jwt_secret_keys: tuple[str, ...] = setting(
        "Comma list of keys. The first signs access tokens, all verify them", _secrets, secret=True
    )
    nik_keys: tuple[tuple[str, bytes], ...] = setting(
        "Comma list of `kid:base64 of 32 bytes`. The first encrypts NIK, all decrypt it", _nik_keys, secret=True
    )

    # sessions and login
    access_token_minutes: int = setting("Lifetime of an access token", _integer(1, 1440), default=15)
    refresh_token_days: int = setting("Lifetime of a session", _integer(1, 365), default=30)
    refresh_idle_days: int = setting("A session ends when it is unused for this time", _integer(1, 365), default=7)
    admin_session_hours: int = setting("Lifetime of an administrator's session", _integer(1, 720), default=12)
    admin_idle_minutes: int = setting(
        "An administrator's session ends when it is unused for this time", _integer(1, 1440), default=30
    )
    profile_reauth: str = setting(
        "`required`: a new password, e-mail or phone number in the own profile needs `current_password`",
        _choice("off", "required"),
        default="off",
    )
    admin_otp: str = setting(
        "`required`: administrators without a second factor can only set one up",
        _choice("optional", "required"),
        default="optional",
    )
    superadmin_token_minutes: int = setting(
        "Lifetime of a super-admin token, which cannot be refreshed", _integer(1, 120), default=15
    )
    superadmin_sql_mode: str = setting("`ro` makes the SQL console read-only", _choice("rw", "ro"), default="rw")
    superadmin_database_url: str | None = setting(
        "Database address for the SQL console (default: `DATABASE_URL`, whose role can alter the audit log)."
        " `flask sql-role create` makes a role that only reads, with `--write` one that writes all except that log",
        _database_url,
        default=None,
        secret=True,
    )

    # messages by WhatsApp
    messaging_provider: str = setting(
        "`fonnte`, `whatsapp_cloud`, or `outbox`: messages are stored and never sent",
        _choice("fonnte", "whatsapp_cloud", "outbox"),
    )
    messaging_url: str | None = setting("Base address, instead of the provider's own", _url, default=None)
    messaging_token: str | None = setting("Token of the messaging provider", default=None, secret=True)
    messaging_sender_id: str | None = setting("Phone number ID (`whatsapp_cloud` only)", default=None)
    messaging_countries: tuple[str, ...] = setting(
        "Comma list of the calling codes that are allowed, `*` for all", _countries, default=("62",)
    )
    reminder_grouping: bool = setting(
        "`on`: several reminders of a person within 60 seconds are sent as one message", _boolean, default=False
    )
    whatsapp_templates: tuple[tuple[str, str], ...] = setting(
        "JSON object: by kind, the approved template for people who have not written for 24 hours "
        "(`reminder`, or narrower `pengingat_obat`, `pengingat_makan`, `pengingat_terapi`, `pengingat_kontrol`; "
        "`stock`, `alert`, `password_reset`, `security_notice`, `broadcast`, `phone_code`, `phone_move` ...)",
        _templates,
        default=(),
    )
    whatsapp_template_language: str = setting("Language code of those templates", default="id")

    messaging_number: str | None = setting(
        "Number that messages come from and people write to, with its country code. `GET /messaging` shows it",
        _number,
        default=None,
    )
    whatsapp_app_secret: str | None = setting(
        "App secret that signs WhatsApp's webhook. If set, `POST /api/webhooks/whatsapp` is on",
        default=None,
        secret=True,
    )
    whatsapp_verify_token: str | None = setting(
        "Token with which Meta verifies the webhook: `GET /api/webhooks/whatsapp`", default=None, secret=True
    )
    fonnte_webhook_token: str | None = setting(
        "At least 32 random characters in the addresses of Fonnte's webhooks. If set, these are on: "
        "`POST /api/webhooks/fonnte/TOKEN/message`, `/status` and `/device`",
        _path_secret,
        default=None,
        secret=True,
    )
    fonnte_webhook_secret: str | None = setting(
        "Secret that Fonnte's webhooks must also have in their bodies", default=None, secret=True
    )
    fonnte_webhook_secret_field: str = setting("Name of the field with this secret", default="secret")

    phone_verification: str = setting(
        "Which messages need a proven number: `off` none, `soft` broadcasts and alerts to caregivers, `required` "
        "reminders too",
        _choice("off", "soft", "required"),
        default="off",
    )

    # protection against automated requests
    captcha_secret: str | None = setting(
        "Secret of reCAPTCHA, hCaptcha or Turnstile. Without it, registration needs no captcha",
        default=None,
        secret=True,
    )
    captcha_site_key: str | None = setting(
        "Public key of the captcha, which `GET /features` shows to clients", default=None
    )
    captcha_url: str = setting(
        "Address of `siteverify`", _url, default="https://www.google.com/recaptcha/api/siteverify"
    )

    # map services
    places_key: str | None = setting(
        "Key of the places provider. Without it, only facilities in the database are found", default=None, secret=True
    )
    places_url: str = setting(
        "Base address of the places provider", _url, default="https://maps.googleapis.com/maps/api/place"
    )
    places_per_day: int = setting(
        "Maximum of searches a day of the places provider, for all users together", _integer(0, 1_000_000), default=1000
    )

    # sources of videos and articles
    video_key: str | None = setting(
        "Key of the video platform. Without it, the live routes return 502", default=None, secret=True
    )
    video_url: str = setting(
        "Base address of the video platform", _url, default="https://www.googleapis.com/youtube/v3"
    )
    article_source_url: str = setting(
        "List page of the health ministry's site", _page_url, default="https://ayosehat.kemkes.go.id/artikel"
    )
    article_hosts: tuple[str, ...] = setting(
        "Comma list of hosts (`host` or `host:port`) of articles (default: the source's)", _list, default=()
    )

    # web push notifications
    vapid_public_key: str | None = setting("Public key of web push (default: that of the private key)", default=None)
    vapid_private_key: str | None = setting(
        "Private key of web push, base64url", _vapid_private_key, default=None, secret=True
    )
    vapid_subject: str | None = setting("`mailto:` or https address of the operator", _vapid_subject, default=None)
    push_send: str = setting(
        "Who may call `POST /push/send`: `open` everybody, `admin` administrators only",
        _choice("open", "admin"),
        default="open",
    )

    # broadcasts to many users
    broadcast_delay_seconds: tuple[int, int] = setting(
        "Range of the random delay before a broadcast", _range(0, 86400, "30-300"), default=(30, 300)
    )
    broadcast_hours: tuple[int, int] = setting(
        "Local hours in which broadcasts are sent", _range(0, 24, "8-20"), default=(8, 20)
    )
    broadcast_per_minute: int = setting(
        "Maximum of broadcast messages a minute, for all users together", _integer(1, 1_000_000), default=60
    )
    broadcast_per_user_per_day: int = setting(
        "Maximum of broadcast messages a day for one user", _integer(0, 100), default=3
    )

    @property
    def is_production(self) -> bool:
        return self.environment == "production"

    @property
    def is_development(self) -> bool:
        return self.environment == "development"

    @property
    def follows_whatsapp_hours(self) -> bool:
        """Return whether WhatsApp's 24-hour rule applies.

        By this rule, people who have not written for 24 hours receive only templates. The rule is off if the service
        has no templates and no webhook, because only the webhook reports when people wrote.
        """
        return self.messaging_provider == "whatsapp_cloud" and bool(self.whatsapp_templates or self.whatsapp_app_secret)

    @property
    def receives_messages(self) -> bool:
        """Return whether the service can receive messages from people."""
        return bool(self.whatsapp_app_secret or self.fonnte_webhook_token)

    @property
    def has_console(self) -> bool:
        return self.is_development if self.console is None else self.console

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """Return the origins for CORS. If the setting is empty, use the origin of the front end."""
        if self.cors_origins:
            return self.cors_origins
        parts = urlsplit(self.frontend_url)
        return (f"{parts.scheme}://{parts.netloc}",)

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Self:
        """Read all settings from `env` (default: `environment()`). `NAME_FILE` reads a secret from a file.

        Raise `ConfigError` with all missing and invalid settings.
        """
        config, problems = cls.read(environment() if env is None else env)
        if problems:
            raise ConfigError(problems)
        return config

    @classmethod
    def read(cls, env: Mapping[str, str]) -> tuple[Self, list[str]]:
        """Return the settings, and one line per problem.

        An invalid setting gets its default, or the default for development. All other settings can then still be
        checked.
        """
        problems: dict[str, str] = {}
        values: dict[str, Any] = {}
        stand_ins = development_defaults()
        defaults = stand_ins if env.get("ENVIRONMENT") in ("development", "testing") else {}
        for spec in fields(cls):
            name = spec.name.upper()
            try:
                text = _text(env, name, secret=spec.metadata["secret"]) or defaults.get(name)
                if text:
                    values[spec.name] = spec.metadata["read"](text)
                elif spec.default is MISSING:
                    problems[name] = f"is missing: {spec.metadata['doc']}"
            except ValueError as error:
                problems[name] = str(error)
            if name in problems and name in stand_ins:
                values[spec.name] = spec.metadata["read"](stand_ins[name])
        config = cls(**values)
        lines = [f"{name} {problem}" for name, problem in problems.items()]
        lines += [line for names, line in _conflicts(config) if problems.keys().isdisjoint(names)]
        return replace(config, vapid_public_key=_derived_public_key(config)), lines


def development_defaults() -> dict[str, str]:
    """Return the defaults for development and testing. Production refuses the secrets among these defaults."""
    return {
        "DATABASE_URL": "postgresql://localhost/health",
        "REDIS_URL": "redis://localhost:6379/0",
        "FRONTEND_URL": "http://localhost:5173",
        "MESSAGING_PROVIDER": "outbox",
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


def _derived_public_key(config: Config) -> str | None:
    return vapid_public_key(config.vapid_private_key) if config.vapid_private_key else None


#: Names of settings whose values contradict each other, and a description of the problem.
Conflict = tuple[tuple[str, ...], str]


def _conflicts(config: Config) -> Iterator[Conflict]:
    """Yield problems between settings: two contradict each other, or one requires another that is missing."""
    provider = config.messaging_provider
    if provider != "outbox" and not config.messaging_token:
        yield ("MESSAGING_TOKEN", "MESSAGING_PROVIDER"), f"MESSAGING_TOKEN is missing: {provider} needs it"
    if provider == "whatsapp_cloud" and not config.messaging_sender_id:
        yield ("MESSAGING_SENDER_ID", "MESSAGING_PROVIDER"), f"MESSAGING_SENDER_ID is missing: {provider} needs it"
    if config.vapid_public_key and config.vapid_public_key != _derived_public_key(config):
        pair = ("VAPID_PUBLIC_KEY", "VAPID_PRIVATE_KEY")
        yield pair, "VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY: leave it out"
    if config.media_s3_bucket and find_spec("boto3") is None:
        yield ("MEDIA_S3_BUCKET",), "MEDIA_S3_BUCKET needs boto3: pip install --no-deps -r requirements-s3.txt"
    if config.is_production:
        yield from _production_conflicts(config)


def _production_conflicts(config: Config) -> Iterator[Conflict]:
    for name in map(str.upper, NEEDED_IN_PRODUCTION):
        if getattr(config, name.lower()) is None:
            yield (name,), f"{name} is missing: web push needs it in production"
    secrets = [
        ("SECRET_KEY", config.secret_key),
        *(("JWT_SECRET_KEYS", key) for key in config.jwt_secret_keys),
        *(("NIK_KEYS", base64.b64encode(key).decode()) for _, key in config.nik_keys),
    ]
    seen: dict[str, str] = {}
    for name, value in secrets:
        raw = base64.b64decode(value) if name == "NIK_KEYS" else value.encode()
        if len(raw) < MIN_SECRET_BYTES or len(set(raw)) < 10 or raw.startswith(b"development-only"):
            yield (name,), f"{name} is weak or a default: at least {MIN_SECRET_BYTES} random bytes are needed"
        if value in seen:
            line = f"{name} repeats a secret of {seen[value]}: every purpose needs its own"
            yield (name, seen[value]), line
        seen[value] = name


# --- risky settings -------------------------------------------------------------------------------------------------

#: Risky choices that production allows, each with its risk and the safer choice.
RISKS = {
    ("profile_reauth", "off"): ("a stolen session can change password and number", "required"),
    ("admin_otp", "optional"): ("an administrator's password alone opens everything", "required"),
    ("superadmin_sql_mode", "rw"): ("the SQL console can change every table", "ro"),
    ("phone_verification", "off"): ("alerts and broadcasts go to numbers that nobody has proven", "soft"),
}

#: Environment variables of this project that are not settings of `Config`.
OTHER_VARIABLES = ("BIND", "WEB_CONCURRENCY", "MAX_REQUESTS", "PROMETHEUS_MULTIPROC_DIR")


def risks(config: Config) -> dict[str, str]:
    """Return one warning for each risky setting of a production environment. Each warning names the safer value."""
    return {
        name.upper(): f"{name.upper()}={value}: {risk}. Safer: {name.upper()}={safer}"
        for (name, value), (risk, safer) in RISKS.items()
        if config.is_production and getattr(config, name) == value
    }


def near_names(env: Mapping[str, str]) -> list[str]:
    """Return a hint for each unknown variable whose name is similar to the name of a setting that is not set."""
    names = [spec.name.upper() for spec in fields(Config)]
    files = [f"{spec.name.upper()}_FILE" for spec in fields(Config) if spec.metadata["secret"]]
    known = {*names, *files, *OTHER_VARIABLES}
    near = {name: get_close_matches(name.upper(), known - env.keys(), n=1, cutoff=0.8) for name in env.keys() - known}
    return [f"{name} is not a setting: did you mean {match[0]}?" for name, match in sorted(near.items()) if match]


def warnings(config: Config, env: Mapping[str, str]) -> list[str]:
    """Return the warnings to log at the start of a process, one line each."""
    return [*near_names(env), *risks(config).values()]
