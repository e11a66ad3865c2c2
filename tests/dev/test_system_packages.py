"""If system packages are missing, a `make` target prints their names and the command that installs them."""

import subprocess
import sys

import pytest

from config import ROOT
from dev import system_packages
from dev.system_packages import PACKAGES, Package


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return the folder of a machine's programs. It contains `tool`, and the package `server` is missing."""
    packages = {
        "server": Package((f"{tmp_path}/serve*",), "tests of the server"),
        "tool": Package(("tool",), "tests of the tool"),
        "other": Package(("other",), "the benchmarks", ("bench",)),
    }
    monkeypatch.setattr(system_packages, "PACKAGES", packages)
    monkeypatch.setenv("PATH", str(tmp_path))
    add(tmp_path, "tool")
    return tmp_path


def add(programs, name):
    (programs / name).touch(0o755)


@pytest.mark.parametrize(("user", "sudo"), [(0, ""), (1000, "sudo ")])
def test_a_missing_package_is_reported_with_its_install_command(programs, monkeypatch, user, sudo):
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: user)
    assert system_packages.report("test-all") == (
        "`make test-all` needs these packages:\n"
        "  server       tests of the server\n"
        "On Debian and Ubuntu:\n"
        f"  {sudo}apt-get update && {sudo}apt-get install --no-install-recommends server"
    )


def test_nothing_is_reported_if_no_package_is_missing(programs):
    add(programs, "server")
    assert system_packages.report("test-all") is None


def test_missing_packages_of_several_targets_are_combined(programs):
    assert system_packages.missing(["test-all", "bench"]) == ["server", "other"]


def test_the_error_for_a_missing_program_names_its_package(programs):
    with pytest.raises(LookupError, match="apt-get install --no-install-recommends server"):
        system_packages.require("server")
    assert system_packages.require("tool") == programs / "tool"


def test_each_make_target_with_packages_checks_for_them():
    makefile = (ROOT / "Makefile").read_text()
    for target in {target for package in PACKAGES.values() for target in package.targets}:
        assert f"{target}: needs-{target}" in makefile


def test_the_command_fails_where_a_program_is_missing(tmp_path):
    command = [sys.executable, "-m", "dev.system_packages", "client"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith("npm\n")
