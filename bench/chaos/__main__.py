"""`make chaos`: reminders fall due during faults. No reminder may be lost, sent early or sent twice.

The program prints one table of targets and results. The exit code is 1 if a target is missed. Each experiment
has its own kind of fault. `make chaos ARGS="kills poison"` runs only the experiments `kills` and `poison`.
`ARGS=--short` runs the experiments with smaller plans. `make outages` runs the two experiments in `OUTAGES`.
"""

from __future__ import annotations

import argparse
import sys

from bench.chaos import backlog, kills, outages, poison, stopped
from bench.environment import Result, print_table

#: The experiments, by name. Each one is a module with a function `run(plan)` and two plans, WHOLE and SHORT. `run`
#: yields results.
EXPERIMENTS = {"kills": kills, "poison": poison, "backlog": backlog, "outages": outages, "stopped": stopped}
#: Experiments that last longer than `make chaos` may take.
OUTAGES = ("outages", "stopped")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    text = f"default: all but {' and '.join(OUTAGES)}"
    # not `choices`, because argparse then refuses to go without names
    parser.add_argument("experiments", nargs="*", help=f"{', '.join(EXPERIMENTS)}; {text}")
    parser.add_argument("--short", action="store_true", help="fewer reminders, shorter faults")
    options = parser.parse_args()
    if unknown := set(options.experiments) - EXPERIMENTS.keys():
        parser.error(f"no experiment is named {', '.join(sorted(unknown))}")
    results: list[Result] = []
    for name in options.experiments or [name for name in EXPERIMENTS if name not in OUTAGES]:
        print(f"{name} ...", flush=True)
        experiment = EXPERIMENTS[name]
        results += experiment.run(experiment.SHORT if options.short else experiment.WHOLE)
    print_table(results)
    return 0 if all(result.holds for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
