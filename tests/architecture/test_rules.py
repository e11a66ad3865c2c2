"""Rules of this project that ruff, mypy and import-linter cannot check."""

import ast
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from app.core.database.session import db
from app.core.error_codes import ERROR_CODES
from app.core.errors import HTTP_ERRORS
from config import ROOT
from tests.architecture.modules import called
from tests.helpers.offenders import assert_none

#: Modules that may commit. `is_edge` adds the modules of jobs and commands.
EDGES = (
    "core/database/session.py",
    "core/web/dispatch.py",
    "cli.py",
    # Services of views that are marked `in_steps`, and of GETs that write after the call of a provider.
    "accounts/service.py",
    "accounts/verification.py",
    "faskes/service/nearby.py",
    "superadmin/service/console.py",
    # These modules call a provider between two transactions: the first claims a delivery, and the second stores the
    # outcome. No transaction may be open during the call.
    "notifications/delivery/claims.py",
    "notifications/delivery/messaging.py",
    "push/transport.py",
    "notifications/broadcasts/presend_checks.py",
    # Each page of recipients is one transaction, so that a worker can stop between two pages.
    "notifications/broadcasts/fan_out.py",
)


#: Names that begin with an underscore but are documented as public. They belong to named tuples, `os`, marshmallow
#: fields and type stubs.
PUBLIC = {"_asdict", "_fields", "_replace", "_exit", "_serialize", "_deserialize", "_typeshed"}

#: Functions that take the name of an attribute as a string.
BY_NAME = {"getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller"}


def is_edge(module):
    return module.name in EDGES or not {"jobs.py", "jobs", "cli"}.isdisjoint(module.name.split("/"))


def commits(module, call):
    """Return whether a call commits, or opens a transaction that commits.

    Such calls are allowed only in some modules.
    """
    if called(call) == "unit_of_work":
        return not is_edge(module)
    is_session = ast.unparse(call.func) == "orm.Session"
    return (is_session or called(call) == "commit") and module.name not in (
        "core/database/session.py",
        "core/web/dispatch.py",
    )


def test_only_the_allowed_modules_commit_transactions(modules):
    assert_none(
        (
            f"{module.at(call.lineno)} {ast.unparse(call.func)}()"
            for module in modules
            for call in module.calls
            if commits(module, call)
        ),
        "A service flushes. Requests, jobs and commands open the `unit_of_work`, and it alone commits:",
    )


def private_names(module):
    """Yield line and name of private attributes that ruff's rule SLF001 does not find.

    The attributes are inherited, imported, or named in a string.
    """
    own = {node.name for node in module.nodes if isinstance(node, ast.FunctionDef)}
    own |= {node.id for node in module.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.attr for node in module.nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    for node in module.nodes:
        match node:
            case ast.Attribute(value=ast.Call(func=ast.Name("super")), attr=name):
                yield node.lineno, name
            case ast.Attribute(attr=name) if name not in own:
                yield node.lineno, name
            case ast.ImportFrom(module=source, names=names) if source and not source.startswith("app."):
                yield from ((node.lineno, name) for name in (*source.split("."), *(each.name for each in names)))
            case ast.Call(args=args) if called(node) in BY_NAME:
                yield from ((node.lineno, str(arg.value)) for arg in args if isinstance(arg, ast.Constant))


def test_no_private_names_of_libraries_are_used(modules):
    assert_none(
        (
            f"{module.at(line)} {name}"
            for module in modules
            for line, name in private_names(module)
            if name.startswith("_") and not name.startswith("__") and name not in PUBLIC
        ),
        "Any release of a library may change its private names. Use what it documents:",
    )


def test_a_package_has_an_empty_init(modules):
    """Packages named `service` are excluded, because their `__init__.py` exports names of their modules."""
    assert_none(
        (
            module.at(1)
            for module in modules
            if module.path.name == "__init__.py"
            and module.path.parent.name not in ("app", "service")
            and module.text.strip()
        ),
        "An import of a module runs the `__init__.py` of each package above it. Move this into a module:",
    )


def error_codes(module):
    """Yield the error codes in calls (`code="..."`) and in classes (`code = "..."`)."""
    for node in module.nodes:
        match node:
            case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                yield code
            case ast.ClassDef(body=body):
                for each in body:
                    match each:
                        case ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code))):
                            yield code


def test_the_error_code_list_has_exactly_the_codes_in_the_source_sorted(modules):
    """Clients generate types from the list."""
    raised = {code for module in modules for code in error_codes(module)}
    assert list(ERROR_CODES) == sorted(raised | {code for code, _ in HTTP_ERRORS.values()})


def test_migrations_are_numbered_with_one_head(real_app):
    scripts = ScriptDirectory(str(ROOT / "migrations"))
    assert len(scripts.get_heads()) == 1
    revisions = [script.revision for script in scripts.walk_revisions()]
    first = int(revisions[-1])
    assert revisions == [f"{number:04d}" for number in range(first + len(revisions) - 1, first - 1, -1)]
    names = {path.name.split("_")[0] for path in (ROOT / "migrations/versions").glob("*.py")}
    assert names == set(revisions)


def test_the_models_match_the_migrations(real_app):
    with real_app.app_context(), db.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, db.metadata) == []


@pytest.mark.slow
def test_creating_the_application_opens_no_connection():
    program = (
        "import socket\n"
        "def refuse(*_): raise SystemExit('connected')\n"
        "socket.socket.connect = refuse\n"
        "from app import create_app; from config import Config\n"
        "create_app(Config.from_env({'ENVIRONMENT': 'testing'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
