"""`make bench`: run all benchmarks, or one (`make bench T=forum`), and print a table of targets and results.

`make bench T="growth --most 100000"` limits the rows of the largest table. `make outages` runs `outages`, because that
takes too long for `make bench`. A benchmark is a module in this folder with a function `run(environment)` that yields
results. Each benchmark has its own servers and database.
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


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--short", action="store_true", help="run the outages for seconds, to check that they work")
    parser.add_argument("--most", type=int, default=1_000_000, help="maximum rows of the largest table of growth")
    options = parser.parse_args(words)
    results: list[Result] = []
    for name in options.names or BENCHMARKS:
        started = time.monotonic()
        print(f"{name} ...", flush=True)
        module = importlib.import_module(f"bench.{name}")
        try:
            with environment(short=options.short, most=options.most) as bench:
                results += module.run(bench)
        except Exception:  # noqa: BLE001  # keep the results of the other benchmarks
            traceback.print_exc()
            results.append(Result(name, "a result", "none", holds=False))
        print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    print_table(results)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
