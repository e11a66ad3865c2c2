"""The settings as documentation: the README's table and `.env.example`, made from the declarations of `config.py`."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from config import ROOT, Config


def markdown_table() -> str:
    """The README's table of settings, one row a setting."""
    head = ["| setting | meaning | default |", "|---|---|---|"]
    rows = [
        f"| `{spec.name.upper()}` | {spec.metadata['doc']} | {_shown_default(spec.default)} |"
        for spec in fields(Config)
    ]
    return "\n".join(head + rows)


def _shown_default(value: Any) -> str:
    match value:
        case _ if value is MISSING:
            return "**needed in production**"
        case None | ():
            return ""
        case bool():
            return "`on`" if value else "`off`"
        case (int() as low, int() as high):
            return f"`{low}-{high}`"
        case tuple():
            return f"`{','.join(value)}`"
        case Path():
            return f"`{value.relative_to(ROOT)}`"
        case _:
            return f"`{value}`"


def env_example() -> str:
    """The text of `.env.example`: every setting with its meaning, those that production needs first."""
    blocks = ["# Copy to .env and fill in. `flask keys new` prints the secrets. What is commented out has a default."]
    for spec in sorted(fields(Config), key=lambda spec: spec.default is not MISSING):
        doc = spec.metadata["doc"].replace("`", "")
        line = f"{spec.name.upper()}="
        if spec.default is not MISSING:
            line = f"#{line}{_shown_default(spec.default).strip('`')}"
        blocks.append(f"# {doc}\n{line}")
    return "\n\n".join(blocks) + "\n"
