"""README, `docs/` and `.env.example` agree with the code."""

import re

import orjson

from app.core.operations.settings_table import env_example, is_needed, markdown_table
from config import ROOT, SETTINGS


def test_the_settings_page_has_the_current_settings_table():
    text = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- settings -->\n(.*?)\n<!-- /settings -->", text, re.DOTALL)
    assert found
    assert found[1] == markdown_table(), "run `flask settings` and paste"


def test_the_readme_lists_the_settings_that_production_needs():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Settings\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    named = {name for line in rows for name in re.findall(r"`([A-Z_]+)`", line.split("|")[1])}
    assert len(rows) == 10
    assert {name for name, spec in SETTINGS.items() if is_needed(spec)} <= named <= set(SETTINGS)


def test_the_example_environment_file_matches_the_settings():
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example(), "run `flask settings --env`"


def test_the_committed_openapi_document_is_that_of_the_application(client):
    committed = orjson.loads((ROOT / "docs/openapi.json").read_bytes())
    assert committed == client.get("/api/openapi.json").json, "run `make openapi`"


def test_the_make_commands_in_the_readme_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name in re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert name == "alone" or re.search(rf"^{name}:", makefile, re.MULTILINE), name


def test_the_folders_in_the_readme_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in re.findall(r"^(?:app|dev|deploy|bench|tests)[\w/.]*", text, re.MULTILINE):
        assert (ROOT / path).exists(), path
