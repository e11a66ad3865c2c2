"""Settings: conversion of their values, required settings, and error messages."""

import os
import re
import subprocess
import sys

import pytest
import sqlalchemy as sa

from app.providers import vapid
from config import RISKS, ROOT, SETTINGS, STAND_INS, Config, ConfigError, near_names, warnings
from tests.core.production import GOOD


def problems(**changes):
    with pytest.raises(ConfigError) as caught:
        Config.from_env({name: value for name, value in {**GOOD, **changes}.items() if value})
    return str(caught.value)


def test_valid_settings_are_converted_to_their_types_and_secrets_are_not_in_the_repr():
    config = Config.from_env(GOOD)
    assert config.is_production
    assert Config.from_env({name: value for name, value in GOOD.items() if name != "ENVIRONMENT"}).is_production
    assert config.database_url == "postgresql+psycopg2://u:p@db/health"
    assert config.allowed_origins == ("https://app.example.org",)
    assert len(config.jwt_secret_keys) == 2
    assert config.broadcast_delay_seconds == (30, 300)
    assert config.rate_limits is True
    for codes, countries in {"": ("62",), "62, 65": ("62", "65"), "*": ("*",)}.items():
        assert Config.from_env({**GOOD, "MESSAGING_COUNTRIES": codes}).messaging_countries == countries
    assert not [name for name in ("SECRET_KEY", "DATABASE_URL", "VAPID_PRIVATE_KEY") if GOOD[name] in repr(config)]


#: Invalid values of settings.
INVALID = [
    ("PLACES_PER_DAY", "-1"), ("PLACES_PER_DAY", "x"), ("PUSH_HOSTS", "https://a.example.org"),
    ("ENVIRONMENT", "staging"), ("RATE_LIMITS", "perhaps"),
    ("DATABASE_URL", "mysql://x"), ("REDIS_URL", "http://x"), ("FRONTEND_URL", "app.example.org"),
    ("BROADCAST_HOURS", "20-8"), ("BROADCAST_HOURS", "8"), ("BROADCAST_DELAY_SECONDS", "a-b"),
    ("NIK_KEYS", "a:short"), ("NIK_KEYS", "nokid"), ("SUPERADMIN_SQL_MODE", "admin"), ("PUSH_SEND", "stars"),
    ("MESSAGING_PROVIDER", "pigeon"), ("CORS_ORIGINS", "*"), ("TRUSTED_PROXIES", "-1"), ("JWT_SECRET_KEYS", " , "),
    *(("VAPID_SUBJECT", subject) for subject in ("operator@example.org", "mailto:", "http://example.org", "https://")),
    *(("MESSAGING_COUNTRIES", codes) for codes in ("ID", "062", "62;65", ",")),
    ("CONTACT", "x" * 81), ("CONTACT", " "),
]  # fmt: skip


def test_the_error_names_the_setting_with_an_invalid_value():
    for name, value in INVALID:
        assert f"\n  {name} must " in problems(**{name: value}), (name, value)


def test_production_refuses_weak_default_and_repeated_secrets():
    weak = [("SECRET_KEY", "short"), ("SECRET_KEY", "a" * 64), ("FONNTE_WEBHOOK_TOKEN", "ab" * 16)]
    for name, value in (*weak, *((name, STAND_INS[name]) for name in ("SECRET_KEY", "JWT_SECRET_KEYS", "NIK_KEYS"))):
        assert f"{name} is weak" in problems(**{name: value}), (name, value)
    for name in ("SECRET_KEY", "FONNTE_WEBHOOK_TOKEN"):
        assert "repeats a secret" in problems(**{name: GOOD["JWT_SECRET_KEYS"].split(",")[0]})


def test_the_address_for_push_services_is_by_default_one_of_the_service():
    given = {name: value for name, value in GOOD.items() if name != "VAPID_SUBJECT"}
    assert Config.from_env(given).push_subject == "https://app.example.org"
    assert Config.from_env({**given, "PUBLIC_URL": "https://api.example.org"}).push_subject == "https://api.example.org"


def test_the_error_names_what_another_setting_requires(monkeypatch):
    assert Config.from_env({**GOOD, "MEDIA_S3_BUCKET": "pictures"}).media_s3_bucket == "pictures"
    monkeypatch.setitem(sys.modules, "boto3", None)
    assert "MEDIA_S3_BUCKET needs boto3: pip install --no-deps -r requirements-s3.txt" in problems(MEDIA_S3_BUCKET="p")
    assert "MESSAGING_TOKEN" in problems(MESSAGING_PROVIDER="fonnte")
    assert "MESSAGING_SENDER_ID" in problems(MESSAGING_PROVIDER="whatsapp_cloud", MESSAGING_TOKEN="x")
    assert "VAPID_PRIVATE_KEY is missing" in problems(VAPID_PRIVATE_KEY="")
    needed = "SUPERADMIN_DATABASE_URL is missing: SUPERADMIN_SQL_MODE=ro needs it"
    assert needed in problems(SUPERADMIN_SQL_MODE="ro")
    assert "VAPID_SUBJECT is missing" in problems(VAPID_SUBJECT="", FRONTEND_URL="http://app.example.org")


