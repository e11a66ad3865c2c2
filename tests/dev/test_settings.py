"""Tests of the settings and the terminal output of `make run`."""

import json
import os
import signal
import stat
import time

import pytest
from dotenv import dotenv_values

from config import Config
from dev.settings import defaults, given, known_to_config, secrets_of, write_private
from dev.stack.waiting import PATIENCE_S
from dev.terminal import Stopped, Warnings, stop_signals


def test_generated_secrets_are_stable_private_and_valid_in_production(tmp_path):
    file = tmp_path / "secrets.env"
    made = secrets_of(file)
    assert secrets_of(file) == made
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    servers = {"DATABASE_URL": "postgresql://db/health", "REDIS_URL": "redis://queue", "FRONTEND_URL": "https://x.id"}
    config = Config.from_env({"ENVIRONMENT": "production", "MESSAGING_PROVIDER": "outbox", **servers, **made})
    assert config.secret_key == made["SECRET_KEY"]


def test_a_missing_secret_is_added_to_the_existing_ones(tmp_path):
    file = tmp_path / "secrets.env"
    write_private(file, {"SECRET_KEY": "old"})
    made = secrets_of(file)
    assert made["SECRET_KEY"] == "old"
    assert {"NIK_KEYS", "VAPID_PRIVATE_KEY"} <= set(made)
    assert secrets_of(file) == made


def test_values_with_any_characters_are_read_back_unchanged(tmp_path):
    values = ["plain", "it's", "a # b", 'say "x"', "back\\slash", "a=b;c$d", " blanks "]
    written = {f"NAME_{number}": value for number, value in enumerate(values)}
    write_private(tmp_path / "some.env", written)
    assert dotenv_values(tmp_path / "some.env") == written


def test_a_given_frontend_url_removes_the_default_cors_origins():
    assert "CORS_ORIGINS" in defaults(8000, {})
    assert "CORS_ORIGINS" not in defaults(8000, {"FRONTEND_URL": "https://app.example"})


def test_a_secret_in_a_file_counts_as_given():
    env = {"SECRET_KEY_FILE": "/run/secret", "PATH": "/bin"}
    assert given(env, "SECRET_KEY")
    assert not given(env, "NIK_KEYS")
    assert known_to_config(env) == {"SECRET_KEY_FILE": "/run/secret"}


def test_warnings_and_errors_are_printed_once_and_other_lines_never(tmp_path, capsys):
    log = tmp_path / "web.log"
    log.touch()
    warnings = Warnings({"web": log})
    with log.open("a") as file:
        file.write(json.dumps({"level": "INFO", "message": "fine"}) + "\nno json\n")
        file.write(json.dumps({"level": "ERROR", "message": "odd", "exc_info": "Traceback\nKeyError: 'x'"}) + "\n")
        file.write('{"level": "WARNING", "message": "cut')
        file.flush()
        warnings.show()
        warnings.show()
        assert capsys.readouterr().out == "web: error: odd (KeyError: 'x')\n"
        file.write(' short"}\n')
        file.flush()
        warnings.show()
    assert capsys.readouterr().out == "web: warning: cut short\n"


def test_a_signal_ends_the_current_and_every_later_pause():
    started = time.monotonic()
    with stop_signals() as pause:
        os.kill(os.getpid(), signal.SIGTERM)
        for _ in range(2):
            with pytest.raises(Stopped):
                pause(PATIENCE_S)
    assert time.monotonic() - started < PATIENCE_S
