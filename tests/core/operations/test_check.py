"""`flask check` prints one line for each item, even if some checks fail."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from app import check, cli
from app.core.database import migrations
from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.core.media.storage import BucketStore, FolderStore
from app.notifications.models import Inbound
from app.notifications.senders import sender_status
from app.providers import messaging
from config import SETTINGS, Config
from tests.core.operations.command_line import DEAD_DATABASE, dead_redis, flask
from tests.core.production import GOOD
from tests.helpers.factories import make_superadmin

ITEMS = [
    "settings", "database", "migrations", "redis", "media", "sender", "webhooks", "templates", "push", "public_url",
    "clock", "console", "defaults",
]  # fmt: skip
SAFE = {
    "PROFILE_REAUTH": "required",
    "ADMIN_OTP": "required",
    "SUPERADMIN_SQL_MODE": "ro",
    "SUPERADMIN_DATABASE_URL": "postgresql://sql_console@127.0.0.1/health",
    "PHONE_VERIFICATION": "soft",
    "PUSH_SEND": "admin",
}
FINE = {**GOOD, **SAFE, "PUBLIC_URL": "https://api.example.org", "CONSOLE": "on"}


@pytest.fixture
def configure(app, monkeypatch, variables, tmp_path):
    """Give the application complete production settings with these changes."""

    def change(**changes):
        env = {name: value for name, value in {**FINE, **changes}.items() if value}
        config = Config.from_env({**env, **variables, "MEDIA_ROOT": str(tmp_path)})
        monkeypatch.setitem(app.extensions, "config", config)
        monkeypatch.setitem(app.extensions, "messenger", messaging.make(config))
        monkeypatch.setattr(cli, "environment", lambda: env)
        sender_status.clear_cache()

    return change


@pytest.fixture
def production(app, configure, monkeypatch):
    """Simulate a complete installation with an administrator, workers and a scheduler."""
    make_superadmin()
    db.session.commit()  # a failed item rolls back what is not committed
    monkeypatch.setattr("app.notifications.delivery.metrics.workers_by_queue", lambda: {"urgent": 1, "bulk": 1})
    monkeypatch.setattr("app.notifications.delivery.metrics.is_scheduler_running", lambda: True)
    app.extensions["redis"].config_set("maxmemory-policy", "noeviction")
    configure()
    return configure


def run(app):
    result = app.test_cli_runner().invoke(args=["check", "--json"])
    found = json.loads(result.stdout)
    assert [sorted(each) for each in found] == [["item", "ready", "todo"]] * len(ITEMS)
    assert [each["item"] for each in found] == ITEMS
    return result.exit_code, {each["item"]: each for each in found}


def unready(app):
    exit_code, found = run(app)
    todo = {item: str(each["todo"]) for item, each in found.items() if not each["ready"]}
    assert all(todo.values())
    assert exit_code == (1 if todo else 0)
    return todo


def test_all_items_are_ready_and_disabled_features_are_named(app, production):
    exit_code, found = run(app)
    assert [item for item, each in found.items() if not each["ready"]] == []
    assert exit_code == 0
    assert "MESSAGING_PROVIDER is outbox" in found["sender"]["todo"]
    production(CONSOLE="off", ADMIN_OTP="optional")
    found = run(app)[1]
    assert "CONSOLE" in found["console"]["todo"]
    assert found["defaults"]["todo"].startswith("On purpose: ADMIN_OTP=optional")


def test_each_setting_that_an_item_needs_exists():
    assert {name for needs, _ in check.ITEMS.values() for name in needs} <= set(SETTINGS)


def test_the_output_has_one_line_for_each_item(app, production):
    production(ADMIN_OTP="")
    result = app.test_cli_runner().invoke(args=["check"])
    assert result.exit_code == 1
    lines = [line.replace("TO DO", "todo").split() for line in result.output.splitlines()]
    assert [line[1] for line in lines] == ITEMS
    assert [line[1] for line in lines if line[0] == "todo"] == ["defaults"]


def test_check_writes_nothing_and_sends_no_message(app, sim, production, statements):
    production(**sim.messaging.env())
    keys = set(app.extensions["redis"].scan_iter())
    with statements.at_most(50):
        assert unready(app) == {}
    assert not [each for each in statements.seen if not each.lstrip().upper().startswith(("SELECT", "WITH", "EXECUTE"))]
    assert set(app.extensions["redis"].scan_iter()) == keys
    assert sim.messaging.sent == []
    assert not (app.extensions["config"].media_root / "exports").exists()


def test_no_secret_is_printed(app, production, monkeypatch):
    secret = app.extensions["config"].secret_key
    monkeypatch.setattr(check.db_time, "now", lambda: (_ for _ in ()).throw(RuntimeError(f"no {secret}!")))
    output = app.test_cli_runner().invoke(args=["check"]).output
    assert "TO DO  clock       RuntimeError.\n" in output
    assert secret not in output
    for name in ("SECRET_KEY", "NIK_KEYS", "VAPID_PRIVATE_KEY"):
        assert GOOD[name] not in output


WEBHOOKS = {"WHATSAPP_TEMPLATES": '{"reminder": "pengingat"}', "WHATSAPP_APP_SECRET": "s" * 32}
#: Settings that an operator changes, the item that is not ready because of them, and what it says.
CHANGED = [
    ({"PUBLIC_URL": ""}, "public_url", "PUBLIC_URL"),
    ({"PUBLIC_URL": "http://api.example.org"}, "public_url", "PUBLIC_URL"),
    *(({name: ""}, "defaults", name) for name in SAFE if name != "SUPERADMIN_DATABASE_URL"),
    ({"SUPERADMIN_DATABASE_URL": "", "SUPERADMIN_SQL_MODE": ""}, "defaults", "SUPERADMIN_DATABASE_URL"),
]
CHANGED_WHATSAPP = [
    ({}, "templates", "reminder"),
    ({"WHATSAPP_TEMPLATES": '{"reminder": "pengingat", "remainder": "x"}'}, "templates", "remainder"),
    (WEBHOOKS, "webhooks", "Set WHATSAPP_VERIFY_TOKEN and MESSAGING_NUMBER."),
]


def test_each_missing_or_risky_setting_makes_its_item_unready(app, sim, production, subtests):
    whatsapp = [(sim.messaging.whatsapp_env() | changes, *said) for changes, *said in CHANGED_WHATSAPP]
    for changes, item, words in (*CHANGED, *whatsapp):
        with subtests.test(f"{item}: {sorted(changes)}"):
            production(**changes)
            todo = unready(app)
            assert (todo.keys(), words in todo[item]) == ({item}, True), todo


def test_webhooks_are_ready_when_something_has_come_in(app, sim, production):
    env = sim.messaging.whatsapp_env() | WEBHOOKS
    production(**env, WHATSAPP_VERIFY_TOKEN="v", MESSAGING_NUMBER="+6281234567890")
    found = run(app)[1]
    assert "broadcast" in found["templates"]["todo"]
    assert "Nothing has come in yet" in found["webhooks"]["todo"]
    with unit_of_work():
        db.session.add(Inbound(provider="whatsapp_cloud", event_key="1", kind="message"))
    assert run(app)[1]["webhooks"] == {"item": "webhooks", "ready": True, "todo": ""}


def test_a_database_that_is_away_or_lacks_migrations_is_not_ready(app, production, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "too_old", lambda _revision: "Begin with an empty database.")
        assert unready(app) == {"migrations": "Begin with an empty database."}
    dead = DEAD_DATABASE.replace("postgresql", "postgresql+psycopg2")
    monkeypatch.setitem(app.extensions, "config", replace(app.extensions["config"], database_url=dead))
    assert unready(app).keys() == {"database"}


def test_a_redis_that_is_away_or_evicts_keys_is_not_ready(app, production, monkeypatch):
    app.extensions["redis"].config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert "noeviction" in unready(app)["redis"]
    finally:
        app.extensions["redis"].config_set("maxmemory-policy", "noeviction")
    monkeypatch.setitem(app.extensions, "redis", dead_redis())
    assert "redis" in unready(app)


def test_a_store_of_pictures_that_is_full_away_or_read_only_is_not_ready(app, production, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr(check, "_free_bytes", lambda _: 0)
        assert "is full" in unready(app)["media"]
    monkeypatch.setitem(app.extensions, "media", FolderStore(Path(__file__) / "media"))
    assert "cannot be written to" in unready(app)["media"]
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(app.extensions, "media", BucketStore("pictures"))
    assert unready(app).keys() == {"media"}


def test_a_sender_with_a_fault_is_not_ready(app, sim, production):
    production(**sim.messaging.env())
    assert unready(app) == {}
    sim.fault("messaging", "disconnected", times=None)
    assert "fonnte says: " in unready(app)["sender"]


def test_a_stopped_scheduler_or_a_slow_system_clock_is_not_ready(app, production, monkeypatch):
    monkeypatch.setattr("app.notifications.delivery.metrics.is_scheduler_running", lambda: False)
    assert unready(app) == {"clock": "no clock is going."}
    now = local_time.now()
    monkeypatch.setattr(check.db_time, "now", lambda: now + timedelta(minutes=2))
    assert "behind PostgreSQL's" in unready(app)["clock"]


def test_a_console_without_an_administrator_is_not_ready(app, production):
    db.session.execute(sa.text("DELETE FROM user_roles"))
    assert "flask users create" in unready(app)["console"]


@pytest.mark.processes
class TestWithoutGoodSettings:
    def check(self, **settings):
        done = flask("check", "--json", **settings)
        assert "Traceback" not in done.stderr
        return done.returncode, {each["item"]: each for each in json.loads(done.stdout)}, done.stdout

    def test_an_invalid_or_missing_setting_does_not_hide_other_items(self, variables):
        code, found, _ = self.check(**{**FINE, **variables, "PUSH_SEND": "stars", "VAPID_PRIVATE_KEY": "x"})
        assert code == 1
        assert list(found) == ITEMS
        assert "PUSH_SEND must be" in found["settings"]["todo"]
        assert found["database"]["ready"]
        assert found["redis"]["ready"]
        assert found["push"]["todo"] == "Needs VAPID_PRIVATE_KEY, see settings."
        code, found, _ = self.check(ENVIRONMENT="production")
        assert code == 1
        assert list(found) == ITEMS
        assert found["sender"]["todo"] == "Needs MESSAGING_PROVIDER, see settings."

    def test_a_database_without_tables_needs_the_migrations(self, variables):
        empty = sa.make_url(variables["DATABASE_URL"]).set(database="postgres")
        _, found, _ = self.check(**{**FINE, **variables, "DATABASE_URL": empty.render_as_string(hide_password=False)})
        assert found["database"]["ready"]
        assert found["migrations"]["todo"] == "The database lacks migrations. Run `flask db upgrade`."
        assert found["console"]["todo"] == "Needs the migrations."

    def test_a_misspelled_setting_and_unreachable_servers_are_reported(self):
        database = DEAD_DATABASE.replace("health@", "health:pass-word@")
        away = {"DATABASE_URL": database, "REDIS_URL": "redis://127.0.0.1:1"}
        code, found, text = self.check(**{**FINE, **away, "MESAGING_TOKEN": "se-cret"})
        assert code == 1
        assert found["settings"] == {
            "item": "settings",
            "ready": True,
            "todo": "MESAGING_TOKEN is not a setting: did you mean MESSAGING_TOKEN?",
        }
        assert found["database"]["todo"] == "OperationalError: is PostgreSQL running, and is DATABASE_URL right?"
        assert found["redis"]["todo"] == "ConnectionError: is Redis running, and is REDIS_URL right?"
        assert found["push"]["ready"]
        assert "pass-word" not in text
        assert "se-cret" not in text
