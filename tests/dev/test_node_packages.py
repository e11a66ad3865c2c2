"""What lints the OpenAPI document is installed before the first test, where npm is; elsewhere it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from dev import node_packages


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages on a machine without npm."""
    client = tmp_path / "dev" / "client"
    client.mkdir(parents=True)
    (client / "package-lock.json").write_text("{}")
    monkeypatch.setenv("PATH", str(tmp_path))
    return client


def npm_does(client: Path, what: str) -> None:
    npm = client.parents[1] / "npm"
    npm.write_text(f'#!/bin/sh\necho "$*" >> calls\n{what}\n')
    npm.chmod(0o755)


def test_packages_are_installed_once_for_each_lock_file(client: Path) -> None:
    npm_does(client, "/bin/mkdir -p node_modules")
    assert not node_packages.are_installed(client)
    assert node_packages.install(client) is None
    assert node_packages.are_installed(client)
    assert "--ignore-scripts" in (client / "calls").read_text()

    (client / "package-lock.json").write_text('{"lockfileVersion": 3}')
    assert not node_packages.are_installed(client)


def test_without_npm_it_says_what_is_skipped(client: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reason = node_packages.install(client)
    assert reason == "npm is not here"
    assert "redocly" in node_packages.SKIPPED.format(reason=reason)


def test_an_npm_that_fails_is_quoted_and_tried_again(client: Path) -> None:
    npm_does(client, "/bin/mkdir -p node_modules; echo 'npm error code ENOTFOUND' >&2; exit 1")
    assert node_packages.install(client) == "npm failed (npm error code ENOTFOUND)"
    assert not node_packages.are_installed(client)
