"""Rules for the tests: no fixed timeouts, no installed packages, and no imports of other tests."""

import ast
import re

from tests.architecture.modules import TESTS, called, imports, modules_of
from tests.helpers.offenders import assert_none

#: Names of functions that wait, and the position of their timeout argument.
WAITING = {"wait_until": 1, "eventually": 1, "wait": 0, "join": 0, "result": 0, "communicate": 1}
CLOCKS = {"monotonic", "perf_counter"}
#: An argument of at least this number of seconds counts as a timeout. A shorter wait is a pause between two checks.
LOOK_S = 1

INSTALLS = re.compile(r"apt-get|pip3? install|npm (i|ci|install)\b|playwright install")
#: Files that test installers with fake programs, or that quote instructions for an operator.
SUBJECTS = {"dev/test_system_packages.py", "architecture/test_tests.py", "core/test_config.py"}


def number(node):
    return float(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else 0.0


def waits_for_seconds(node):
    """Return whether a call has a timeout of at least `LOOK_S` seconds, such as `wait_until(condition, 10)`."""
    if not isinstance(node, ast.Call) or called(node) not in WAITING:
        return False
    place = WAITING[called(node)]
    named = [keyword.value for keyword in node.keywords if keyword.arg in ("timeout", "seconds")]
    return any(number(limit) >= LOOK_S for limit in [*node.args[place : place + 1], *named])


def bounds_seconds(node):
    """Return whether a comparison sets an upper limit for a duration, such as `monotonic() - started < 2`."""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[-1], ast.Lt | ast.LtE):
        return False
    calls = {called(call) for call in ast.walk(node.left) if isinstance(call, ast.Call)}
    return bool(calls & CLOCKS) and number(node.comparators[-1]) > 0


def test_no_test_has_a_timeout_of_a_fixed_number_of_seconds():
    """No result depends on the speed of the machine. Durations are measured in `bench/`."""
    assert_none(
        (
            module.at(node.lineno)
            for module in modules_of(TESTS)
            for node in module.nodes
            if waits_for_seconds(node) or bounds_seconds(node)
        ),
        "A busy machine takes longer. Wait for PATIENCE_S, or check the order of events:",
    )


def test_no_test_installs_anything():
    assert_none(
        (
            f"{module.at(number)} {line.strip()}"
            for module in modules_of(TESTS)
            if module.name not in SUBJECTS and INSTALLS.search(module.text)
            for number, line in enumerate(module.text.splitlines(), start=1)
            if INSTALLS.search(line)
        ),
        "Add the package to dev/system_packages.py, and get its path with require():",
    )


def test_no_test_imports_another_test():
    """Import-linter cannot check this rule. Its wildcards replace whole names, so it has no pattern like `test_*`."""
    assert_none(
        (
            f"{module.at(line)} {name}"
            for module in modules_of(TESTS)
            for line, name in imports(module)
            if ".test_" in f".{name}"
        ),
        "A change of one test would break the other. Move what both need to a module beside them or to tests/helpers:",
    )
