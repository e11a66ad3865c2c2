"""Tests of the deployment files.

The tests check that the settings exist in the code, that timeouts are long enough, and that the syntax is valid.
"""

import configparser
import re
import socketserver
import subprocess
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from threading import Thread
from urllib.parse import unquote

import psycopg2
import pytest

from app.core import errors
from app.core.errors import NotFound, TooManyRequests, Unavailable
from app.core.jobs.queue import BULK, JOB_TIMEOUT_S, URGENT
from app.core.web.parsing import MAX_MULTIPART_BYTES
from config import ROOT, Config, risks
from dev.system_packages import require
from dev.testing import DATABASE_VARIABLE, temporary_servers
from tests.core.production import GOOD
from tests.dev.deploy_files import DEPLOY, DOCKERFILE, UNITS, run_with

NGINX, README = ((DEPLOY / name).read_text() for name in ("nginx.conf", "README.md"))


def test_a_unit_restarts_always_and_stops_gracefully():
    for path in UNITS:
        parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
        parser.optionxform = str
        parser.read_string(path.read_text())
        service = parser["Service"]
        assert (service["Restart"], service["KillMode"]) == ("always", "mixed")
        assert int(service["TimeoutStopSec"]) > (JOB_TIMEOUT_S if "worker" in path.name else 30)
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


def test_the_flask_command_runs_as_the_service_user_with_its_settings(tmp_path):
    (tmp_path / "health.env").write_text('SECRET_KEY=rahasia\nTEMPLATES=\'{"a": "b"}\'\n')
    fake = 'echo "$@"; echo "$MEDIA_ROOT $TEMPLATES $SECRET_KEY"'
    assert run_with(tmp_path, "runuser", fake, "flask", "users", "create", "--password", "a b").stdout == (
        '-u health -- .venv/bin/flask users create --password a b\n/var/lib/health/media {"a": "b"} rahasia\n'
    )


def test_a_systemd_timer_runs_the_documented_backup_command():
    service, timer = ((DEPLOY / "systemd" / f"health-backup.{kind}").read_text() for kind in ("service", "timer"))
    assert "/opt/health/deploy/backup /var/backups/health/" in service
    assert "OnCalendar=" in timer
    assert "health-backup.timer" in README


@pytest.mark.processes
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


def test_production_starts_with_the_settings_in_the_readme():
    (block,) = re.findall(r"```ini\n(.*?)```", README, re.DOTALL)
    sample = dict(line.split("=", 1) for line in block.splitlines() if line)
    given = {name: GOOD.get(name, "x") if value == "..." else value for name, value in sample.items()}
    config = Config.from_env(given)
    assert config.is_production
    assert config.public_url
    assert risks(config) == {}


def test_every_link_between_the_pages_points_to_a_file():
    for page in (*DEPLOY.glob("*.md"), ROOT / "README.md", ROOT / "docs/settings.md"):
        for link in re.findall(r"\]\(([^)#:]+\.md)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).is_file(), f"{page.name}: {link}"


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
    done = run_with(folder, "systemctl", f'echo "$@" >> {asked}', "rolling-restart", TRIES="2")
    return done.returncode, asked.read_text().splitlines() if asked.exists() else []


@pytest.mark.processes
@pytest.mark.parametrize(
    ("unready", "status", "then"), [(2, 0, ["restart health-worker@*"]), (99, 1, [])], ids=["ready", "not ready"]
)
def test_a_rolling_restart_goes_on_only_when_each_web_service_is_ready(tmp_path, unready, status, then):
    with Web(tmp_path / "web-1.sock", 0) as first, Web(tmp_path / "web-2.sock", unready) as second:
        for web in (first, second):
            Thread(target=web.serve_forever, daemon=True).start()
        assert rolling_restart(tmp_path) == (status, ["restart health-web@1", "restart health-web@2", *then])
        for web in (first, second):
            web.shutdown()


@pytest.mark.processes
def test_a_rolling_restart_without_web_sockets_restarts_nothing(tmp_path):
    """Without sockets, the script must not restart `health-web@*`, which would restart all web services at once."""
    assert rolling_restart(tmp_path) == (1, [])


def test_only_gunicorn_uses_the_metrics_folder():
    """Only gunicorn gets `PROMETHEUS_MULTIPROC_DIR`, the path of the folder for metrics.

    With this variable, another process would fail if the folder is missing. If the folder exists, the process would
    leave files in it.
    """
    assert "PROMETHEUS_MULTIPROC_DIR" not in re.sub(r"^CMD .*$", "", DOCKERFILE, flags=re.MULTILINE)
    assert "PROMETHEUS_MULTIPROC_DIR" not in (DEPLOY / "compose.yaml").read_text()
    for path in UNITS:
        assert ("PROMETHEUS_MULTIPROC_DIR" in path.read_text()) == ("web" in path.name)


# --- nginx ------------------------------------------------------------------------------------------------------------


def test_the_documented_sed_command_points_nginx_to_the_web_container():
    page = (DEPLOY / "containers.md").read_text()
    (command,) = re.findall(r"^(sed .+ nginx\.conf) > nginx\.site\.conf$", page, re.MULTILINE)
    done = subprocess.run(["sh", "-c", command], cwd=DEPLOY, check=True, capture_output=True, text=True)
    assert re.findall(r"^ +server (\S+)(?: [\w=]+)?;", done.stdout, re.MULTILINE) == ["web:8000"] * 2


def test_nginx_denies_public_access_to_metrics_and_readyz():
    """The service accepts all these spellings of the two paths. nginx matches its patterns against the decoded path."""
    patterns = re.findall(r"location ~ (\S+) \{\s+allow 127\.0\.0\.1;\s+allow ::1;\s+deny all;", NGINX)
    for path in ("/metrics", "/metrics/", "/metrics%2f", "/metrics//", "/readyz", "/readyz/", "/%6detrics"):
        assert any(re.search(pattern, unquote(path)) for pattern in patterns), path


def test_nginx_accepts_bodies_as_large_as_the_service_does():
    (limit,) = re.findall(r"^    client_max_body_size (\d+)m;", NGINX, re.MULTILINE)
    assert int(limit) * 2**20 > MAX_MULTIPART_BYTES


def test_nginx_errors_have_the_codes_and_messages_of_the_service():
    told = set(re.findall(r'"error":"(\w+)","message":"([^"]+)"', NGINX))
    again = TooManyRequests(retry_after=int(re.findall(r"add_header Retry-After (\d+) always;\s+return 429", NGINX)[0]))
    ours = {*errors.HTTP_ERRORS.values(), *((each.code, each.message) for each in (NotFound(), Unavailable(), again))}
    assert told <= ours


def test_nginx_masks_tokens_and_codes_in_logged_paths(real_app):
    (body,) = re.findall(r"map \$uri \$logged_path \{(.*?)\}", NGINX, re.DOTALL)
    masked = [re.compile(pattern) for pattern in re.findall(r"~(\S+) \S+;", body)]
    secret = {rule.rule for rule in real_app.url_map.iter_rules() if re.search(r"<(token|code)>", rule.rule)}
    assert {rule for rule in secret if not any(pattern.match(rule) for pattern in masked)} == set()
    assert len(secret) >= 5
