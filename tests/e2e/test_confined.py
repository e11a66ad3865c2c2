"""Tests of the service with only the system calls that the units in `deploy/systemd` allow."""

import sys
from pathlib import Path

import pytest

from app.core.database.session import unit_of_work
from config import ROOT
from dev.stack.site import DeployedStack
from dev.system_packages import require
from tests.e2e.walk import walk
from tests.helpers.factories import PASSWORD, make_superadmin

pytestmark = [pytest.mark.takes(seconds=15), pytest.mark.processes]

UNITS = {"gunicorn": "health-web@.service", "rq": "health-worker@.service"}


class ConfinedStack(DeployedStack):
    def spawn(self, *command, **options):
        unit = UNITS.get(Path(command[0]).name)
        confine = [sys.executable, "-m", "tests.e2e.confined", str(ROOT / "deploy/systemd" / unit)] if unit else []
        return super().spawn(*confine, *command, **options)


@pytest.fixture(scope="module")
def site(variables, running, tmp_path_factory):
    require("nginx")
    require("systemd")
    env = {**variables, **running.messaging.env(), "FRONTEND_URL": "https://app.example.org"}
    with ConfinedStack(env, tmp_path_factory.mktemp("confined")) as site:
        yield site


def test_the_main_routes_work_with_the_allowed_system_calls(site, sim, committed):
    walk(site, sim)


def test_the_sql_console_and_exports_work_with_the_allowed_system_calls(site, committed):
    with unit_of_work():
        make_superadmin(username="kepala")
    login = {"username": "kepala", "password": PASSWORD}
    console = site.call("POST", "/superadmin/login", json=login).json()["access_token"]
    answer = site.call("POST", "/superadmin/query", console, json={"query": "SELECT 1 AS one"})
    assert (answer.status_code, answer.json().get("rows")) == (200, [{"one": 1}])
    access = site.call("POST", "/login", json=login).json()["access_token"]
    for form in ("csv", "xlsx", "pdf"):
        assert site.call("GET", f"/admins/export/users?format={form}", access).status_code == 200
