"""A text of SQL split into its statements, the way PostgreSQL's own scanner reads it.

Exactly that way: PostgreSQL would run a statement that stayed hidden in another one, and the end of a transaction that
can only read must not hide. The scanner of PostgreSQL is `src/backend/parser/scan.l`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: To PostgreSQL every character outside ASCII is a letter.
_LETTERS = r"A-Za-z_\u0080-\U0010ffff"

#: Between two quotes it lets a string go on: blanks and comments, with a line break among them.
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

#: First words of the statements that would begin or end a transaction: a request is exactly one.
TRANSACTION_CONTROL = frozenset({"BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE"})

#: First words of the statements that a cursor can be opened for.
READS = frozenset({"SELECT", "VALUES", "TABLE", "WITH"})


@dataclass
class Statement:
    """One statement: its text, and its words outside of quotes and comments."""

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
    """The statements of a text; what is unfinished runs to its end, for PostgreSQL to complain about."""
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
    # Without a word or a parenthesis it is blank, or nothing but a comment.
    return [statement for statement in statements if statement.words or statement.text.startswith("(")]


def _depth_of_body(words: list[str], depth: int) -> int:
    """How deep in the body of a function in SQL's own form (`BEGIN ATOMIC ... END`), whose semicolons are its own."""
    if words[0] == "CREATE" and words[-2:] == ["BEGIN", "ATOMIC"]:
        return depth + 1
    if depth and words[-1] == "CASE":
        return depth + 1
    return depth - 1 if depth and words[-1] == "END" else depth


def _end_of_comment(sql: str, position: int) -> int:
    """The position behind a block comment, which may hold others."""
    depth = 1
    for match in re.compile(r"/\*|\*/").finditer(sql, position):
        depth += 1 if match[0] == "/*" else -1
        if not depth:
            return match.end()
    return len(sql)
