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
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from dotenv import dotenv_values
from environs import FileAwareEnv, ValidationError, validate
from marshmallow.fields import Boolean, Integer, String

ROOT = Path(__file__).resolve().parent
INSTANCE = ROOT / "instance"

#: Default folder for pictures.
MEDIA = INSTANCE / "media"

#: File with addresses of development servers and generated secrets. `make run` writes it. All processes of a checkout
#: read it.
DEVELOPMENT_ENV = INSTANCE / "development.env"

MIN_SECRET_BYTES = 32

#: Secrets that `flask keys new` prints.
NEW_KEYS = ("SECRET_KEY", "JWT_SECRET_KEYS", "NIK_KEYS", "VAPID_PRIVATE_KEY")

#: Values for development and testing. Production refuses the secrets among them.
STAND_INS = {
    "DATABASE_URL": "postgresql://localhost/health",
    "REDIS_URL": "redis://localhost:6379/0",
    "FRONTEND_URL": "http://localhost:5173",
    "MESSAGING_PROVIDER": "outbox",
    "SECRET_KEY": "development-only-secret-key-not-for-production",
    "JWT_SECRET_KEYS": "development-only-jwt-secret-that-no-production-service-ever-accepts",
    "NIK_KEYS": "dev:" + base64.b64encode(b"development-only-nik-key-32-byte").decode(),
    "VAPID_SUBJECT": "mailto:developer@example.org",
}


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
# The message of an error describes a valid value.

#: Parser of a setting. It raises `ValidationError` for an invalid text.
Parser = Callable[[str], Any]


def _check(is_valid: object, message: str) -> None:
    if not is_valid:
        raise ValidationError(message)


def _one_of(*names: str) -> Parser:
    return String(validate=validate.OneOf(names, error="must be one of {choices}")).deserialize


def _whole(low: int, high: int) -> Parser:
    message = f"must be a whole number from {low} to {high}"
    return Integer(validate=validate.Range(low, high, error=message), error_messages={"invalid": message}).deserialize


_switch = Boolean(error_messages={"invalid": "must be on or off"}).deserialize


def _text(pattern: str, message: str) -> Parser:
    return String(validate=validate.Regexp(rf"(?:{pattern})\Z", error=message)).deserialize


def _list(each: str = ".+", message: str = "must name at least one") -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in text.split(",") if part.strip())
        _check(parts and all(re.fullmatch(each, part) for part in parts), message)
        return parts

    return read


def _range(high: int, example: str) -> Parser:
    def read(text: str) -> tuple[int, int]:
        match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text)
        if match is None or not int(match[1]) <= int(match[2]) <= high:
            raise ValidationError(f"must be two whole numbers up to {high}, as in {example}")
        return int(match[1]), int(match[2])

    return read


def _phone(text: str) -> str:
    digits = re.sub(r"[\s().+-]", "", text)
    is_valid = re.fullmatch(r"[1-9]\d{7,14}", digits)
    _check(is_valid, "must be a phone number with its country code, as in +6281234567890")
    return f"+{digits}"


def _contact(text: str) -> str:
    line = " ".join(text.split())
    _check(1 <= len(line) <= 80, "must have 1 to 80 characters, as in WhatsApp 0811-1234-567, Senin-Jumat 08.00-16.00")
    return line


def _folder(text: str) -> Path:
    return Path(text).absolute()


ADDRESS = r"https?://[^\s/?#@]+([/?#]\S*)?"
#: The address of a page keeps its trailing slash, because the page may need it.
_page = _text(ADDRESS, "must be an http or https address")


def _address(text: str) -> str:
    _check(re.fullmatch(ADDRESS, text), "must be an http or https address")
    return text.rstrip("/")


def _templates(text: str) -> tuple[tuple[str, str], ...]:
    try:
        names = json.loads(text)
    except ValueError:  # the text is not JSON
        names = None
    is_valid = isinstance(names, dict) and all(isinstance(name, str) and name for name in names.values())
    _check(is_valid, 'must be a JSON object of kinds and their templates, as in {"reminder": "pengingat"}')
    return tuple(dict(names).items())


