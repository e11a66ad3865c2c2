"""The diagrams in `docs/architecture.md` match the code: packages, their order, delivery states and paths."""

import re
import tomllib

from app.notifications.models import DeliveryState
from config import ROOT

TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def drawing(kind):
    found = re.search(rf"```mermaid\n{kind}\b(.*?)```", TEXT, re.DOTALL)
    assert found, kind
    return found[1]


def import_rules():
    """Return the layers of the first import-linter contract, highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = settings["contracts"][0]["layers"]
    return [set(re.split(r"\s*[:|]\s*", layer)) for layer in layers]


def test_the_package_diagram_matches_the_order_of_the_import_rules():
    rooms = dict(re.findall(r'^\s*(\w+)\["(.+?)"\]', drawing("flowchart TB"), re.MULTILINE))
    arrows = re.search(r"^\s*(\w+(?: --> \w+)+)$", drawing("flowchart TB"), re.MULTILINE)
    assert arrows
    assert [set(rooms[name].split(" · ")) for name in arrows[1].split(" --> ")] == import_rules()


def test_every_package_of_core_is_described():
    rooms = {path.parent.name for path in (ROOT / "app/core").glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `app/core/(\w+)` \|", TEXT, re.MULTILINE))


def test_every_package_is_described():
    packages = {path.parent.name for path in (ROOT / "app").glob("*/__init__.py")}
    firsts = re.findall(r"^\| (`app/[^|]*) \|", TEXT, re.MULTILINE)
    described = {room for cell in firsts for room in re.findall(r"`app/(\w+)[/`]", cell)}
    assert described == packages, "a row of `The rooms` says what is in it"


def test_the_state_diagram_has_the_delivery_states_of_the_model():
    arrows = re.findall(r"^ *(\S+) --> (\w+):", drawing("stateDiagram-v2"), re.MULTILINE)
    assert {name for arrow in arrows for name in arrow} - {"[*]"} == set(DeliveryState)


def test_every_file_and_name_in_the_architecture_page_exists():
    for line in TEXT.splitlines():
        paths = re.findall(r"`((?:app|tests|dev|deploy)/[\w/.]+|config\.py)`", line)
        assert all((ROOT / path).exists() for path in paths), line
        # If the page says "`claim` in `app/.../claims.py`", the file `claims.py` must define `claim`.
        for name, path in re.findall(r"`(\w+)` in `([\w/.]+)`", line):
            assert re.search(rf"^\s*(def|class) {name}\b", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), (
                name
            )
