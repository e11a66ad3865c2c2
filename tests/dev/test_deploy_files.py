"""Tests of the deployment files.

The tests check that the settings exist in the code, that timeouts are long enough, and that the syntax is valid.
"""

import configparser
import hashlib
import os
import re
import shutil
import socketserver
import stat
import subprocess
from contextlib import closing
from dataclasses import fields
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import psycopg2
import pytest
import yaml

from app.core import errors
from app.core.errors import NotFound, TooManyRequests, Unavailable
from app.core.jobs.queue import BULK, JOB_TIMEOUT_S, URGENT
from app.core.web.parsing import MAX_MULTIPART_BYTES
from config import ROOT, Config, risks
from dev.system_packages import require
from dev.testing import DATABASE_VARIABLE, temporary_servers
from tests.core.production import GOOD

DEPLOY = ROOT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*@.service"))

#: Worker services in compose.yaml, one for each queue.
WORKERS = ("worker-urgent", "worker-bulk")

SETTINGS = {each.name.upper() for each in fields(Config)}
#: Environment variables that gunicorn.conf.py, prometheus_client and Python read.
OTHERS = {"BIND", "WEB_CONCURRENCY", "PROMETHEUS_MULTIPROC_DIR", "PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}


def unit(path):
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    parser.optionxform = str
    parser.read_string(path.read_text())
    return dict(parser["Service"])


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_restarts_always_and_stops_gracefully(path):
    service = unit(path)
    assert (service["Restart"], service["KillMode"]) == ("always", "mixed")
    needed = JOB_TIMEOUT_S if "worker" in path.name else 30
    assert int(service["TimeoutStopSec"]) > needed
    assert (service["NoNewPrivileges"], service["ProtectSystem"]) == ("yes", "strict")


@pytest.mark.processes
@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_finds_no_fault_in_a_unit(path):
    command = [require("systemd"), "verify", "--man=no", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [line for line in done.stderr.splitlines() if path.stem.rstrip("@") in line]
    # The programs in /opt are not installed here, so systemd may report that they are missing.
    assert all("is not executable" in line for line in found), done.stderr


def test_each_queue_has_a_systemd_drop_in_for_its_worker():
    """Broadcasts and exports must not delay reminders."""
    found = {path.parent.name: path.read_text() for path in (DEPLOY / "systemd").glob("*.d/*.conf")}
    assert found == {
        f"health-worker@{queue}.service.d": f"[Service]\nEnvironment=QUEUE={queue}\n" for queue in (URGENT, BULK)
    }


def test_units_image_and_flask_command_use_the_same_media_root():
    for path in (*UNITS, DEPLOY / "Dockerfile", DEPLOY / "flask"):
        assert "MEDIA_ROOT=/var/lib/health/media" in path.read_text(), path.name


def run_flask(folder, *arguments):
    """Run deploy/flask with a fake `runuser` that prints its arguments and three variables."""
    runuser = folder / "runuser"
    runuser.write_text('#!/bin/sh\necho "$@"; echo "$MEDIA_ROOT $TEMPLATES $SECRET_KEY"\n')
    runuser.chmod(0o755)
    (folder / "health.env").write_text('SECRET_KEY=rahasia\nTEMPLATES=\'{"a": "b"}\'\n')
    script = (DEPLOY / "flask").read_text().replace("/opt/health", str(folder)).replace("/etc/health", str(folder))
    command = ["sh", "-c", script, "flask", *arguments]
    env = {"PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def test_the_flask_command_runs_as_the_service_user_with_its_settings(tmp_path):
    assert run_flask(tmp_path, "users", "create", "--password", "a b") == (
        '-u health -- .venv/bin/flask users create --password a b\n/var/lib/health/media {"a": "b"} rahasia\n'
    )


def test_a_systemd_timer_runs_the_documented_backup_command():
    service, timer = (unit_text(f"health-backup.{kind}") for kind in ("service", "timer"))
    assert "/opt/health/deploy/backup /var/backups/health/" in service
    assert "OnCalendar=" in timer
    assert "health-backup.timer" in (DEPLOY / "README.md").read_text()


def unit_text(name):
    return (DEPLOY / "systemd" / name).read_text()


def test_postgres_sql_creates_the_role_and_limits_what_is_logged():
    """Run the SQL statements of a deployment file on a real server."""
    text = (DEPLOY / "postgres.sql").read_text().replace("health", "health_new")
    statements = re.findall(r"^[A-Z][^;]+;", text, re.MULTILINE)
    with temporary_servers() as servers, closing(psycopg2.connect(servers[DATABASE_VARIABLE], user="postgres")) as c:
        c.autocommit = True
        with c.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            cursor.execute("SELECT pg_reload_conf(), pg_sleep(0.2)")
            for name, value in {"log_min_error_statement": "panic", "log_error_verbosity": "terse"}.items():
                cursor.execute(f"SHOW {name}")
                assert cursor.fetchone() == (value,)
            cursor.execute("SELECT rolcreaterole, rolsuper FROM pg_roles WHERE rolname = 'health_new'")
            assert cursor.fetchone() == (False, False)


def sample():
    """Return the settings shown in deploy/README.md."""
    (block,) = re.findall(r"```ini\n(.*?)```", (DEPLOY / "README.md").read_text(), re.DOTALL)
    return dict(line.split("=", 1) for line in block.splitlines() if line)


def test_production_starts_with_the_settings_in_the_readme():
    given = {name: GOOD.get(name, "x") if value == "..." else value for name, value in sample().items()}
    config = Config.from_env(given)
    assert config.is_production
    assert len(given) <= 18
    assert config.public_url
    assert risks(config) == {}


@pytest.mark.parametrize("page", ["README.md", "containers.md"])
def test_an_installation_page_has_few_commands_and_few_words(page):
    """Count the beginning of README.md as part of each page, because every installation needs the settings there."""
    text = (DEPLOY / page).read_text()
    (commands,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for line in commands.splitlines() if line and not line.startswith("#")]
    assert len(lines) <= 12
    if page != "README.md":
        text += (DEPLOY / "README.md").read_text().partition("```sh")[0]
    assert len(text.split()) <= 900


def test_every_link_between_the_pages_points_to_a_file():
    for page in (*DEPLOY.glob("*.md"), ROOT / "README.md", ROOT / "docs/settings.md"):
        for link in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).is_file(), f"{page.name}: {link}"


def test_files_with_secrets_are_not_copied_into_the_image():
    ignored = set((ROOT / ".dockerignore").read_text().split())
    assert {".git", ".env", ".venv", "instance", "deploy/*"} <= ignored
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert not ignored & {name for names in copied for name in names.split()}


class Web(socketserver.UnixStreamServer):
    """A server for `/readyz` on a unix socket. Its first `unready` responses have status 503, the others 200."""

    def __init__(self, path, unready):
        self.statuses = [503] * unready
        super().__init__(str(path), _Readiness)


class _Readiness(BaseHTTPRequestHandler):
    server: Web

    def do_GET(self):
        assert self.path == "/readyz"
        self.send_response(self.server.statuses.pop() if self.server.statuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def rolling_restart(folder):
    """Run `deploy/rolling-restart` with the web sockets in `folder`. Return its exit code and its systemctl calls."""
    require("curl")
    asked = folder / "asked"
    systemctl = folder / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n')
    systemctl.chmod(0o755)
    script = (DEPLOY / "rolling-restart").read_text().replace("/run/health", str(folder))
    env = {"PATH": f"{folder}:{os.environ['PATH']}", "TRIES": "2"}
    done = subprocess.run(["sh", "-c", script], env=env, check=False, capture_output=True, text=True)
    return done.returncode, asked.read_text().splitlines() if asked.exists() else []


def rolling_restart_of_two(folder, unready):
    """Run `rolling_restart` with two web sockets. The first `unready` responses of the second socket are 503."""
    with Web(folder / "web-1.sock", 0) as first, Web(folder / "web-2.sock", unready) as second:
        for web in (first, second):
            Thread(target=web.serve_forever, daemon=True).start()
        done = rolling_restart(folder)
        for web in (first, second):
            web.shutdown()
    return done


@pytest.mark.processes
def test_a_rolling_restart_waits_until_each_web_service_is_ready(tmp_path):
    webs = ["restart health-web@1", "restart health-web@2"]
    assert rolling_restart_of_two(tmp_path, unready=2) == (0, [*webs, "restart health-worker@*"])


@pytest.mark.processes
def test_a_rolling_restart_stops_at_a_web_service_that_is_not_ready(tmp_path):
    assert rolling_restart_of_two(tmp_path, unready=99) == (1, ["restart health-web@1", "restart health-web@2"])


@pytest.mark.processes
def test_a_rolling_restart_without_web_sockets_restarts_nothing(tmp_path):
    """Without sockets, the script must not restart `health-web@*`, which would restart all web services at once."""
    assert rolling_restart(tmp_path) == (1, [])


def test_only_gunicorn_uses_the_metrics_folder():
    """Only gunicorn gets `PROMETHEUS_MULTIPROC_DIR`, the path of the folder for metrics.

    With this variable, another process would fail if the folder is missing. If the folder exists, the process would
    leave files in it.
    """
    text = (DEPLOY / "Dockerfile").read_text()
    assert "PROMETHEUS_MULTIPROC_DIR" not in re.sub(r"^CMD .*$", "", text, flags=re.MULTILINE)
    assert "PROMETHEUS_MULTIPROC_DIR" not in (DEPLOY / "compose.yaml").read_text()
    for path in UNITS:
        assert ("PROMETHEUS_MULTIPROC_DIR" in path.read_text()) == ("web" in path.name)


def test_compose_services_use_existing_settings_and_queues():
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    assert {"postgres", "redis", "web", *WORKERS, "nginx"} <= set(services)
    for name in ("web", *WORKERS, "migrate"):
        given = {variable.removesuffix("_FILE") for variable in services[name]["environment"]}
        assert given <= SETTINGS | OTHERS, name
        assert services[name]["read_only"] is True
    for name, queue in zip(WORKERS, (URGENT, BULK), strict=True):
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > JOB_TIMEOUT_S
        assert services[name]["command"] == ["rq", "worker", "-c", "worker", "-w", "worker.Worker", queue]
    redis = services["redis"]["command"]
    assert redis[redis.index("--appendonly") + 1] == "yes"
    assert redis[redis.index("--maxmemory-policy") + 1] == "noeviction"


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
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    wanted = {Path(each["file"]).name for each in compose["secrets"].values()}
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
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"].values()
    images = {service["image"] for service in services if "build" not in service}
    images |= set(re.findall(r"^FROM (\S+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE))
    assert {image for image in images if not image.startswith("docker.io/")} == set()


def made_database(folder):
    """Run the script that creates the database role, with a secret file. Return its exit code and its psql calls."""
    asked = folder / "asked"
    psql = folder / "psql"
    psql.write_text(f'#!/bin/sh\necho "$@" > {asked}\n')
    psql.chmod(0o755)
    script = (DEPLOY / "postgres-init.sh").read_text().replace("/run/secrets", str(folder))
    env = {"PATH": f"{folder}:{os.environ['PATH']}", "POSTGRES_USER": "postgres"}
    done = subprocess.run(["sh", "-c", script], env=env, check=False, capture_output=True)
    return done.returncode, asked.read_text() if asked.exists() else ""


def test_the_database_role_gets_the_password_in_the_secret_file(tmp_path):
    (tmp_path / "postgres_password").write_text("sandi-basis-data\n")
    status, asked = made_database(tmp_path)
    assert status == 0
    assert "password=sandi-basis-data " in asked


def test_no_database_role_is_created_without_a_password(tmp_path):
    """If PostgreSQL could not read the secret, the role would have an empty password and could never log in."""
    status, asked = made_database(tmp_path)
    assert (status != 0, asked) == (True, "")


def test_git_ignores_the_files_that_an_operator_creates_for_compose():
    """Check that git ignores the files that an operator creates, such as secrets."""
    text = (DEPLOY / "compose.yaml").read_text()
    named = re.findall(r"env_file: (\S+)|file: (secrets)/|- \./([^:]+):", text)
    wanted = {name for names in named for name in names if name and not (DEPLOY / name).is_file()}
    assert {"health.env", "secrets", "nginx.site.conf"} <= wanted
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {f"/deploy/{name}" for name in wanted} <= {line.rstrip("/") for line in ignored}


def test_media_folders_are_mounted_as_volumes():
    """The disks of the containers are read-only, so writable folders must be mounted."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    folders = re.findall(r"MEDIA_ROOT=(\S+)", (DEPLOY / "Dockerfile").read_text())
    assert len(folders) == 1
    for name in ("web", *WORKERS):
        mounted = {
            volume.partition(":")[2]: volume.partition(":")[0] for volume in compose["services"][name]["volumes"]
        }
        assert set(folders) <= set(mounted), name
        assert {mounted[folder] for folder in folders} <= set(compose["volumes"]), name


def test_temporary_files_of_exports_are_on_disk_and_not_on_tmpfs():
    """The folder for temporary XLSX files and data exports is on a disk.

    These files may have any size, and a tmpfs would keep them in memory.
    """
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for name in ("web", *WORKERS):
        assert "/tmp" in services[name]["volumes"], name
        assert not any(mount.partition(":")[0] == "/tmp" for mount in services[name]["tmpfs"]), name
    for path in UNITS:
        assert "TMPDIR=/var/tmp" in re.findall(r"^Environment=(.+)$", path.read_text(), re.MULTILINE), path.name


def test_pg_dump_in_the_image_has_the_version_of_the_server():
    """pg_dump refuses a server that is newer than pg_dump."""
    image = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["postgres"]["image"]
    version = image.removeprefix("docker.io/library/postgres:")
    text = (DEPLOY / "Dockerfile").read_text()
    assert f" postgresql-client-{version} " in text
    assert f"PATH=/opt/health/.venv/bin:/usr/lib/postgresql/{version}/bin:$PATH" in text


def test_the_dockerfile_copies_existing_files_and_runs_without_root():
    text = (DEPLOY / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        for name in line.split():
            assert (ROOT / name).exists(), name
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["health"]
    assert "/healthz" in text


def test_the_documented_sed_command_points_nginx_to_the_web_container():
    (command,) = re.findall(
        r"^(sed .+ nginx\.conf) > nginx\.site\.conf$", (DEPLOY / "containers.md").read_text(), re.MULTILINE
    )
    done = subprocess.run(["sh", "-c", command], cwd=DEPLOY, check=True, capture_output=True, text=True)
    servers = re.findall(r"^ +server (\S+)(?: [\w=]+)?;", done.stdout, re.MULTILINE)
    assert servers == ["web:8000"] * 2


@pytest.mark.parametrize(
    "path", ["/metrics", "/metrics/", "/metrics%2f", "/metrics//", "/readyz", "/readyz/", "/%6detrics"]
)
def test_nginx_denies_public_access_to_metrics_and_readyz(path):
    """The service accepts all these spellings of the two paths. nginx matches its patterns against the decoded path."""
    text = (DEPLOY / "nginx.conf").read_text()
    patterns = re.findall(r"location ~ (\S+) \{\s+allow 127\.0\.0\.1;\s+allow ::1;\s+deny all;", text)
    assert any(re.search(pattern, unquote(path)) for pattern in patterns)


def test_nginx_accepts_bodies_as_large_as_the_service_does():
    (limit,) = re.findall(r"^    client_max_body_size (\d+)m;", (DEPLOY / "nginx.conf").read_text(), re.MULTILINE)
    assert int(limit) * 2**20 > MAX_MULTIPART_BYTES


def test_nginx_errors_have_the_codes_and_messages_of_the_service():
    text = (DEPLOY / "nginx.conf").read_text()
    told = set(re.findall(r'"error":"(\w+)","message":"([^"]+)"', text))
    again = TooManyRequests(retry_after=int(re.findall(r"add_header Retry-After (\d+) always;\s+return 429", text)[0]))
    ours = {*errors.HTTP_ERRORS.values(), *((each.code, each.message) for each in (NotFound(), Unavailable(), again))}
    assert told <= ours


def test_nginx_masks_tokens_and_codes_in_logged_paths(real_app):
    (body,) = re.findall(r"map \$uri \$logged_path \{(.*?)\}", (ROOT / "deploy/nginx.conf").read_text(), re.DOTALL)
    masked = [re.compile(pattern) for pattern in re.findall(r"~(\S+) \S+;", body)]
    secret = {rule.rule for rule in real_app.url_map.iter_rules() if re.search(r"<(token|code)>", rule.rule)}
    assert {rule for rule in secret if not any(pattern.match(rule) for pattern in masked)} == set()
    assert len(secret) >= 5