def _database(text: str) -> str:
    """Return an address for psycopg2. Of several hosts, libpq then chooses the host that accepts writes."""
    match = re.fullmatch(r"postgres(?:ql)?(?:\+psycopg2)?(://([^/?#]*@)?([^/?#@]*)[^?]*\??(.*))", text)
    if match is None:
        raise ValidationError("must be a postgresql:// address")
    several = "postgresql://user:password@/health?host=h1,h2&port=5432,5432"
    _check("," not in match[3], f"must name several hosts as in {several}")
    address, query = f"postgresql+psycopg2{match[1]}", match[4]  # for `postgresql://`, SQLAlchemy would use psycopg 3
    if "target_session_attrs=" in query or not re.search(r"host=[^&]*,|host=.*host=", query):
        return address
    return f"{address}&target_session_attrs=read-write"


def _nik_keys(text: str) -> tuple[tuple[str, bytes], ...]:
    message = "must be a comma list of kid:base64 of 32 bytes, each key id once"
    pairs = [part.split(":") for part in _list(r"[A-Za-z0-9_-]{1,16}:[A-Za-z0-9+/]{43}=", message)(text)]
    keys = {kid: base64.b64decode(encoded) for kid, encoded in pairs}
    _check(len(keys) == len(pairs), message)
    return tuple(keys.items())


def _vapid_key(text: str) -> str:
    try:
        vapid_public_key(text)
    except ValueError:
        raise ValidationError("must be 32 bytes in base64url, as `flask keys new` prints them") from None
    return text


def vapid_public_key(private_key: str) -> str:
    """Return the public key of a private key of 32 bytes. Both are in base64url without padding.

    Raise `ValueError` if the private key is invalid.
    """
    number = base64.b64decode(f"{private_key.rstrip('=')}=", altchars="-_", validate=True)
    if len(number) != 32:
        raise ValueError("not 32 bytes")
    public = ec.derive_private_key(int.from_bytes(number), ec.SECP256R1()).public_key()
    point = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return base64.urlsafe_b64encode(point).rstrip(b"=").decode()


# --- the settings ---------------------------------------------------------------------------------------------------


def setting(doc: str, parser: Parser = str, default: object = None, *, secret: bool = False) -> Any:
    """Declare a setting: its documentation, its parser, and its default. `MISSING` means that there is no default.

    The value of a secret may be in a file. The variable `NAME_FILE` then contains the path of this file. `repr` does
    not show secrets.
    """
    return field(default=default, metadata={"doc": doc, "parser": parser, "secret": secret}, repr=not secret)


secret = partial(setting, secret=True)


def choice(doc: str, *names: str) -> Any:
    """Declare a setting that has one of the values `names`. The first is the default."""
    return setting(f"`{'`, `'.join(names)}`. {doc}", _one_of(*names), names[0])


#: Settings that are required only in production.
NEEDED_IN_PRODUCTION = ("vapid_private_key",)


