"""A backup stops immediately at an unreadable picture, and the error contains the picture's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from app.core.media.storage import FolderStore
from app.core.operations import backup
from app.core.operations.failures import OperatorError

NAME = f"{'ab' * 16}.webp"


@pytest.fixture
def shard(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a subfolder with pictures of the application."""
    monkeypatch.setitem(app.extensions, "media", FolderStore(tmp_path / "media"))
    folder = tmp_path / "media" / "ab"
    folder.mkdir(parents=True)
    return folder


def make_folder(path: Path) -> None:
    path.mkdir()


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_folder, make_loop])
def test_a_backup_error_names_the_unreadable_entry(
    app: Flask, shard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("PATH", "")  # pg_dump is not found, so the error must come earlier
    make(shard / NAME)
    result = app.test_cli_runner().invoke(args=["backup", str(tmp_path / "backup")])
    assert result.exit_code == 1
    assert f"{shard / NAME} cannot be read" in result.output
    assert list(tmp_path.glob("backup*")) == []


def test_a_backup_error_names_a_media_root_that_is_no_folder(app: Flask, shard: Path, tmp_path: Path) -> None:
    shard.rmdir()
    shard.parent.rmdir()
    shard.parent.write_text("")
    with pytest.raises(OperatorError, match="media cannot be read: Not a directory"):
        backup.backup(tmp_path / "backup")


def test_a_picture_that_becomes_unreadable_is_named_in_the_backup_error(
    app: Flask, shard: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "_run", lambda *_, **__: make_folder(shard / NAME))
    with pytest.raises(OperatorError, match=f"{NAME} cannot be read: .*Is a directory"):
        backup.backup(tmp_path / "backup")
