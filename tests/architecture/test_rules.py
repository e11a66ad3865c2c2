"""The rules of the house that a linter does not know."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask

from app.core.database.migrations import is_declared
from app.core.database.session import db
from config import ROOT

APP = ROOT / "app"
SOURCES = sorted(APP.rglob("*.py"))

#: The edges of the service, which alone may commit: requests, jobs, commands, and the unit of work itself.
EDGES = (
    "core/database/session.py",
    "core/web/edge.py",
    "cli.py",
    # A delivery is claimed in one transaction, sent in none and marked in the next: the drain's own edge.
    "notifications/delivery/claims.py",
    "notifications/delivery/messaging.py",
    "push/transport.py",
    "pengingat/sending.py",
    "notifications/broadcasts/sending.py",
    # Worked off in pages, each a transaction, so that a worker may die between any two.
    "notifications/broadcasts/fan_out.py",
)


#: Packages whose `__init__.py` is empty; a module that outgrew its file keeps its face there (`service/`).
INITS = [
    path for path in SOURCES if path.name == "__init__.py" and path.parent != APP and path.parent.name != "service"
]


def relative(path: Path) -> str:
    return path.relative_to(APP).as_posix()


def calls(path: Path) -> set[str]:
    """The last names of everything that a file calls: `db.session.commit()` gives `commit`."""
    return {
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    }


def is_edge(path: Path) -> bool:
    return relative(path) in EDGES or path.name == "jobs.py" or "jobs" in path.parts or "cli" in path.parts


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_nobody_commits_but_the_edge(path: Path) -> None:
    made = calls(path)
    if relative(path) != "core/database/session.py":
        assert "commit" not in made, "only unit_of_work and own_transaction commit"
        assert "orm.Session(" not in path.read_text(encoding="utf-8"), "its transactions are committed too"
    if not is_edge(path):
        assert "unit_of_work" not in made, "units of work open at the edge: requests, jobs, commands"


def test_little_is_of_any_type() -> None:
    """Mostly of what libraries give us without types of their own."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES)
    named = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "Any"]
    assert len(named) <= 150, "say what it is, or `object`"


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_the_configuration_reads_the_environment(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "os.environ" not in text
    assert "getenv" not in text


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_providers_reach_the_outside_world(path: Path) -> None:
    cuts_connections = relative(path) == "core/database/watchdog.py"
    if cuts_connections or relative(path).startswith("providers/"):
        return
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert not imported & {"requests", "pywebpush", "httpx", "aiohttp", "socket"}


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_the_tokens_module_knows_the_token_library(path: Path) -> None:
    if relative(path) != "identity/tokens.py":
        assert "flask_jwt_extended" not in path.read_text(encoding="utf-8"), "its decorators let wrong tokens in"


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_the_guarded_transport_uses_private_names_of_a_library(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    private = {name for name in used - own if name.startswith("_") and not name.startswith("__")}
    private -= {"_asdict", "_exit"}  # of a named tuple and of `os`: public, whatever they look like
    assert not private or relative(path) == "providers/sockets.py"


@pytest.mark.parametrize("path", INITS, ids=relative)
def test_a_package_has_an_empty_init(path: Path) -> None:
    assert path.read_text(encoding="utf-8").strip() == ""


def test_migrations_are_numbered_with_one_head(real_app: Flask) -> None:
    scripts = ScriptDirectory(str(ROOT / "migrations"))
    assert len(scripts.get_heads()) == 1
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert revisions == [f"{number:04d}" for number in range(len(revisions), 0, -1)]
    names = {path.name.split("_")[0] for path in (ROOT / "migrations/versions").glob("*.py")}
    assert names == set(revisions)


def test_the_models_are_what_the_migrations_make(real_app: Flask) -> None:
    with real_app.app_context(), db.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_name": is_declared})
        assert compare_metadata(context, db.metadata) == []


def test_importing_the_application_connects_to_nothing() -> None:
    import subprocess
    import sys

    program = (
        "import socket\n"
        "def refuse(*_): raise SystemExit('connected')\n"
        "socket.socket.connect = refuse\n"
        "from app import create_app; from config import Config\n"
        "create_app(Config.from_env({'ENVIRONMENT': 'testing'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