@dataclass(frozen=True, kw_only=True)
class Config:
    """All settings of the service, with types. The suffix of a name gives the unit of a duration."""

    environment: str = choice("Kind of the installation", "production", "development", "testing")
    trusted_proxies: int = setting("Number of proxies in front that set `X-Forwarded-*` headers", _whole(0, 10), 0)
    frontend_url: str = setting("Address of the front end. Links in messages point there", _address, MISSING)
    public_url: str | None = setting("Address of this service, for links in messages (default: no links)", _address)
    cors_origins: tuple[str, ...] = setting(
        "Origins whose pages may call the API, a comma list (default: that of `FRONTEND_URL`)",
        _list(r"https?://[^\s/?#@]+", "must be a comma list of origins, as in https://app.example.org"),
        (),
    )
    contact: str | None = setting("How people reach the administrator, at most 80 characters", _contact)
    console: bool | None = setting("The page `/console` for administrators (default: `on` in development)", _switch)
    rate_limits: bool = setting("`on` or `off`", _switch, default=True)
    heartbeat_url: str | None = secret("Called each minute, with `/fail` if something is wrong", _address)

    database_url: str = secret("PostgreSQL, 15 or newer", _database, MISSING)
    database_pooler_url: str | None = secret(
        "PgBouncer in transaction mode, for requests and jobs. All else uses `DATABASE_URL`", _database
    )
    redis_url: str = secret(
        "Redis 7 or Valkey 8, or newer; `rediss://` with TLS",
        _text(r"(rediss?|unix)://.+", "must be a redis://, rediss:// or unix:// address"),
        MISSING,
    )
    media_root: Path = setting("Folder of the pictures", _folder, MEDIA)  # noqa: RUF009  # a dataclass field
    media_s3_bucket: str | None = setting("S3 bucket instead (`requirements-s3.txt`), with AWS's own variables")

    secret_key: str = secret("Key for the tokens in links and pushes, and for hashes of codes", default=MISSING)
    jwt_secret_keys: tuple[str, ...] = secret("Comma list. The first signs tokens, all verify", _list(), MISSING)
    nik_keys: tuple[tuple[str, bytes], ...] = secret(
        "Comma list of `kid:base64 of 32 bytes`. The first encrypts NIK, all decrypt", _nik_keys, MISSING
    )

    profile_reauth: str = choice("`required`: changes of login data need the password", "off", "required")
    admin_otp: str = choice("`required`: administrators need a second factor", "optional", "required")
    superadmin_sql_mode: str = choice("`ro`: the SQL console only reads", "rw", "ro")
    superadmin_database_url: str | None = secret(
        "Address for the SQL console (default: `DATABASE_URL`, whose role can alter the audit log)", _database
    )

    phone_verification: str = choice(
        "Not sent to unproven numbers: `soft` broadcasts and alerts, `required` reminders and stock notices too",
        *("off", "soft", "required"),
    )
    messaging_provider: str = setting(
        "`fonnte`, `whatsapp_cloud`, or `outbox`: messages are stored and never sent",
        _one_of("fonnte", "whatsapp_cloud", "outbox"),
        MISSING,
    )
    messaging_url: str | None = setting("Base address, instead of the provider's own", _address)
    messaging_token: str | None = secret("Token of the provider")
    messaging_sender_id: str | None = setting("Phone number ID (`whatsapp_cloud` only)")
    messaging_countries: tuple[str, ...] = setting(
        "Comma list of calling codes, or `*`",
        _list(r"\*|[1-9]\d{0,2}", "must be a comma list of country calling codes, as in 62,65, or *"),
        ("62",),
    )
    messaging_number: str | None = setting("Number that messages come from, with its country code", _phone)
    whatsapp_templates: tuple[tuple[str, str], ...] = setting(
        "JSON object: by kind, the template (language `id`) for people who have not written for 24 hours",
        _templates,
        (),
    )
    whatsapp_app_secret: str | None = secret("App secret. If set, `POST /api/webhooks/whatsapp` is on")
    whatsapp_verify_token: str | None = secret("Token with which Meta verifies `GET /api/webhooks/whatsapp`")
    fonnte_webhook_token: str | None = secret(
        "If set, `POST /api/webhooks/fonnte/TOKEN/message`, `/status` and `/device` are on",
        _text(r"[A-Za-z0-9_-]{32,200}", "must be 32 to 200 of A-Z, a-z, 0-9, - and _"),
    )

    captcha_secret: str | None = secret("Of reCAPTCHA, hCaptcha or Turnstile (default: no captcha)")
    captcha_site_key: str | None = setting("Public key of the captcha, which `GET /features` shows")
    captcha_url: str = setting("`siteverify`", _address, "https://www.google.com/recaptcha/api/siteverify")

    places_key: str | None = secret("Key of the places provider (default: only facilities in the database)")
    places_url: str = setting("Places provider", _address, "https://maps.googleapis.com/maps/api/place")
    places_per_day: int = setting("Maximum of paid searches a day, for all people", _whole(0, 1_000_000), 1000)
    video_key: str | None = secret("Key of the video platform (default: the live routes return 502)")
    video_url: str = setting("Video platform", _address, "https://www.googleapis.com/youtube/v3")
    article_source_url: str = setting("The ministry's list page", _page, "https://ayosehat.kemkes.go.id/artikel")
    article_hosts: tuple[str, ...] = setting("Comma list of `host` or `host:port` (default: the source's)", _list(), ())

    vapid_private_key: str | None = secret("Private key of web push, base64url", _vapid_key)
    vapid_public_key: str | None = setting("Public key of web push (default: that of the private key)")
    vapid_subject: str | None = setting(
        "`mailto:` or https address of the operator (default: `PUBLIC_URL`, else `FRONTEND_URL`)",
        _text(
            r"mailto:[^@\s]+@[^@\s]+|https://[^\s/]\S*",
            "must be a mailto: or https address, as in mailto:a@example.org",
        ),
    )
    push_send: str = choice("`admin`: only administrators may call `POST /push/send`", "open", "admin")
    push_hosts: tuple[str, ...] = setting(
        "Comma list of more push services, `host` or `*.host`",
        _list(
            r"(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+", "must be a comma list of hosts, as in push.example.org,*.example.net"
        ),
        (),
    )

    broadcast_delay_seconds: tuple[int, int] = setting("Range of the random delay", _range(86400, "30-300"), (30, 300))
    broadcast_hours: tuple[int, int] = setting("Local hours of broadcasts", _range(24, "8-20"), (8, 20))
    broadcast_per_minute: int = setting("Maximum of messages a minute, for all people", _whole(1, 1_000_000), 60)
    broadcast_per_day: int = setting("People a day, if the provider names no limit", _whole(0, 10_000_000), 250)
    broadcast_per_user_per_day: int = setting("Maximum of broadcasts a day for one person", _whole(0, 100), 3)

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

    @property
    def push_subject(self) -> str:
        """Return the address of the operator for push services."""
        return self.vapid_subject or self.public_url or self.frontend_url

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

        An invalid setting gets its default, or its stand-in. All other settings can then still be checked.
        """
        stand_ins = STAND_INS if env.get("ENVIRONMENT") in ("development", "testing") else {}
        values, problems = _parsed({**stand_ins, **env})
        config = cls(**(_parsed(STAND_INS)[0] | values if problems else values))
        conflicts = [line for line in _conflicts(config) if problems.keys().isdisjoint(re.findall("[A-Z_]+", line))]
        public_key = vapid_public_key(config.vapid_private_key) if config.vapid_private_key else None
        lines = [*map(" ".join, problems.items()), *conflicts, *near_names(env, problems)]
        return replace(config, vapid_public_key=public_key), lines


SETTINGS = {spec.name.upper(): spec for spec in fields(Config)}
#: Variables with the names of files that contain secrets.
SECRET_FILES = {f"{name}_FILE" for name, spec in SETTINGS.items() if spec.metadata["secret"]}


def _parsed(env: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of the settings in `env`, and the problems of settings by name."""
    reader = FileAwareEnv(strip_whitespace=True)
    values: dict[str, object] = {}
    problems: dict[str, str] = {}
    with _process_environment(env):
        for name, spec in SETTINGS.items():
            try:
                if text := reader.str(name, ""):
                    values[spec.name] = spec.metadata["parser"](text)
                elif spec.default is MISSING:
                    problems[name] = f"is missing: {spec.metadata['doc']}"
            except ValidationError as error:
                problems[name] = str(error.messages[0])
            except (OSError, ValueError):
                problems[name] = f"cannot be read from the file in {name}_FILE"
    return values, problems