def test_the_vapid_public_key_must_belong_to_the_private_key():
    public, private = vapid.new_keys()
    assert Config.from_env({**GOOD, "VAPID_PRIVATE_KEY": private}).vapid_public_key == public
    both = {"VAPID_PUBLIC_KEY": public, "VAPID_PRIVATE_KEY": private}
    assert Config.from_env({**GOOD, **both}).vapid_public_key == public
    assert "VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY" in problems(VAPID_PUBLIC_KEY=public)


def test_an_invalid_vapid_private_key_is_refused_and_not_in_the_error():
    for key in ("x", "_" * 43, "A" * 43, vapid.new_keys()[0], vapid.new_keys()[1][:40]):
        found = problems(VAPID_PRIVATE_KEY=key)
        assert "VAPID_PRIVATE_KEY must be" in found
        assert key not in found.split()


def test_a_comma_separated_host_list_is_refused_with_the_right_form():
    for hosts in ("h1:5432,h2:5432", "h1,h2"):
        found = problems(DATABASE_URL=f"postgresql://u:se,cret@{hosts}/health")
        assert "?host=h1,h2&port=5432,5432" in found
        assert "se,cret" not in found


def test_of_several_database_hosts_the_one_that_accepts_writes_is_used():
    for query in (
        "host=h1:5432&host=h2:5433&sslmode=require",
        "host=h1,h2&port=5432,5433",
        "host=h1,h2&port=5432,5433&target_session_attrs=read-write",
    ):
        url = Config.from_env({**GOOD, "DATABASE_URL": f"postgresql://u:p@/health?{query}"}).database_url
        dialect = sa.make_url(url).get_dialect()()
        _, parameters = dialect.create_connect_args(sa.make_url(url))
        assert (parameters["host"], parameters["port"]) == ("h1,h2", "5432,5433")
        assert parameters["target_session_attrs"] == "read-write"
    for url in ("postgresql://u:p%2C@db/health", "postgresql://u@/health?host=/run/postgresql"):
        assert "target_session_attrs" not in Config.from_env({**GOOD, "DATABASE_URL": url}).database_url


def test_production_requires_the_setting_messaging_provider():
    (line,) = [line for line in problems(MESSAGING_PROVIDER="").splitlines() if "MESSAGING_PROVIDER is missing" in line]
    assert {"fonnte", "whatsapp_cloud", "outbox"} <= set(re.findall(r"\w+", line))
    assert Config.from_env(GOOD).messaging_provider == "outbox"
    development = Config.from_env({"ENVIRONMENT": "development"})
    assert (development.is_development, development.messaging_provider) == (True, "outbox")


def test_only_a_secret_may_come_from_a_file(tmp_path):
    file = tmp_path / "secret"
    file.write_text(GOOD["SECRET_KEY"] + "\n")
    given = {k: v for k, v in GOOD.items() if k != "SECRET_KEY"}
    assert Config.from_env({**given, "SECRET_KEY_FILE": str(file)}).secret_key == GOOD["SECRET_KEY"]
    assert Config.from_env({**GOOD, "PUBLIC_URL_FILE": str(file)}).public_url is None
    with pytest.raises(ConfigError, match="SECRET_KEY cannot be read"):
        Config.from_env({**given, "SECRET_KEY_FILE": str(tmp_path / "gone")})


def test_one_error_lists_each_invalid_or_missing_setting_once():
    found = problems(SECRET_KEY="", VAPID_PRIVATE_KEY="x", VAPID_PUBLIC_KEY="y", MESSAGING_PROVIDER="pigeon")
    assert [line.split()[0] for line in found.splitlines()[1:-1]] == [
        "SECRET_KEY", "MESSAGING_PROVIDER", "VAPID_PRIVATE_KEY",
    ]  # fmt: skip
    assert "flask keys new" in found
    assert "flask keys new" not in problems(BROADCAST_HOURS="20-8")
    found = problems(**dict.fromkeys(GOOD, ""), TRUSTED_PROXIES="x")
    needed = ("DATABASE_URL", "REDIS_URL", "FRONTEND_URL", "SECRET_KEY", "JWT_SECRET_KEYS", "NIK_KEYS")
    for name in (*needed, "TRUSTED_PROXIES"):
        assert f"  {name} " in found


