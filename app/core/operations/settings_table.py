"""Generators for the documentation of the settings: the table in `docs/settings.md`, and the file `.env.example`."""

from __future__ import annotations

from dataclasses import MISSING, Field
from pathlib import Path

from config import NEEDED_IN_PRODUCTION, ROOT, SETTINGS


def markdown_table() -> str:
    """Return the table in `docs/settings.md`, with one row per setting."""
    head = ["| setting | meaning | default |", "|---|---|---|"]
    rows = [
        f"| `{name}`{' S' if spec.metadata['secret'] else ''} | {spec.metadata['doc']} |"
        f" {_NEEDED if is_needed(spec) else _shown(spec.default)} |"
        for name, spec in SETTINGS.items()
    ]
    return "\n".join(head + rows)


_NEEDED = "**needed in production**"


def is_needed(spec: Field[object]) -> bool:
    """Return whether the setting is required in production."""
    return spec.default is MISSING or spec.name in NEEDED_IN_PRODUCTION


def _shown(value: object) -> str:
    match value:
        case None | ():
            return ""
        case bool():
            return "`on`" if value else "`off`"
        case (int() as low, int() as high):
            return f"`{low}-{high}`"
        case tuple():
            return f"`{','.join(map(str, value))}`"
        case Path():
            return f"`{value.relative_to(ROOT)}`"
        case _:
            return f"`{value}`"


def env_example() -> str:
    """Return the text of `.env.example`. It lists all settings with their meaning, required settings first."""
    blocks = ["# Copy to .env and fill in. `flask keys new` prints the secrets. What is commented out has a default."]
    for spec in sorted(SETTINGS.values(), key=lambda spec: not is_needed(spec)):
        doc = spec.metadata["doc"].replace("`", "")
        line = f"{spec.name.upper()}="
        if not is_needed(spec):
            line = f"#{line}{_shown(spec.default).strip('`')}"
        blocks.append(f"# {doc}\n{line}")
    return "\n\n".join(blocks) + "\n"
