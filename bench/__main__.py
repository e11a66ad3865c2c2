"""`make bench`: every benchmark, or one (`make bench T=forum`), and one table of targets and results at the end.

A benchmark is a module here with `run(environment)`, which yields its results. Each gets servers and a database of
its own.
"""

from __future__ import annotations

import importlib
import sys
import time

from bench.environment import Result, environment

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
)


def main(names: list[str]) -> int:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}.")
        return 2
    results: list[Result] = []
    for name in names or BENCHMARKS:
        started = time.monotonic()
        print(f"{name} ...", flush=True)
        module = importlib.import_module(f"bench.{name}")
        with environment() as bench:
            results += module.run(bench)
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    _print_table(results)
    return 0 if all(result.holds for result in results) else 1


def _print_table(results: list[Result]) -> None:
    rows = [
        ("benchmark", "target", "result", ""),
        *((r.name, r.target, r.reached, "" if r.holds else "SHORT") for r in results),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