def test_the_example_in_a_setting_error_is_a_valid_value(subtests):
    for name in SETTINGS:
        _, found = Config.read({**GOOD, name: "?,?"})
        if example := re.search(rf"^{name} .* as in (.+?)(?:, or .*)?$", "\n".join(found), re.MULTILINE):
            with subtests.test(name):
                Config.from_env({**GOOD, name: example[1]})


def test_an_empty_value_and_an_empty_file_count_as_missing(tmp_path):
    (tmp_path / "empty").write_text("\n")
    empty = {"CONTACT": "", "PLACES_KEY_FILE": str(tmp_path / "empty"), "FONNTE_WEBHOOK_TOKEN": ""}
    config = Config.from_env({**GOOD, **empty})
    assert (config.contact, config.places_key, config.fonnte_webhook_token) == (None, None, None)
    assert "SECRET_KEY is missing" in problems(SECRET_KEY="", SECRET_KEY_FILE=str(tmp_path / "empty"))


def test_reading_settings_leaves_the_process_environment_unchanged(monkeypatch):
    monkeypatch.setenv("CONTACT", "process")
    monkeypatch.setenv("PUBLIC_URL_FILE", "/nowhere")
    before = dict(os.environ)
    assert Config.from_env(GOOD).contact is None
    assert dict(os.environ) == before


@pytest.mark.processes
def test_a_worker_names_all_invalid_settings_without_a_traceback():
    command = [sys.executable, "-m", "rq.cli", "worker", "-c", "worker", "-w", "worker.Worker", "urgent"]
    env = {**os.environ, "ENVIRONMENT": "testing", "RATE_LIMITS": "perhaps", "TRUSTED_PROXIES": "x"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    proxies, limits = "TRUSTED_PROXIES must be a whole number from 0 to 10", "RATE_LIMITS must be on or off"
    assert done.stderr.splitlines() == ["Wrong or missing settings:", f"  {proxies}", f"  {limits}"]


MISSPELLED = {
    "MESSAGE_PROVIDER": "MESSAGING_PROVIDER", "REDIS_URI": "REDIS_URL", "messaging_token": "MESSAGING_TOKEN",
    "PLACES_API_KEY": "PLACES_KEY", "SECRETKEY": "SECRET_KEY", "WHATSAPP_APP_SECRET_FILES": "WHATSAPP_APP_SECRET_FILE",
}  # fmt: skip


def test_a_misspelled_setting_name_gets_a_suggestion():
    for name, meant in MISSPELLED.items():
        assert near_names({name: "secret-value"}) == [f"{name} is not a setting: did you mean {meant}?"]


def test_a_missing_setting_names_the_misspelled_one_that_is_there():
    lines = problems(REDIS_URL="", REDIS_URI="redis://localhost").splitlines()
    assert lines[1].startswith("  REDIS_URL is missing: ")
    assert lines[2:] == ["  REDIS_URI is not a setting: did you mean REDIS_URL?"]


def test_setting_names_and_unrelated_variables_get_no_suggestion():
    others = ["PATH", "HOME", "LANG", "HOSTNAME", "TMPDIR", "QUEUE", "FLASK_APP", "INVOCATION_ID", "JOURNAL_STREAM"]
    names = [*others, *SETTINGS, "SECRET_KEY_FILE", "BIND", "PORT", "WEB_CONCURRENCY"]
    assert near_names(dict.fromkeys(names, "x")) == []
    assert near_names({"REDIS_URL": "x", "REDIS_URI": "of another program"}) == []


CONSOLE_ROLE = {"SUPERADMIN_DATABASE_URL": "postgresql://sql_console@127.0.0.1/health"}


def test_production_warns_about_each_risky_setting():
    names = ("PROFILE_REAUTH", "ADMIN_OTP", "SUPERADMIN_SQL_MODE", "PHONE_VERIFICATION", "PUSH_SEND")
    assert [line.split("=")[0] for line in warnings(Config.from_env(GOOD), GOOD)] == list(names)
    safe = {"PROFILE_REAUTH": "required", "ADMIN_OTP": "required", "SUPERADMIN_SQL_MODE": "ro", **CONSOLE_ROLE}
    config = Config.from_env({**GOOD, **safe, "PHONE_VERIFICATION": "soft", "PUSH_SEND": "admin"})
    assert warnings(config, {}) == []
    assert warnings(Config.from_env({"ENVIRONMENT": "development"}), {}) == []


def test_the_safer_value_of_each_risky_setting_is_valid():
    for (name, risky), (_, safer) in RISKS.items():
        assert getattr(Config.from_env({**GOOD, **CONSOLE_ROLE, name.upper(): safer}), name) == safer != risky
