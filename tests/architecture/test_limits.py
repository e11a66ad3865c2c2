"""The table of limits matches the code. Each limit has a row and a test, and each row has a limit."""

import ast
import re

import pytest
from limits import parse_many

from app.core.errors import TooManyRequests
from app.core.web.rate_limits import RateLimits
from tests.architecture.limits import GENERIC, LIMITS
from tests.architecture.modules import APP, TESTS, modules_of
from tests.architecture.table import ACCESS
from tests.helpers.client import assert_error
from tests.helpers.offenders import assert_none

#: Pattern for names of constants that are limits: per period, per person, or per code.
NAME = re.compile(r"MAX_(\w+_)?PER_(DAY|HOUR|MINUTE|USER)|MAX_TRIES")
#: Limits whose names do not match the pattern `NAME`.
OTHERS = {"pengingat/timetable/limits.py MAX_REMINDERS"}
#: Constants without their own row. The table has rows for the `rate_limits.count` calls that use these constants.
COUNTED = {"logs/stream.py MAX_PER_MINUTE", "logs/stream.py MAX_PER_DAY"}
SETTING = re.compile(r"    (\w+_per_\w+): ", re.MULTILINE)


def _within(node, where):
    """Yield each call in a syntax tree, with the name of the function or constant that contains the call."""
    for child in ast.iter_child_nodes(node):
        name = where
        if isinstance(child, ast.FunctionDef):
            name = child.name
        elif isinstance(child, ast.Assign) and isinstance(child.targets[0], ast.Name) and not where:
            name = child.targets[0].id
        if isinstance(child, ast.Call):
            yield name, child
        yield from _within(child, name)


def _is_limit(call):
    function = call.func
    if isinstance(function, ast.Attribute):
        return ast.unparse(function) in ("rate_limits.count", "rate_limits.limit")
    return isinstance(function, ast.Name) and function.id == "limit"


def _constants(tree):
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def limits_in_code():
    found = {f"config.py {name}" for name in SETTING.findall((APP.parent / "config.py").read_text("utf-8"))}
    for module in modules_of(APP):
        if module.name != "core/web/rate_limits.py":
            calls = ((where, call) for where, call in _within(module.tree, "") if _is_limit(call))
            found |= {f"{module.name} {where} {ast.unparse(call.args[0])}" for where, call in calls}
        constants = {f"{module.name} {name}" for name in _constants(module.tree) if NAME.fullmatch(name)}
        found |= (constants - COUNTED) | {each for each in OTHERS if each.startswith(f"{module.name} ")}
    return found


def test_the_limit_table_has_exactly_the_limits_in_the_code():
    in_code = limits_in_code()
    assert_none(sorted(in_code - set(LIMITS)), "Add a row to tests/architecture/limits.py for:")
    assert_none(
        sorted(set(LIMITS) - in_code),
        "Delete these rows of tests/architecture/limits.py, because no code has the limit:",
    )


def test_every_row_of_the_limit_table_names_an_existing_test():
    there = {
        f"{module.name}::{node.name}"
        for module in modules_of(TESTS)
        for node in module.nodes
        if isinstance(node, ast.FunctionDef)
    }
    assert_none((row.test for row in LIMITS.values() if row.test not in there), "No such test:")


@pytest.mark.parametrize("limit", [limit for limit, row in LIMITS.items() if row.test == GENERIC])
def test_a_route_whose_rate_limit_is_exceeded_returns_429(limit, app, client, siti, budi, monkeypatch, limited):
    module, _, text = limit.split(" ", 2)
    rate = ast.literal_eval(text)
    callers = {"public": client, "optional": client, "pendamping": budi}

    def fill(name):
        check = getattr(RateLimits, name)

        def is_full(self, item, *key):
            if item in parse_many(rate):
                raise TooManyRequests(retry_after=1)
            check(self, item, *key)

        monkeypatch.setattr(RateLimits, name, is_full)

    fill("hit")
    fill("test")
    name = f"app.{module.removesuffix('.py').replace('/', '.')}"
    views = {
        endpoint
        for endpoint, view in app.view_functions.items()
        if view.__module__ == name and any(rate == each for each, _ in getattr(view, "limits", ()))
    }
    routes = [
        f"{method} {rule.rule.removeprefix('/api')}"
        for rule in app.url_map.iter_rules()
        if rule.endpoint in views
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    ]
    assert routes
    for route in routes:
        method, path = route.split(" ")
        path = re.sub(r"<int:\w+>", "999999999", re.sub(r"<(?!int:)[^>]*>", "tidak-ada", path))
        caller = callers.get(ACCESS[route], siti)
        assert_error(caller.open(method, path, None if method == "GET" else {}), 429, "too_many_requests")
