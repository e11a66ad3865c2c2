"""`app/wiring.py` lists all scheduled jobs and all hooks. No module registers itself when it is imported."""

import ast

from app import wiring
from app.identity import jobs as identity
from tests.architecture.modules import APP
from tests.helpers.offenders import assert_none

#: Decorators of this project that mark or wrap a function but do not add the function to a list.
MARKS = {
    "public",
    "optional",
    "cached",
    "authenticated",
    "requires",
    "limit",
    "in_a_unit",
    "in_steps",
    "limit_own_password",
    "limit_uploads",
    "limit_admin_uploads",
    "limit_answers",
    "secret_answer",
    "command",
}


def self_registrations(tree):
    """Return the line and text of each statement that changes another module or calls a function during an import.

    A module may use its own names, blueprint, command group and enumerations.
    """
    imported = {
        (alias.asname or alias.name).split(".")[0]: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    effects = (effect for node in tree.body for effect in _effects(node, imported))
    return [(effect.lineno, ast.unparse(effect).splitlines()[0]) for effect in effects]


def _effects(node, imported):
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


def _root(node):
    """Return the first name of an expression, for example `lanes` for `lanes.senders[Channel.PUSH]`."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return ""
    return node.id


def test_no_module_registers_itself_on_import(modules):
    assert_none(
        (f"{module.at(line)} {effect}" for module in modules for line, effect in self_registrations(module.tree)),
        "An import must change nothing in other modules. Add the job or hook to app/wiring.py:",
    )


SELF_REGISTRATIONS = (
    "from app.core.jobs import every\n@every(60)\ndef sweep(): ...",
    "from app.core import drain\ndrain.senders['push'] = print",
    "def init(): ...\ninit()",
    "from app.core import health\nif True:\n    health.checks['x'] = print",
)


def test_the_check_finds_each_kind_of_self_registration():
    assert [line for line in SELF_REGISTRATIONS if not self_registrations(ast.parse(line))] == []


def test_every_job_is_listed_in_the_wiring_or_called(modules):
    used = {
        node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", getattr(node, "name", ""))
        for module in modules
        for node in module.nodes
        if isinstance(node, (ast.Attribute, ast.Name, ast.alias))
    }
    assert_none(
        (
            f"{module.at(node.lineno)} {node.name}"
            for module in modules
            if module.path.name == "jobs.py"
            for node in module.tree.body
            if isinstance(node, ast.FunctionDef) and node.name not in used
        ),
        "No code calls the job, and app/wiring.py does not list it:",
    )


def test_the_application_has_the_jobs_and_routing_of_the_wiring(real_app):
    clock = real_app.extensions["schedule"]
    assert (clock.ticks, clock.periodic) == (wiring.TICKS, wiring.PERIODIC)
    assert real_app.extensions["routing"] is wiring.ROUTING
    assert identity.delete_expired_sessions in {periodic.job for periodic in wiring.PERIODIC}


def test_the_module_of_create_app_has_at_most_60_lines():
    assert len((APP / "__init__.py").read_text(encoding="utf-8").splitlines()) <= 60
