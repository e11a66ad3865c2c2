"""`make lint` refuses requirements that could install something else tomorrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from config import ROOT
from dev import check_requirements
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


def test_a_package_that_only_another_python_brings_along_is_told_with_that_python(tmp_path: Path) -> None:
    assert found(tmp_path, "redis==8.1.0\n") == [
        "requirements.txt:1: redis brings async-timeout along, which is not pinned for Python 3.11.0, 3.11.2"
    ]
    marker = 'python_full_version < "3.11.2"'
    assert found(tmp_path, f"redis==8.1.0\nasync-timeout==5.0.1; {marker}\n") == [
        "requirements.txt:1: redis brings async-timeout along, which is not pinned for Python 3.11.2"
    ]
    assert found(tmp_path, f"redis==8.1.0\nasync-timeout==5.0.1; {marker.replace('.2', '.3')}\n") == []


def test_a_package_that_another_python_alone_installs_brings_nothing_along_elsewhere(tmp_path: Path) -> None:
    assert found(tmp_path, 'redis==8.1.0; python_version >= "3.12"\n') == []


def test_each_file_is_complete_by_itself(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "requirements.txt").write_text("python-dateutil==2.9.0.post0\n")
    (tmp_path / "dev" / "requirements.txt").write_text("-r ../requirements.txt\nsix==1.17.0\n")
    missing = "requirements.txt:1: python-dateutil brings six along, which is not pinned"
    assert list(problems(tmp_path, ("dev/requirements.txt",))) == []
    assert list(problems(tmp_path, ("dev/requirements.txt", "requirements.txt"))) == [missing]


def test_a_version_that_another_package_refuses_is_told(tmp_path: Path) -> None:
    assert found(tmp_path, "python-dateutil==2.9.0.post0\nsix==1.4\n") == [
        "requirements.txt:2: six is 1.4, but python-dateutil needs >=1.5"
    ]


def test_a_package_that_stays_behind_when_its_user_goes_is_told(tmp_path: Path) -> None:
    lines = "six==1.17.0\n# what those bring along\nidna==3.20\n"
    assert found(tmp_path, lines) == ["requirements.txt:3: nothing brings idna along"]


def test_a_package_that_does_not_run_on_a_python_of_ours_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_requirements, "PYTHONS", ("3.2.0", "3.11.0"))
    assert found(tmp_path, "six==1.17.0\n") == ["requirements.txt:1: six does not run on Python 3.2.0"]
