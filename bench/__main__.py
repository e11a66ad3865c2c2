"""`make bench`: run all benchmarks, or one (`make bench T=forum`), and print a table of targets and results.

`make bench T="nginx_cache --short"` runs a long benchmark for only some seconds. `T="growth --most 100000"` limits the
number of rows of the largest table. A benchmark is a module in this folder with a function `run(environment)` that
yields results. Each benchmark has its own servers and database.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback

from bench.environment import Result, environment, print_table

#: Names of the benchmarks, in their default order.
BENCHMARKS = (
    "login",
    "faskes",
    "forum",
    "ledger",
    "deliveries",
    "scheduler",
    "logs",
    "webhooks",
    "broadcast",
    "export",
    "overview",
    "nginx_cache",
    "growth",
)
#: `make outages` runs it, because it takes too long for `make bench`.
OUTAGES = "outages"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--short", action="store_true", help="run for seconds, to check that a benchmark works")
    parser.add_argument("--most", type=int, help="maximum rows of the largest table")
    options = parser.parse_args(words)
    unknown = set(options.names) - {*BENCHMARKS, OUTAGES}
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}.")
        return 2
    results: list[Result] = []
    for name in options.names or BENCHMARKS:
        started = time.monotonic()
        print(f"{name} ...", flush=True)
        module = importlib.import_module(f"bench.{name}")
        try:
            with environment(short=options.short, most=options.most, memory=getattr(module, "MEMORY", None)) as bench:
                results += module.run(bench)
        except Exception:  # noqa: BLE001  # keep the results of the other benchmarks
            traceback.print_exc()
            results.append(Result(name, "a result", "none", holds=False))
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    print_table(results)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
