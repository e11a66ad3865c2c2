"""Tests of the configuration of gunicorn, `gunicorn.conf.py`."""

from __future__ import annotations

import logging
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from config import ROOT
from tests.core.production import GOOD


class Arbiter:
    """A fake of gunicorn's server object with its log, for hooks."""

    log = logging.getLogger("gunicorn.error")


def conf(monkeypatch: pytest.MonkeyPatch, **env: str) -> dict[str, Any]:
    for name, value in {"ENVIRONMENT": "development", **env}.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "gunicorn.conf.py"))


def test_development_listens_on_loopback_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert conf(monkeypatch, PORT="8123", BIND="")["bind"] == "127.0.0.1:8123"


def test_each_process_has_a_socket_of_its_own_unless_it_is_a_unix_one(monkeypatch: pytest.MonkeyPatch) -> None:
    tcp = conf(monkeypatch, BIND="0.0.0.0:8000")
    unix = conf(monkeypatch, BIND="unix:/run/health/web.sock")
    assert (tcp["reuse_port"], unix["reuse_port"]) == (True, False)
    # gunicorn replaces its processes only on a unix socket. On TCP, connections that wait at a process's socket would
    # be lost.
    assert (tcp["max_requests"], unix["max_requests"]) == (0, 1_000_000)


def test_the_number_of_processes_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert conf(monkeypatch, WEB_CONCURRENCY="7")["workers"] == 7


def test_wrong_settings_end_it_with_all_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="RATE_LIMITS must be on or off") as ended:
        conf(monkeypatch, RATE_LIMITS="perhaps", PORT="none")
    assert "PORT must be a whole number" in str(ended.value)


def test_figures_of_an_earlier_run_are_forgotten(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "metrics"
    settings = conf(monkeypatch, PROMETHEUS_MULTIPROC_DIR=str(folder))
    settings["on_starting"](Arbiter())
    (folder / "histogram_1.db").touch()
    settings["on_starting"](Arbiter())
    assert list(folder.iterdir()) == []
    assert settings["raw_env"] == [f"PROMETHEUS_MULTIPROC_DIR={folder}"]


def test_the_start_of_a_production_warns_once_of_each_risk_and_of_a_name_that_is_nearly_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    env = {**GOOD, "ADMIN_OTP": "required", "MESAGING_TOKEN": "se-cret", "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    conf(monkeypatch, **env)["on_starting"](Arbiter())
    said = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.partition("=")[0] for line in said] == [
        "MESAGING_TOKEN is not a setting: did you mean MESSAGING_TOKEN?",
        "PROFILE_REAUTH", "SUPERADMIN_SQL_MODE", "PHONE_VERIFICATION",
    ]  # fmt: skip


def test_a_process_that_a_reload_starts_reads_the_settings_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = conf(monkeypatch)
    monkeypatch.setitem(sys.modules, "config", sys.modules["config"])  # restores the reloaded module after the test
    settings["post_fork"](None, None)
    assert "config" not in sys.modules
