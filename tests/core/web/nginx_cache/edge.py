"""nginx with deploy/nginx.conf, in front of a fake service. Tests set the responses of the fake service."""

import contextlib
import socketserver
import threading
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler

from dev.stack.site import DeployedStack
from dev.stack.waiting import PATIENCE_S, wait_until

FRESH_FOR_LONG = "public, max-age=1000, stale-while-revalidate=1000, stale-if-error=1000"


@dataclass
class Asked:
    """A request that nginx passed to the fake service."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Service:
    """The response of the fake service, and the requests that the fake service received."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": FRESH_FOR_LONG})
    body: bytes | None = None
    asked: list[Asked] = field(default_factory=list)
    #: The fake service sends responses only while this event is set.
    answers: threading.Event = field(default_factory=threading.Event)

    def answer(self, asked):
        self.asked.append(asked)
        self.answers.wait(PATIENCE_S)
        origin = asked.headers.get("Origin")
        own = {"Access-Control-Allow-Origin": origin} if origin else {}
        own |= {
            "Vary": "Authorization, Origin",
            "X-Request-ID": asked.headers["X-Request-ID"],
            "Date": formatdate(usegmt=True),
        }
        body = self.body or f"answer {len(self.asked)} to {asked.path}".encode()
        return self.status, own | self.headers, body


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64
    service: Service


class Handler(BaseHTTPRequestHandler):
    server: UnixServer

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.command, self.path, dict(self.headers.items()), body)
        status, headers, content = self.server.service.answer(asked)
        self.send_response_only(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer  # noqa: N815  # `http.server` sets the names

    def log_message(self, *_):
        """Do not log requests. They are recorded in `asked`."""


class Edge(DeployedStack):
    """A running nginx in front of a fake service."""

    def __init__(self, folder):
        super().__init__({}, folder)
        self.service = Service()
        self.servers = []

    def start(self):
        self.open_sockets()
        self.spawn(self.nginx, "-c", str(self._rendered()), "-g", "daemon off;")

    def is_ready(self):
        return self.call("GET", "/profile").ok

    def open_sockets(self):
        self.service.answers.set()
        for path in self.sockets:
            server = UnixServer(str(path), Handler)
            server.service = self.service
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.servers.append(server)

    def close_sockets(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        for path in self.sockets:
            path.unlink()
        self.servers.clear()

    @contextlib.contextmanager
    def without_service(self):
        self.close_sockets()
        yield
        self.open_sockets()
        wait_until(self.is_ready)

    def __exit__(self, *_):
        super().__exit__()
        self.close_sockets()

    def get(self, path, **headers):
        """Send a GET without a token, like a browser. `X_Name="..."` sets the header `X-Name`."""
        return self.call("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
