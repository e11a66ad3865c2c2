"""What runs by itself stands in `app/wiring.py`: nothing registers itself by being imported, no job is forgotten."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app import wiring
from app.core.jobs import schedule
from app.identity import jobs as identity
from tests.architecture.test_rules import APP, SOURCES, relative

#: Decorators of ours that mark or wrap what stands below them, and put it into no list.
MARKS = {
    "public",
    "optional",
    "optional_reader",
    "cached",
    "may_be_old",
    "authenticated",
    "authenticated_reader",
    "requires",
    "limit",
    "limit_own_password",
    "limit_uploads",
    "limit_admin_uploads",
    "limit_answers",
    "secret_answer",
    "command",
}

#: The worker's jobs and the clock's ticks.
JOBS = [path for path in SOURCES if path.name == "jobs.py"]


def self_registrations(source: str) -> list[str]:
    """The statements by which a module changes another one, or calls something, while it is imported.

    Its own blueprint, command group or enumeration is its own affair; so is a name that it defines.
    """
    tree = ast.parse(source)
    imported = {
        (alias.asname or alias.name).split(".")[0]: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return [ast.unparse(line).splitlines()[0] for node in tree.body for line in _effects(node, imported)]


def _effects(node: ast.stmt, imported: dict[str, str]) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Call()):
            yield node
        case ast.Assign(targets=targets):
            yield from (t for t in targets if isinstance(t, (ast.Attribute, ast.Subscript)) and _root(t) in imported)
        case ast.AugAssign(target=target) if _root(target) in imported:
            yield node
        case ast.FunctionDef(decorator_list=decorators) | ast.ClassDef(decorator_list=decorators):
            for decorator in decorators:
                name = _root(decorator)
                if imported.get(name, "").split(".")[0] == "app" and name not in MARKS:
                    yield decorator
        case ast.If() | ast.For() | ast.With() | ast.Try():
            for below in ast.iter_child_nodes(node):
                if isinstance(below, ast.stmt):
                    yield from _effects(below, imported)
        case _:
            return


def _root(node: ast.AST) -> str:
    """`lanes` of `lanes.senders[Channel.PUSH]`."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_no_module_registers_itself_by_being_imported(path: Path) -> None:
    if relative(path) != "superadmin/runner/__main__.py":  # a program, not a module
        assert self_registrations(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "from app.core import jobs\n@jobs.every(60)\ndef sweep(): ...",
        "from app.core.jobs import every\n@every(60)\ndef sweep(): ...",
        "from app.core import drain\ndrain.senders['push'] = print",
        "from app.core import metrics\nmetrics.collectors.append(print)",
        "def init(): ...\ninit()",
        "from app.core import health\nif True:\n    health.checks['x'] = print",
    ],
)
def test_the_ways_of_registering_oneself_are_seen(line: str) -> None:
    assert self_registrations(line)


@pytest.mark.parametrize("path", JOBS, ids=relative)
def test_every_job_is_wired_or_called(path: Path) -> None:
    jobs = {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}
    used = {
        node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", getattr(node, "name", ""))
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Attribute, ast.Name, ast.alias))
    }
    assert not jobs - used, "nobody calls them, and app/wiring.py does not name them"


def test_the_application_runs_what_the_wiring_says(real_app: Flask) -> None:
    clock: schedule.Schedule = real_app.extensions["schedule"]
    assert (clock.ticks, clock.periodic) == (wiring.TICKS, wiring.PERIODIC)
    assert real_app.extensions["routing"] is wiring.ROUTING
    assert identity.drop_dead_sessions in {periodic.job for periodic in wiring.PERIODIC}


def test_create_app_is_short() -> None:
    assert len((APP / "__init__.py").read_text(encoding="utf-8").splitlines()) <= 60
