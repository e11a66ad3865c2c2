"""Functions that send many requests with `wrk` (a Debian package). The program `wrk` needs little processor time."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median

from dev.system_packages import require

#: Lua script for `wrk` that sends the requests of a target in turn.
SCRIPT = """
local paths = {paths}
local tokens = {tokens}
local bodies = {bodies}
local n = 0
math.randomseed(os.time() + math.floor(os.clock() * 1e6))
local run = os.time() .. math.random(100000, 999999)
function request()
  n = n + 1
  local headers = {{}}
  if #tokens > 0 then headers["Authorization"] = "Bearer " .. tokens[1 + n % #tokens] end
  local body = #bodies > 0 and bodies[1 + n % #bodies]:gsub("NUMBER", run .. n) or nil
  if body then headers["Content-Type"] = "application/json" end
  return wrk.format({method}, paths[1 + n % #paths], headers, body)
end
"""


@dataclass(frozen=True)
class Target:
    """Requests to measure. The paths, access tokens and JSON bodies are used in turn.

    The text `NUMBER` in a body is replaced by a new number each time.
    """

    paths: Sequence[str]
    method: str = "GET"
    tokens: Sequence[str] = field(default=())
    bodies: Sequence[str] = field(default=())

    def script(self) -> str:
        lists = {"paths": self.paths, "tokens": self.tokens, "bodies": self.bodies}
        tables = {name: "{" + ",".join(json.dumps(item) for item in items) + "}" for name, items in lists.items()}
        return SCRIPT.format(**tables, method=json.dumps(self.method))


def rate(url: str, target: Target, *, seconds: int = 2, connections: int = 16) -> float:
    """Return the number of successful requests a second. An error response stops the benchmark."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(target.script())
        script.flush()
        options = [f"-c{connections}", f"-d{seconds}s", "-t1", "--timeout", "20s", "-s", script.name]
        done = subprocess.run([require("wrk"), *options, url], capture_output=True, text=True, check=True)
    if bad := re.search(r"Non-2xx or 3xx responses: (\d+)|Socket errors: .*", done.stdout):
        raise SystemExit(f"{target.method} {target.paths[0]}: {bad[0]}")
    match = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    if not match:
        raise SystemExit(done.stdout + done.stderr)
    return float(match[1])


def rates(url: str, targets: Mapping[str, Target], *, rounds: int = 5, seconds: int = 1) -> dict[str, float]:
    """Return the requests a second of each target, as a median of several rounds.

    The targets take turns in each round. A warm-up round is not counted.
    """
    for target in targets.values():
        rate(url, target, seconds=1)
    rates: dict[str, list[float]] = {name: [] for name in targets}
    for _ in range(rounds):
        for name, target in targets.items():
            rates[name].append(rate(url, target, seconds=seconds))
    return {name: median(values) for name, values in rates.items()}


def beside(
    url: str, target: Target, work: Callable[[], object], *, connections: int, seconds: int = 3, rounds: int = 5
) -> tuple[float, float]:
    """Return the rate of a target beside `work`, divided by the rate alone. Also return the median seconds of `work`.

    `work` is repeated while the target is measured. The first figure is the ratio of two medians.
    """
    alone, together, spent = [], [], []
    with ThreadPoolExecutor() as pool:
        for _ in range(rounds):
            alone.append(rate(url, target, seconds=seconds, connections=connections))
            measured = pool.submit(rate, url, target, seconds=seconds, connections=connections)
            while not measured.done():
                started = time.perf_counter()
                work()
                spent.append(time.perf_counter() - started)
            together.append(measured.result())
    return median(together) / median(alone), median(spent)
