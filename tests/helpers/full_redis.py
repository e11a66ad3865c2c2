"""A Redis server that is full. It is one server for each test, because all test processes share the other one."""

import subprocess

import pytest
from redis import Redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from dev.servers import free_port, valkey_server


@pytest.fixture
def full_redis(tmp_path):
    """Yield a Redis that answers reads and refuses writes."""
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path), "--maxmemory", "1"]
    with subprocess.Popen([valkey_server(), *options], stdout=subprocess.DEVNULL) as process:
        redis = Redis(port=port, retry=Retry(ExponentialBackoff(), 10))
        try:
            redis.ping()
            yield redis
        finally:
            process.terminate()
            redis.close()