@contextmanager
def _process_environment(env: Mapping[str, str]) -> Iterator[None]:
    """Put the settings of `env` into the process environment during the block, because environs reads only this."""
    variables = os.environ  # noqa: TID251  # the only place
    ours = {variable for name in SETTINGS for variable in (name, f"{name}_FILE")}
    before = {name: variables.pop(name) for name in ours if name in variables}
    variables.update({name: env[name] for name in SETTINGS.keys() | SECRET_FILES if env.get(name)})
    try:
        yield
    finally:
        for name in ours:
            variables.pop(name, None)
        variables.update(before)


def _conflicts(config: Config) -> Iterator[str]:
    """Yield problems between settings: two contradict each other, or one requires another that is missing."""
    provider = config.messaging_provider
    if provider != "outbox" and not config.messaging_token:
        yield f"MESSAGING_TOKEN is missing: {provider} needs it"
    if provider == "whatsapp_cloud" and not config.messaging_sender_id:
        yield f"MESSAGING_SENDER_ID is missing: {provider} needs it"
    if config.superadmin_sql_mode == "ro" and not config.superadmin_database_url:
        yield "SUPERADMIN_DATABASE_URL is missing: SUPERADMIN_SQL_MODE=ro needs it"
    private, public = config.vapid_private_key, config.vapid_public_key
    if public and (private is None or public != vapid_public_key(private)):
        yield "VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY: leave it out"
    if config.media_s3_bucket and find_spec("boto3") is None:
        yield "MEDIA_S3_BUCKET needs boto3: pip install --no-deps -r requirements-s3.txt"
    if not config.is_production:
        return
    if private is None:
        yield "VAPID_PRIVATE_KEY is missing: web push needs it in production"
    if not config.push_subject.startswith(("mailto:", "https://")):
        yield "VAPID_SUBJECT is missing: push services need it if PUBLIC_URL and FRONTEND_URL are not https"
    seen: dict[bytes, str] = {}
    for name, value in _secrets(config):
        if len(value) < MIN_SECRET_BYTES or len(set(value)) < 10 or value.startswith(b"development-only"):
            yield f"{name} is weak or a default: at least {MIN_SECRET_BYTES} random bytes are needed"
        own = base64.b64encode(value) if name == "NIK_KEYS" else value
        if own in seen:
            yield f"{name} repeats a secret of {seen[own]}: every purpose needs its own"
        seen[own] = name


