"""All texts for people in the code are plain Indonesian, with at most 20 words in a sentence."""

import ast
import re
from importlib import import_module

import pytest
from marshmallow import ValidationError

from app.core.errors import HTTP_ERRORS, AppError
from tests.architecture.modules import called
from tests.helpers.language import faults
from tests.helpers.offenders import assert_none

#: Modules whose texts are only for operators and programs, or are tables of what people write.
NOT_FOR_PEOPLE = ("cli.py", "core/operations/", "forum/service/crisis_phrases.py")

#: Modules in which every string is a message to people.
MESSAGES = ("accounts/notices.py", "forum/service/notices.py", "pengingat/outgoing/texts.py")

#: Names of functions that send a text argument to people.
SENDERS = frozenset({"announce"})

#: Common Indonesian words. In modules outside `MESSAGES`, only strings with one of these words count as texts for
#: people.
INDONESIAN = re.compile(
    r"\b(anda|atau|baru|bukan|belum|berhasil|boleh|dapat|dihapus|dikenal|dipakai|ditemukan|harus|paling|sedang|silakan|sudah"
    r"|terlalu|tidak|untuk|wajib|yang)\b",
    re.IGNORECASE,
)

#: Message of the test if a text for people contains an English word or a sentence of more than 20 words.
ADVICE = "People read this text: use plain Indonesian, at most 20 words a sentence, and a full stop after an error:"


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def literals(node):
    """Yield the line and the text of each string literal except docstrings. A value in an f-string becomes "7"."""
    if isinstance(node, ast.JoinedStr):
        yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in node.values)
        node = ast.Tuple([part.value for part in node.values if isinstance(part, ast.FormattedValue)], ast.Load())
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value
    for child in ast.iter_child_nodes(node):
        described = isinstance(child, ast.keyword) and child.arg in ("metadata", "description", "example", "comment")
        if not is_docstring(child) and not described:
            yield from literals(child)


def goes_to_people(call, names):
    """Return whether the call sends a message, or raises an error that a person reads."""
    meant = names.get(called(call))
    raises = isinstance(meant, type) and issubclass(meant, (AppError, ValidationError))
    return raises or called(call) in SENDERS


def told(module):
    """Yield the line and the text of every string that a module shows to people."""
    names = vars(import_module(f"app.{module.name.removesuffix('.py').replace('/', '.')}"))
    yield from (each for each in literals(module.tree) if module.name in MESSAGES or INDONESIAN.search(each[1]))
    for call in module.calls:
        sentences = [
            *(call.args if goes_to_people(call, names) else ()),
            # The argument `error` of marshmallow validators is a message to people.
            *(keyword.value for keyword in call.keywords if keyword.arg == "error"),
        ]
        for node in sentences:
            yield from literals(node)
            if isinstance(node, ast.Name) and isinstance(text := names.get(node.id), str):
                yield node.lineno, text


@pytest.fixture(scope="module")
def prose(modules):
    """Place and text of string literals with several words. Paths, dictionary keys and SQL statements are left out."""
    statement = re.compile(r"\b(SELECT|FROM|INSERT|UPDATE|WITH|LOCK|ALTER|GRANT|redis\.call)\b|<.*>")
    speaking = (m for m in modules if not m.name.startswith(NOT_FOR_PEOPLE) and m.path.name != "__init__.py")
    return [
        (module.at(line), text)
        for module in speaking
        for line, text in told(module)
        if " " in text.strip() and not statement.search(text)
    ]


def test_every_text_for_people_is_in_plain_indonesian(prose):
    assert_none((f"{place} {fault}" for place, text in prose for fault in faults(text)), ADVICE)


def test_the_search_finds_known_texts_for_people(prose):
    heard = {text for _, text in prose}
    assert {"Nama pengguna atau kata sandi salah.", "Utas tidak ditemukan.", "Video baru: {title}"} <= heard
    assert len(heard) > 150


def errors(base=AppError):
    yield base
    for each in base.__subclasses__():
        yield from errors(each)


def test_every_default_error_message_is_in_indonesian():
    messages = {
        **{error.__qualname__: error.message for error in errors()},
        **{f"HTTP {status}": message for status, (_, message) in HTTP_ERRORS.items()},
    }
    assert_none(
        (
            f"{name} {fault}"
            for name, message in messages.items()
            for fault in (*faults(message), *(() if message.endswith(".") else (f"no full stop: {message!r}",)))
        ),
        ADVICE,
    )
