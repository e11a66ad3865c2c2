"""Python modules of the project as text and syntax tree, for the architecture tests."""

import ast
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from config import ROOT

APP = ROOT / "app"
TESTS = ROOT / "tests"


@dataclass(frozen=True)
class Module:
    path: Path
    #: Path of the module's file, relative to the folder `app` or `tests`.
    name: str

    @cached_property
    def text(self):
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self):
        return ast.parse(self.text)

    @cached_property
    def nodes(self):
        return list(ast.walk(self.tree))

    @property
    def calls(self):
        return (node for node in self.nodes if isinstance(node, ast.Call))

    def at(self, line):
        """Return the file and the line number as text, for example `app/core/errors.py:12`."""
        return f"{self.path.relative_to(ROOT).as_posix()}:{line}"


@cache
def modules_of(folder):
    """Return the modules of a folder. Each file is read and parsed once for all tests of a process."""
    return [Module(path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*.py"))]


def called(call):
    """Return the last part of the called function's name, for example `commit` for `db.session.commit()`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def imports(module):
    """Yield the line and the full name of each imported module or object."""
    for node in module.nodes:
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, each.name) for each in names)
            case ast.ImportFrom(module=source, names=names):
                yield from ((node.lineno, f"{source}.{each.name}") for each in names)
