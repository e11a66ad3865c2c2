"""`make bench`: every benchmark, or one (`make bench T=forum`), and one table of targets and results at the end.

`make bench T="edge --short"` makes what takes minutes take seconds. A benchmark is a module here with
`run(environment)`, which yields its results. Each gets servers and a database of its own.
"""

from __future__ import annotations

import importlib
import sys
import time

from bench.environment import Result, environment, print_table

#: In this order.
BENCHMARKS = (
    "login",
    "faskes",
    "forum",
    "deliveries",
    "clock",
    "logs",
    "broadcast",
    "export",
    "overview",
    "users",
    "outages",
    "edge",
)


def main(words: list[str]) -> int:
    names = [word for word in words if word != "--short"]
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}.")
        return 2
    results: list[Result] = []
    for name in names or BENCHMARKS:
        started = time.monotonic()
        print(f"{name} ...", flush=True)
        module = importlib.import_module(f"bench.{name}")
        with environment(short="--short" in words) as bench:
            results += module.run(bench)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    print_table(results)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
