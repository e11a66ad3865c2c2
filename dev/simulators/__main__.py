"""Server of all simulators: `python -m dev.simulators [http://127.0.0.1:8000]`.

When the server is ready, it prints the settings of the service as JSON on one line. With the address of the service,
the messaging simulator calls its webhooks with receipts. The server ends at SIGTERM or Ctrl-C.
"""

from __future__ import annotations

import json
import signal
import sys
from threading import Event

from dev.simulators import simulators


def main(service_url: str | None = None) -> None:
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with simulators() as server:
        if service_url:
            server.messaging.call_back(service_url)
        print(json.dumps(server.env), flush=True)
        ended.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
