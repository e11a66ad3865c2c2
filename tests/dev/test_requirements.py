"""`make lint` refuses requirements that could install something else tomorrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from config import ROOT
from dev.check_requirements import problems


def found(folder: Path, text: str) -> list[str]:
    (folder / "requirements.txt").write_text(text)
    return list(problems(folder, ("requirements.txt",)))


def test_ours_are_pinned_and_complete() -> None:
    assert list(problems(ROOT)) == []


@pytest.mark.parametrize("line", ["six", "six>=1.17", "six==1.*", "six~=1.17", "six @ https://example.org/six.whl"])
def test_a_line_without_an_exact_version_is_named(tmp_path: Path, line: str) -> None:
    assert found(tmp_path, f"# comment\n\n{line}\n") == [f"requirements.txt:3: `{line}` is not pinned as name==version"]


def test_a_package_named_twice_is_told_however_it_is_written(tmp_path: Path) -> None:
    (problem,) = found(tmp_path, "typing_extensions==4.16.0\nTyping-Extensions==4.15.0\n")
    assert problem == "requirements.txt:2: typing-extensions stands in requirements.txt:1 already"


def test_a_package_that_comes_along_unpinned_is_told(tmp_path: Path) -> None:
    assert "requirements.txt:1: jinja2 brings markupsafe along, which is not pinned" in found(
        tmp_path, "Jinja2==3.1.6\n"
    )
