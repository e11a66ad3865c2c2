"""Tests of the configuration of gunicorn, `gunicorn.conf.py`."""

import logging
import runpy
import sys

import pytest

from config import ROOT
from tests.core.production import GOOD


class Arbiter:
    """A fake of gunicorn's server object with its log, for hooks."""

    log = logging.getLogger("gunicorn.error")


def conf(monkeypatch, **env):
    for name, value in {"ENVIRONMENT": "development", **env}.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "gunicorn.conf.py"))


def test_development_listens_only_on_loopback(monkeypatch):
    assert conf(monkeypatch, PORT="8123", BIND="")["bind"] == "127.0.0.1:8123"


def test_reuse_port_is_on_for_tcp_and_off_for_unix_sockets(monkeypatch):
    tcp = conf(monkeypatch, BIND="0.0.0.0:8000")
    unix = conf(monkeypatch, BIND="unix:/run/health/web.sock")
    assert (tcp["reuse_port"], unix["reuse_port"]) == (True, False)
    # Only on a unix socket does gunicorn replace its processes after many requests. On TCP, connections that wait at
    # the socket of the old process would be lost.
    assert (tcp["max_requests"], unix["max_requests"]) == (0, 1_000_000)


def test_the_number_of_processes_can_be_set(monkeypatch):
    assert conf(monkeypatch, WEB_CONCURRENCY="7")["workers"] == 7


def test_gunicorn_exits_and_names_all_invalid_settings(monkeypatch):
    with pytest.raises(SystemExit, match="RATE_LIMITS must be on or off") as ended:
        conf(monkeypatch, RATE_LIMITS="perhaps", PORT="none", WEB_CONCURRENCY="all")
    assert "PORT must be a whole number" in str(ended.value)
    assert "WEB_CONCURRENCY must be a whole number" in str(ended.value)


def test_metric_files_of_an_earlier_run_are_deleted(monkeypatch, tmp_path):
    folder = tmp_path / "metrics"
    settings = conf(monkeypatch, PROMETHEUS_MULTIPROC_DIR=str(folder))
    settings["on_starting"](Arbiter())
    (folder / "histogram_1.db").touch()
    settings["on_starting"](Arbiter())
    assert list(folder.iterdir()) == []
    assert settings["raw_env"] == [f"PROMETHEUS_MULTIPROC_DIR={folder}"]


def test_production_start_warns_of_each_risk_and_misspelled_setting(monkeypatch, tmp_path, caplog):
    env = {**GOOD, "ADMIN_OTP": "required", "MESAGING_TOKEN": "se-cret", "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    conf(monkeypatch, **env)["on_starting"](Arbiter())
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.partition("=")[0] for line in said] == [
        "MESAGING_TOKEN is not a setting: did you mean MESSAGING_TOKEN?",
        "PROFILE_REAUTH", "SUPERADMIN_SQL_MODE", "PHONE_VERIFICATION", "PUSH_SEND",
    ]  # fmt: skip


def test_a_process_started_by_a_reload_reads_the_settings_again(monkeypatch):
    settings = conf(monkeypatch)
    monkeypatch.setitem(sys.modules, "config", sys.modules["config"])  # restores the reloaded module after the test
    settings["post_fork"](None, None)
    assert "config" not in sys.modules