def _secrets(config: Config) -> Iterator[tuple[str, bytes]]:
    """Yield the secrets that must be random and have one purpose, each with the name of its setting."""
    keys = [("JWT_SECRET_KEYS", key) for key in config.jwt_secret_keys]
    for name, text in (("SECRET_KEY", config.secret_key), *keys, ("FONNTE_WEBHOOK_TOKEN", config.fonnte_webhook_token)):
        if text:
            yield name, text.encode()
    yield from (("NIK_KEYS", key) for _, key in config.nik_keys)


# --- risky settings -------------------------------------------------------------------------------------------------

#: Risky choices that production allows, each with its risk and the safer choice.
RISKS = {
    ("profile_reauth", "off"): ("a stolen session can change password and number", "required"),
    ("admin_otp", "optional"): ("an administrator's password alone opens everything", "required"),
    ("superadmin_sql_mode", "rw"): ("the SQL console can change every table", "ro"),
    ("phone_verification", "off"): ("alerts and broadcasts go to numbers that nobody has proven", "soft"),
    ("push_send", "open"): ("anybody can send a push with any text to any user", "admin"),
}

#: Environment variables of this project that are not settings of `Config`. gunicorn reads them.
OTHER_VARIABLES = ("BIND", "PORT", "WEB_CONCURRENCY", "MAX_REQUESTS", "PROMETHEUS_MULTIPROC_DIR")


def risks(config: Config) -> dict[str, str]:
    """Return one warning for each risky setting of a production environment. Each warning names the safer value."""
    return {
        name.upper(): f"{name.upper()}={value}: {risk}. Safer: {name.upper()}={safer}"
        for (name, value), (risk, safer) in RISKS.items()
        if config.is_production and getattr(config, name) == value
    }


def near_names(env: Mapping[str, str], among: Collection[str] | None = None) -> list[str]:
    """Return a hint for each unknown variable whose name is similar to the name of a setting that is not set.

    With `among`, return only the hints about these settings.
    """
    known = {*SETTINGS, *SECRET_FILES, *OTHER_VARIABLES}
    near = {name: get_close_matches(name.upper(), known - env.keys(), n=1, cutoff=0.8) for name in env.keys() - known}
    found = [(name, match[0]) for name, match in sorted(near.items()) if match]
    return [
        f"{name} is not a setting: did you mean {meant}?" for name, meant in found if among is None or meant in among
    ]


def warnings(config: Config, env: Mapping[str, str]) -> list[str]:
    """Return the warnings to log at the start of a process, one line each."""
    return [*near_names(env), *risks(config).values()]
