"""Tests that `make lint` refuses requirements files that differ from the output of `make lock`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from config import ROOT
from dev import lock


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("pyproject.toml", *lock.FILES):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setattr(lock, "ROOT", tmp_path)
    return tmp_path


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_the_requirements_files_are_up_to_date() -> None:
    assert list(lock.faults()) == []


def test_a_changed_direct_requirement_makes_the_files_outdated(folder: Path) -> None:
    change(folder / "pyproject.toml", '"Flask==', '"Flask>=')
    assert list(lock.faults()) == [
        f"{name} is not up to date with pyproject.toml. Run: make lock" for name in lock.FILES
    ]


@pytest.mark.parametrize("line", ["six", "six>=1.17", "six==1.17.0", "six @ https://example.org/six.whl"])
def test_a_requirement_without_a_version_or_a_hash_is_reported(folder: Path, line: str) -> None:
    with (folder / "requirements-s3.txt").open("a") as file:
        file.write(f"{line}\n")
    assert list(lock.faults()) == [f"requirements-s3.txt: no version or hash: {line}"]


def test_no_requirements_file_contains_a_registry_url() -> None:
    assert [name for name in lock.FILES if "://" in (ROOT / name).read_text()] == []


def test_an_extra_that_a_package_needs_is_locked_with_it() -> None:
    """With hashes, pip does not accept `coverage==7.17.3` for `coverage[toml]`, and looks for the newest version."""
    locked = {entry.partition("==")[0].lower() for name in lock.FILES for entry in lock.entries(name)}
    needed = {
        f"{canonicalize_name(need.name)}[{extra}]"
        for requirement in locked
        for need in _needs(Requirement(requirement))
        for extra in need.extras
    }
    assert needed
    assert needed <= locked


def _needs(requirement: Requirement) -> Iterator[Requirement]:
    with suppress(PackageNotFoundError):  # the package is only for another platform
        for text in requires(requirement.name) or ():
            need = Requirement(text)
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in (*requirement.extras, "")):
                yield need
