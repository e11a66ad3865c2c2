"""What the code says to people, literal by literal: plain Indonesian, in sentences of at most 20 words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from marshmallow import ValidationError

from app.core.errors import HTTP_ERRORS, AppError
from app.superadmin.runner.__main__ import Refused
from config import ROOT
from tests.language import assert_readable

APP = ROOT / "app"

#: What only operators and programs read.
FOR_OPERATORS = ("cli.py", "core/operations/")

#: Modules that write nothing but messages to people.
MESSAGES = ("accounts/notices.py", "forum/service/notices.py", "pengingat/texts.py")

#: Calls whose texts go to people.
SENDERS = frozenset({"message_user", "send_message", "announce"})

#: Words of sentences for people, by which others than the above are found.
INDONESIAN = re.compile(
    r"\b(anda|atau|baru|bukan|belum|berhasil|boleh|dapat|dihapus|dikenal|dipakai|ditemukan|harus|paling|sedang|silakan|sudah"
    r"|terlalu|tidak|untuk|wajib|yang)\b",
    re.IGNORECASE,
)

SOURCES = [
    path
    for path in sorted(APP.rglob("*.py"))
    if not path.relative_to(APP).as_posix().startswith(FOR_OPERATORS) and path.name != "__init__.py"
]


def relative(path: Path) -> str:
    return path.relative_to(APP).as_posix()


def is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def literals(node: ast.AST) -> Iterator[str]:
    """Every text below a node, of an f-string with a number for what is not known yet; no documentation."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        node = ast.Tuple([part.value for part in node.values if isinstance(part, ast.FormattedValue)], ast.Load())
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    for child in ast.iter_child_nodes(node):
        described = isinstance(child, ast.keyword) and child.arg in ("metadata", "description", "example", "comment")
        if not is_docstring(child) and not described:
            yield from literals(child)


def goes_to_people(call: ast.Call, names: dict[str, object]) -> bool:
    """Whether what is called raises something that is told, or sends a message."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    called = names.get(name)
    raises = isinstance(called, type) and issubclass(called, (AppError, ValidationError, Refused))
    return raises or name in SENDERS


def told(path: Path) -> Iterator[str]:
    """The texts of a module that people read."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = vars(import_module(".".join(path.relative_to(ROOT).with_suffix("").parts)))
    yield from (text for text in literals(tree) if relative(path) in MESSAGES or INDONESIAN.search(text))
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        sentences = [
            *(call.args if goes_to_people(call, names) else ()),
            *(keyword.value for keyword in call.keywords if keyword.arg == "error"),  # of marshmallow's validators
        ]
        for node in sentences:
            yield from literals(node)
            if isinstance(node, ast.Name) and isinstance(text := names.get(node.id), str):
                yield text


def prose(texts: Iterator[str]) -> list[str]:
    """What has words: no key of a dictionary, no path, no statement for the database."""
    statement = re.compile(r"\b(SELECT|FROM|INSERT|UPDATE|WITH|LOCK|ALTER|GRANT|redis\.call)\b|<.*>")
    return [text for text in texts if " " in text.strip() and not statement.search(text)]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_a_module_speaks_plain_indonesian_to_people(path: Path) -> None:
    for text in prose(told(path)):
        assert_readable(text)


def test_the_walk_hears_what_the_modules_say() -> None:
    heard = {text for path in SOURCES for text in prose(told(path))}
    assert "Nama pengguna atau kata sandi salah." in heard
    assert "Utas tidak ditemukan." in heard
    assert "Video baru: {title}" in heard
    assert len(heard) > 150


def errors(base: type[AppError] = AppError) -> Iterator[type[AppError]]:
    yield base
    for each in base.__subclasses__():
        yield from errors(each)


@pytest.mark.parametrize("error", sorted(set(errors()), key=lambda each: each.__name__), ids=lambda each: each.__name__)
def test_an_error_says_of_itself_what_it_is_in_indonesian(error: type[AppError]) -> None:
    assert_readable(error.message)
    assert error.message.endswith(".")


@pytest.mark.parametrize("status", sorted(HTTP_ERRORS))
def test_what_the_framework_raises_is_told_in_indonesian(status: int) -> None:
    _, message = HTTP_ERRORS[status]
    assert_readable(message)
    assert message.endswith(".")
