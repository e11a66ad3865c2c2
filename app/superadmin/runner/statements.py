"""Splits SQL text into statements exactly as PostgreSQL's scanner does (`src/backend/parser/scan.l`).

Any difference from PostgreSQL's scanner is a risk. A text could then hide a statement inside another statement, and
PostgreSQL would run the hidden statement. For example, the hidden statement could end the read-only transaction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: For PostgreSQL, every character outside ASCII is a letter.
_LETTERS = r"A-Za-z_\u0080-\U0010ffff"

#: Text between two quoted parts that makes them one string: spaces and comments with at least one line break.
_GAP = r"(?:[ \t\f\v]|--[^\n\r]*+)*+[\n\r](?:[ \t\n\r\f\v]|--[^\n\r]*+[\n\r])*+"

TOKEN = re.compile(
    rf"""
    (?P<comment>   --[^\n\r]* )
  | (?P<block>     /\* )
  | (?P<quoted>    [eE]'(?:[^'\\]|\\.|'(?:{_GAP})?+')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" )
  | (?P<dollar>    \$(?:[{_LETTERS}][{_LETTERS}0-9]*)?\$ )
  | (?P<word>      [{_LETTERS}][{_LETTERS}0-9$]* )
  | (?P<number>    [0-9][A-Za-z0-9_.]* )
  | (?P<mark>      [;()] )
    """,
    re.VERBOSE | re.DOTALL,
)

#: First words of statements that begin or end a transaction. They are refused, because a request is one transaction.
TRANSACTION_CONTROL = frozenset({"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"})

#: First words of statements that the runner tries to read through a cursor.
READS = frozenset({"SELECT", "VALUES", "TABLE", "WITH"})


@dataclass
class Statement:
    """One statement. `words` contains only the words that are outside quotes and comments."""

    text: str = ""
    words: list[str] = field(default_factory=list)

    @property
    def begins_with(self) -> str:
        return self.words[0] if self.words else ""

    @property
    def controls_transaction(self) -> bool:
        return self.begins_with in TRANSACTION_CONTROL or self.words[:2] == ["PREPARE", "TRANSACTION"]

    @property
    def is_copy(self) -> bool:
        return self.begins_with == "COPY"

    @property
    def reads(self) -> bool:
        return self.begins_with in READS


def split(sql: str) -> list[Statement]:
    """Return the statements of a text.

    An unfinished statement extends to the end of the text, so that PostgreSQL reports the error.
    """
    statements: list[Statement] = []
    words: list[str] = []
    begin = position = parentheses = body = 0
    while match := TOKEN.search(sql, position):
        position = match.end()
        match match.lastgroup:
            case "block":
                position = _end_of_comment(sql, position)
            case "dollar":
                closing = sql.find(match[0], position)
                position = len(sql) if closing < 0 else closing + len(match[0])
            case "word":
                words.append(match[0].upper())
                body = _depth_of_body(words, body)
            case "mark" if match[0] != ";":
                parentheses += 1 if match[0] == "(" else -1
            case "mark" if parentheses <= 0 and not body:
                statements.append(Statement(sql[begin : match.start()].strip(), words))
                words, begin, parentheses = [], position, 0
    statements.append(Statement(sql[begin:].strip(), words))
    # Statements without a word or parenthesis are blank or only a comment.
    return [statement for statement in statements if statement.words or statement.text.startswith("(")]


def _depth_of_body(words: list[str], depth: int) -> int:
    """Return the nesting depth after the last word, within a function body that starts with `BEGIN ATOMIC`.

    Such a body contains semicolons that do not end the statement.
    """
    if words[0] == "CREATE" and words[-2:] == ["BEGIN", "ATOMIC"]:
        return depth + 1
    if depth and words[-1] == "CASE":
        return depth + 1
    return depth - 1 if depth and words[-1] == "END" else depth


def _end_of_comment(sql: str, position: int) -> int:
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(sql, position):
        depth += 1 if match[0] == "/*" else -1
        if not depth:
            return match.end()
    return len(sql)
