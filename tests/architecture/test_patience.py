"""No verdict depends on how fast the machine is: tests wait for an event as long as it takes (`PATIENCE_S`).

What takes seconds of its own is measured by `bench/`, and gates nothing.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from config import ROOT

TESTS = ROOT / "tests"

#: Names of what waits, and at which place they take the longest time that they do so.
WAITING = {"wait_until": 1, "eventually": 1, "wait": 0, "join": 0, "result": 0, "communicate": 1}
CLOCKS = {"monotonic", "perf_counter"}
#: A shorter wait is a look between two others.
LOOK_S = 1


def number(node: ast.expr | None) -> float:
    return float(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else 0.0


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def waits_for_seconds(node: ast.AST) -> bool:
    """`wait_until(condition, 10)`, `thread.join(5)`, `process.wait(timeout=3)`"""
    if not isinstance(node, ast.Call) or name_of(node) not in WAITING:
        return False
    place = WAITING[name_of(node)]
    named = [keyword.value for keyword in node.keywords if keyword.arg in ("timeout", "seconds")]
    return any(number(limit) >= LOOK_S for limit in [*node.args[place : place + 1], *named])


def bounds_seconds(node: ast.AST) -> bool:
    """`monotonic() - started < 2`"""
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[-1], ast.Lt | ast.LtE):
        return False
    calls = {name_of(call) for call in ast.walk(node.left) if isinstance(call, ast.Call)}
    return bool(calls & CLOCKS) and number(node.comparators[-1]) > 0


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_test_gives_an_event_so_many_seconds(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    lines = [node.lineno for node in ast.walk(tree) if waits_for_seconds(node) or bounds_seconds(node)]
    assert not lines, f"wait for PATIENCE_S, or look at the order of events: lines {lines}"
