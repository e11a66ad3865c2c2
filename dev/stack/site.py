"""The service as in production: nginx, two gunicorns, one worker for each queue, and Redis.

nginx uses `deploy/nginx.conf`. Redis uses the access rules of `deploy/redis.acl`.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import socket
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import requests
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from config import ROOT
from dev.servers import free_port, valkey_server
from dev.stack.processes import Stack
from dev.stack.waiting import PATIENCE_S, wait_until
from dev.system_packages import require

NAME = "api.example.org"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


class DeployedStack(Stack):
    """The service behind nginx. `call` sends its request through nginx with TLS."""

    #: Path of the Redis server program.
    redis_server = staticmethod(valkey_server)

    #: Additional replacements in `deploy/nginx.conf`. The keys are the old texts, and the values are the new texts.
    changes: ClassVar[dict[str, str]] = {}

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        super().__init__(env, folder)
        self.folder = folder
        self.nginx = str(require("nginx"))
        self.tls_port = free_port()
        self.sockets = [folder / "web-1.sock", folder / "web-2.sock"]
        self.certificate = _certificate(folder)
        self.access_log = folder / "access.log"
        self.redis_port = free_port()
        self.env |= {
            "TRUSTED_PROXIES": "1",
            "REDIS_URL": f"redis://health:sandi-redis@127.0.0.1:{self.redis_port}/0",
        }
        self.session = requests.Session()
        self.session.trust_env = False  # The environment variable REQUESTS_CA_BUNDLE would override `verify`.
        self.session.verify = str(self.certificate)
        self.webs: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"https://localhost:{self.tls_port}/api"

    def start(self) -> None:
        users = self.folder / "redis.acl"
        digest = hashlib.sha256(b"sandi-redis").hexdigest()
        users.write_text((ROOT / "deploy/redis.acl").read_text().replace("SHA256_OF_THE_PASSWORD", digest))
        options = ["--port", str(self.redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self.folder)]
        self.spawn(str(self.redis_server()), *options, "--appendonly", "yes", "--aclfile", str(users))
        self.webs = [self.start_web_at(number) for number in (1, 2)]
        self.start_worker("urgent")
        self.start_worker("bulk")
        self.spawn(self.nginx, "-c", str(self._rendered()), "-g", "daemon off;")

    def start_web_at(self, number: int, *, code: Path = ROOT) -> subprocess.Popen[bytes]:
        metrics = self.folder / f"metrics-{number}"
        bind = f"unix:{self.sockets[number - 1]}"
        return self.start_web(code=code, BIND=bind, PROMETHEUS_MULTIPROC_DIR=str(metrics))

    def is_ready(self) -> bool:
        # nginx answers /readyz only to requests from the same machine.
        return all(path.exists() for path in self.sockets) and super().is_ready()

    def connect(self, server_name: str = "localhost") -> ssl.SSLSocket:
        """Open a TLS connection to nginx without sending a request."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        return context.wrap_socket(
            socket.create_connection(("127.0.0.1", self.tls_port), timeout=PATIENCE_S), server_hostname=server_name
        )

    def _rendered(self) -> Path:
        """Write `deploy/nginx.conf` with the ports, names and folders of this test. Return the path of the new file."""
        text = (ROOT / "deploy/nginx.conf").read_text()
        temporary = "".join(f"    {kind}_temp_path {self.folder}/{kind};\n" for kind in TEMPORARY)
        for theirs, ours in {
            "user www-data;": "user root;" if os.geteuid() == 0 else "",
            "/run/nginx.pid": f"{self.folder}/nginx.pid",
            "/var/log/nginx/error.log": f"{self.folder}/error.log",
            "/var/log/nginx/access.log": str(self.access_log),
            "/run/health/": f"{self.folder}/",
            "listen 80": f"listen 127.0.0.1:{self.port}",
            "listen 443": f"listen 127.0.0.1:{self.tls_port}",
            f"server_name {NAME}": "server_name localhost",
            f"/etc/letsencrypt/live/{NAME}/fullchain.pem": str(self.certificate),
            f"/etc/letsencrypt/live/{NAME}/privkey.pem": str(self.certificate),
            "snippets/health-errors.conf": str(ROOT / "deploy/nginx-errors.conf"),
            "/var/lib/health/media": self.env["MEDIA_ROOT"],
            "/var/cache/health-nginx": f"{self.folder}/cache",
            "http {\n": "http {\n" + temporary,
            **self.changes,
        }.items():
            assert theirs in text, theirs
            text = text.replace(theirs, ours)
        rendered = self.folder / "nginx.conf"
        rendered.write_text(text)
        subprocess.run([self.nginx, "-t", "-q", "-c", rendered], check=True, capture_output=True)
        return rendered

    def restart_web(self, number: int, *, code: Path = ROOT) -> None:
        self.end(self.webs[number - 1])
        self.webs[number - 1] = self.start_web_at(number, code=code)
        wait_until(lambda: readiness(self.sockets[number - 1]) == 200)


def readiness(path: Path) -> int | None:
    """Return the status of `/readyz` on one gunicorn's socket, or None if gunicorn does not answer."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(PATIENCE_S)
    with contextlib.closing(connection):
        try:
            connection.sock.connect(str(path))
            connection.request("GET", "/readyz")
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "site.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return file
