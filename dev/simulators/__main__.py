"""Server of all simulators. It ends at SIGTERM or Ctrl-C.

When the server is ready, it prints one line: {"url": ..., "env": {...}}.
"""

from __future__ import annotations

import argparse
import json
import signal
from threading import Event

from dev.simulators.control import simulators


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m dev.simulators", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    port: int = parser.parse_args().port
    ended = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    with simulators(port) as server:
        print(json.dumps({"url": server.url, "env": server.env}), flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
