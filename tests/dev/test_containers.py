"""Tests of the containers: Dockerfile, compose.yaml and the files with their secrets."""

import hashlib
import re
import shutil
import stat
import subprocess
from dataclasses import fields
from pathlib import Path

import yaml

from app.core.jobs.queue import BULK, JOB_TIMEOUT_S, URGENT
from config import ROOT, Config
from tests.dev.deploy_files import DEPLOY, DOCKERFILE, UNITS, run_with

COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]

#: Worker services in compose.yaml, one for each queue.
WORKERS = ("worker-urgent", "worker-bulk")
#: Files that the Dockerfile copies from the checkout.
COPIED = " ".join(re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)).split()

SETTINGS = {each.name.upper() for each in fields(Config)}
#: Environment variables that gunicorn.conf.py, prometheus_client and Python read.
OTHERS = {"BIND", "WEB_CONCURRENCY", "PROMETHEUS_MULTIPROC_DIR", "PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def test_compose_services_use_existing_settings_and_queues():
    assert {"postgres", "redis", "web", *WORKERS, "nginx"} <= set(SERVICES)
    for name in ("web", *WORKERS, "migrate"):
        given = {variable.removesuffix("_FILE") for variable in SERVICES[name]["environment"]}
        assert given <= SETTINGS | OTHERS, name
        assert SERVICES[name]["read_only"] is True
    for name, queue in zip(WORKERS, (URGENT, BULK), strict=True):
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) > JOB_TIMEOUT_S
        assert SERVICES[name]["command"] == ["rq", "worker", "-c", "worker", "-w", "worker.Worker", queue]
    redis = SERVICES["redis"]["command"]
    assert redis[redis.index("--appendonly") + 1] == "yes"
    assert redis[redis.index("--maxmemory-policy") + 1] == "noeviction"


def test_a_migration_that_fails_ends_the_start():
    """`docker compose up` waits until `migrate` succeeds. With restarts it would wait forever, and tell no reason."""
    assert SERVICES["migrate"]["restart"] == "no"
    for name in ("web", *WORKERS):
        assert SERVICES[name]["restart"] == "always"
        assert SERVICES[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_redis_has_no_user_without_a_password():
    """If a Redis user has no password, Redis runs in protected mode and refuses other machines."""
    default, health = (DEPLOY / "redis.acl").read_text().splitlines()
    assert default == "user default off resetpass nocommands"
    assert health.startswith("user health on #")


def test_container_secrets_are_created_once_and_not_overwritten(tmp_path):
    for name in ("container-secrets", "redis.acl"):
        shutil.copy(DEPLOY / name, tmp_path)
    subprocess.run([tmp_path / "container-secrets"], check=True)
    secrets = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    wanted = {Path(each["file"]).name for each in COMPOSE["secrets"].values()}
    assert set(secrets) == wanted | {"redis.acl"}
    assert f":{secrets['postgres_password'].strip()}@postgres/" in secrets["database_url"]
    password = re.findall(r"redis://health:(\w+)@redis:6379/0\n", secrets["redis_url"])[0]
    assert f"user health on #{hashlib.sha256(password.encode()).hexdigest()} " in secrets["redis.acl"]
    assert stat.S_IMODE((tmp_path / "secrets").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "secrets").iterdir()} == {0o644}
    assert stat.S_IMODE((tmp_path / "health.env").stat().st_mode) == 0o600

    (tmp_path / "health.env").write_text("SECRET_KEY=rahasia\n")
    subprocess.run([tmp_path / "container-secrets"], check=True)
    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == secrets
    assert (tmp_path / "health.env").read_text() == "SECRET_KEY=rahasia\n"


def test_every_image_name_contains_its_registry():
    """Image names contain a registry, because Podman on Debian refuses names without one."""
    images = {service["image"] for service in SERVICES.values() if "build" not in service}
    images |= set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE))
    assert {image for image in images if not image.startswith("docker.io/")} == set()


def test_the_database_role_gets_the_password_in_the_secret_file_and_none_without_it(tmp_path):
    """If PostgreSQL could not read the secret, the role would have an empty password and could never log in."""

    def asked():
        done = run_with(tmp_path, "psql", 'echo "$@"', "postgres-init.sh", POSTGRES_USER="postgres")
        return done.returncode, done.stdout

    refused, nothing = asked()
    assert (refused != 0, nothing) == (True, "")
    (tmp_path / "postgres_password").write_text("sandi-basis-data\n")
    status, call = asked()
    assert status == 0
    assert "password=sandi-basis-data " in call


def test_files_with_secrets_are_not_copied_into_the_image_or_into_git():
    ignored = set((ROOT / ".dockerignore").read_text().split())
    assert {".git", ".env", ".venv", "instance", "deploy/*"} <= ignored
    assert not ignored & set(COPIED)
    named = re.findall(r"env_file: (\S+)|file: (secrets)/|- \./([^:]+):", (DEPLOY / "compose.yaml").read_text())
    wanted = {name for names in named for name in names if name and not (DEPLOY / name).is_file()}
    assert {"health.env", "secrets", "nginx.site.conf"} <= wanted
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {f"/deploy/{name}" for name in wanted} <= {line.rstrip("/") for line in ignored}


def test_writable_folders_are_mounted_as_volumes():
    """The disks of the containers are read-only, so writable folders must be mounted.

    Temporary XLSX files and data exports may have any size, and a tmpfs would keep them in memory.
    """
    (media,) = re.findall(r"MEDIA_ROOT=(\S+)", DOCKERFILE)
    for name in ("web", *WORKERS):
        mounted = {
            path or volume: volume for volume, _, path in (each.partition(":") for each in SERVICES[name]["volumes"])
        }
        assert mounted[media] in COMPOSE["volumes"], name
        assert "/tmp" in mounted, name
        assert not any(mount.partition(":")[0] == "/tmp" for mount in SERVICES[name]["tmpfs"]), name
    for path in UNITS:
        assert "TMPDIR=/var/tmp" in re.findall(r"^Environment=(.+)$", path.read_text(), re.MULTILINE), path.name


def test_pg_dump_in_the_image_has_the_version_of_the_server():
    """pg_dump refuses a server that is newer than pg_dump."""
    version = SERVICES["postgres"]["image"].removeprefix("docker.io/library/postgres:")
    assert f" postgresql-client-{version} " in DOCKERFILE
    assert f"PATH=/opt/health/.venv/bin:/usr/lib/postgresql/{version}/bin:$PATH" in DOCKERFILE


def test_the_dockerfile_copies_existing_files_and_runs_without_root():
    assert [name for name in COPIED if not (ROOT / name).exists()] == []
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE) == ["health"]
    assert "/healthz" in DOCKERFILE


def test_the_image_contains_bytecode_because_its_user_can_write_none():
    """Without bytecode each process compiles all modules, and `worker-health` may exceed its time limit."""
    assert "--no-compile" not in DOCKERFILE
    compiled = re.findall(r"^RUN python -m compileall -q (.+)$", DOCKERFILE, re.MULTILINE)[0].split()
    assert {"app", "config.py", "worker.py", "wsgi.py"} <= set(compiled)
