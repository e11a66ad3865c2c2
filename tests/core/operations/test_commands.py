"""The `flask` command: errors are sentences without a traceback, and `--help` works without settings."""

import pytest

from tests.core.operations.command_line import DEAD_DATABASE, flask

pytestmark = pytest.mark.processes


COMMANDS = {"db", "seed", "users", "keys", "settings", "check", "worker-health", "messaging", "nik", "restore", "logs"}


def refusal(done):
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("words", [("keys", "new"), ("settings",), ("db", "upgrade", "--help")], ids=" ".join)
def test_help_keys_and_settings_commands_work_without_settings(words):
    done = flask(*words, ENVIRONMENT="production")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_every_command_is_listed_without_settings():
    listed = flask("--help", ENVIRONMENT="production").stdout
    assert set(listed.split()) >= COMMANDS


@pytest.mark.parametrize("words", [("worker-health",), ("db", "upgrade")], ids=" ".join)
def test_a_command_without_settings_reports_the_missing_setting(words):
    assert "DATABASE_URL is missing" in refusal(flask(*words, ENVIRONMENT="production"))


@pytest.mark.parametrize("words", [("seed",), ("db", "upgrade"), ("nik", "verify")], ids=" ".join)
def test_an_unreachable_database_is_reported_without_a_traceback(words):
    # A missing folder of metrics causes no error of its own.
    done = flask(*words, ENVIRONMENT="testing", DATABASE_URL=DEAD_DATABASE, PROMETHEUS_MULTIPROC_DIR="/nowhere")
    assert "Connection refused" in refusal(done)


def test_an_unknown_migration_revision_is_reported_without_a_traceback(variables):
    for words in (("db", "upgrade", "nonsense"), ("db", "downgrade", "nonsense")):
        assert "Can't locate revision identified by 'nonsense'" in refusal(
            flask(*words, ENVIRONMENT="testing", **variables)
        )


SITI = ["users", "create", "--username", "siti99", "--role", "pasien", "--password"]


def test_a_command_confirms_what_it_did_or_says_what_is_wrong(app):
    for words, code, said in (
        ([*SITI, "rahasia123"], 0, "siti99 was created as pasien, with the id "),
        ([*SITI, "kurang"], 1, "Error: "),
        (["logs", "prune", "--days", "99999999999"], 2, "is not in the range"),
    ):
        result = app.test_cli_runner().invoke(args=words)
        assert (result.exit_code, said in result.output) == (code, True), result.output
