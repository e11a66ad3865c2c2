"""The tables of limits match the code. Each limit has a row, and each row has a limit."""

import ast
import re

from tests.architecture.modules import APP, TESTS, modules_of
from tests.helpers.offenders import assert_none
from tests.routes.limits import ROUTE_LIMITS, SERVICE_LIMITS
from tests.routes.registry import ROUTES

#: Pattern for names of constants that are limits: per period, per person, or per code.
NAME = re.compile(r"MAX_(\w+_)?PER_(DAY|HOUR|MINUTE|USER)|MAX_TRIES")
#: Limits whose names do not match the pattern `NAME`.
OTHERS = {"pengingat/timetable/limits.py MAX_REMINDERS"}
#: Constants without their own row. The table has rows for the `rate_limits.count` calls that use these constants.
COUNTED = {"logs/stream.py MAX_PER_MINUTE", "logs/stream.py MAX_PER_DAY"}
#: Counters of pictures. A good request has none. `tests/identity/test_uploads.py` tests these limits.
UPLOADS = ("uploads", "admin_uploads")
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


def _constants(tree):
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else ()
        yield from (name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def limits_in_code():
    found = {f"config.py {name}" for name in SETTING.findall((APP.parent / "config.py").read_text("utf-8"))}
    for module in modules_of(APP):
        if module.name != "core/web/rate_limits.py":
            calls = ((w, call) for w, call in _within(module.tree, "") if ast.unparse(call.func) == "rate_limits.count")
            found |= {f"{module.name} {where} {ast.unparse(call.args[0])}" for where, call in calls}
        constants = {f"{module.name} {name}" for name in _constants(module.tree) if NAME.fullmatch(name)}
        found |= (constants - COUNTED) | {each for each in OTHERS if each.startswith(f"{module.name} ")}
    return found


def test_the_table_of_service_limits_has_exactly_the_limits_in_the_code():
    assert set(SERVICE_LIMITS) == limits_in_code(), "Correct tests/routes/limits.py"
    there = {
        name for module in modules_of(TESTS) for name in re.findall(r"^ *def (test_\w+)", module.text, re.MULTILINE)
    }
    assert_none((test for test in SERVICE_LIMITS.values() if test not in there), "No such test:")


def test_the_table_of_route_limits_has_exactly_the_limits_of_the_views(real_app):
    views = {
        f"{method} {rule.rule.removeprefix('/api')}": real_app.view_functions[rule.endpoint]
        for rule in real_app.url_map.iter_rules()
        for method in rule.methods or ()
    }
    limits = {
        route: [rate for rate, counter in getattr(views[route], "limits", ()) if counter not in UPLOADS]
        for route in ROUTES
    }
    assert {route: ", ".join(reversed(rates)) for route, rates in limits.items() if rates} == ROUTE_LIMITS
