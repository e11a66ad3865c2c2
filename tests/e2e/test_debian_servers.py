"""Tests with the oldest supported servers, from Debian packages: PostgreSQL 15 and Redis 7, with nginx."""

import pytest
import redis

from dev.servers import start_postgres
from dev.stack.site import DeployedStack
from dev.supervisor import Supervisor
from dev.system_packages import require
from tests.e2e.walk import walk
from tests.helpers.migrations import scalar

pytestmark = [pytest.mark.takes(seconds=15), pytest.mark.processes]


class DebianSite(DeployedStack):
    redis_server = staticmethod(lambda: require("redis-server"))


@pytest.fixture
def site(sim, tmp_path):
    folder = require("postgresql").parent
    for package in ("nginx", "redis-server"):
        require(package)
    with Supervisor(tmp_path / "logs") as supervisor:
        postgres = start_postgres(supervisor, tmp_path / "postgres", durable=False, folder=folder)
        env = {"DATABASE_URL": postgres.url(), **sim.messaging.env(), "FRONTEND_URL": "https://app.example.org"}
        site = DebianSite(env, tmp_path)
        site.flask("db", "upgrade")
        site.flask("seed")
        with site:
            yield site


def test_the_main_routes_work_with_the_oldest_supported_servers(site, sim):
    walk(site, sim)
    assert int(scalar(site.env["DATABASE_URL"], "SHOW server_version_num")) >= 15_00_00
    assert int(redis.Redis.from_url(site.env["REDIS_URL"]).info("server")["redis_version"].split(".")[0]) >= 7
