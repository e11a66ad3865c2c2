"""README and `.env.example` tell the truth about the settings."""

from __future__ import annotations

import re

from app.core.operations.settings_table import env_example, markdown_table
from config import ROOT


def test_the_readme_has_the_table_of_settings() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- settings -->\n(.*?)\n<!-- /settings -->", text, re.DOTALL)
    assert found
    assert found[1] == markdown_table(), "run `flask settings` and paste"


def test_the_example_environment_names_every_setting() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example(), "run `flask settings --env`"


def test_the_commands_of_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert name == "alone" or re.search(rf"^{name}:", makefile, re.MULTILINE), name


def test_the_folders_of_the_map_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"^(?:app|dev|deploy|bench|tests)[\w/.]*", text, re.MULTILINE):
        assert (ROOT / path).exists(), path
