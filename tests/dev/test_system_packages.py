"""Before the first test, once: what is missing is installed where that is possible, and told where it is not."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from threading import Thread

import pytest

from config import ROOT
from dev import system_packages
from dev.stack.waiting import wait_until
from dev.system_packages import NO_SERVICE, PACKAGES, Package

#: Writes down how it was called and whether services may start, then does what the test wants.
APT_GET = """\
#!/bin/sh
services=may
[ -e {folder}/policy-rc.d ] && services=cannot
echo "$DEBIAN_FRONTEND, services $services start: $*" >> {folder}/calls
case "$*" in *update*) update=1 ;; *) update= ;; esac
{does}
"""

INSTALLS = "[ $update ] && echo > {folder}/lists/debian_Packages || echo > {folder}/installed/server"


class Debian:
    """A machine with a fake apt-get, on which the package `server` is missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bin", "lists", "installed"):
            (folder / name).mkdir()
        self.policy = folder / "policy-rc.d"
        self.apt_get_does(INSTALLS)
        self.program("systemctl", 'echo "systemctl $*" >> {folder}/calls')
        self.have_lists()

    def program(self, name: str, text: str) -> None:
        file = self.folder / "bin" / name
        file.write_text(f"#!/bin/sh\n{text}\n".format(folder=self.folder))
        file.chmod(0o755)

    def apt_get_does(self, what: str) -> None:
        self.program("apt-get", APT_GET.replace("{does}", what))

    def have_lists(self) -> None:
        (self.folder / "lists" / "debian_Packages").touch()

    @property
    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def words(self) -> list[list[str]]:
        """What apt-get was asked for, without its options."""
        asked = [call.partition("--yes ")[2].split() for call in self.calls if "--yes" in call]
        return [[w for n, w in enumerate(words) if not w.startswith("-") and words[n - 1] != "-o"] for words in asked]


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Debian:
    debian = Debian(tmp_path)
    server = Package((f"{tmp_path}/installed/serve*",), "tests of the server", service="serverd")
    tool = Package((f"{tmp_path}/installed/tool",), "tests of the tool")
    other = Package((f"{tmp_path}/installed/other",), "the benchmarks", ("bench",))
    monkeypatch.setattr(system_packages, "PACKAGES", {"server": server, "tool": tool, "other": other})
    monkeypatch.setattr(system_packages, "PACKAGE_LISTS", tmp_path / "lists")
    monkeypatch.setattr(system_packages, "POLICY", debian.policy)
    monkeypatch.setattr(system_packages.platform, "freedesktop_os_release", lambda: {"ID": "debian"})
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    (tmp_path / "installed" / "tool").touch()
    return debian


def test_what_is_missing_is_installed_in_one_call_and_told_in_a_line(
    debian: Debian, capsys: pytest.CaptureFixture[str]
) -> None:
    (debian.folder / "installed" / "tool").unlink()
    debian.apt_get_does("echo > {folder}/installed/server; echo > {folder}/installed/tool")
    system_packages.main("test")
    assert debian.words() == [["install", "server", "tool"]]
    assert "DPkg::Lock::Timeout=" in debian.calls[0]
    assert "--no-install-recommends" in debian.calls[0]
    assert debian.calls[0].startswith("noninteractive")
    assert capsys.readouterr().out == "Installing packages of Debian: server, tool\n"


def test_the_second_time_does_nothing(debian: Debian, capsys: pytest.CaptureFixture[str]) -> None:
    system_packages.main("test")
    calls = debian.calls
    capsys.readouterr()
    system_packages.main("test")
    assert debian.calls == calls
    assert capsys.readouterr().out == ""


def test_a_target_installs_its_own_packages_alone(debian: Debian) -> None:
    debian.apt_get_does("echo > {folder}/installed/other")
    system_packages.main("bench")
    assert debian.words() == [["install", "other"]]


def test_without_package_lists_they_are_fetched_first(debian: Debian) -> None:
    (debian.folder / "lists" / "debian_Packages").unlink()
    system_packages.main("test")
    assert debian.words() == [["update"], ["install", "server"]]


def test_lists_too_old_to_install_from_are_fetched_anew(debian: Debian) -> None:
    debian.apt_get_does(
        "if [ $update ]; then echo > {folder}/fresh\n"
        "elif [ -e {folder}/fresh ]; then echo > {folder}/installed/server\n"
        "else echo 'E: Failed to fetch server'; exit 100; fi"
    )
    system_packages.main("test")
    assert debian.words() == [["install", "server"], ["update"], ["install", "server"]]


def test_a_failed_installation_says_why_and_what_is_skipped(debian: Debian, capsys: pytest.CaptureFixture[str]) -> None:
    debian.apt_get_does('echo Reading; echo "E: Failed to fetch it: no network"; echo later; exit 100')
    system_packages.main("test")
    assert capsys.readouterr().out.splitlines() == [
        "Installing packages of Debian: server",
        "Missing packages (E: Failed to fetch it: no network), and what is skipped without them:",
        "  server       tests of the server",
    ]


@pytest.mark.parametrize(
    ("elsewhere", "reason"), [("ubuntu", "this is not Debian"), ("debian", "only root can install them")]
)
def test_anywhere_else_nothing_is_installed_and_it_is_told_what_is_skipped(
    debian: Debian, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], elsewhere: str, reason: str
) -> None:
    monkeypatch.setattr(system_packages.platform, "freedesktop_os_release", lambda: {"ID": elsewhere})
    monkeypatch.setattr(system_packages.os, "geteuid", lambda: 1000)
    system_packages.main("test")
    assert debian.calls == []
    assert capsys.readouterr().out.splitlines() == [
        f"Missing packages ({reason}), and what is skipped without them:",
        "  server       tests of the server",
    ]


def test_no_service_starts_neither_now_nor_at_the_next_boot(debian: Debian) -> None:
    system_packages.main("test")
    assert "services cannot start" in debian.calls[0]
    assert debian.calls[1:] == ["systemctl disable --quiet serverd"]
    assert not debian.policy.exists()


def test_the_owners_own_rule_on_services_stays(debian: Debian) -> None:
    debian.policy.write_text("#!/bin/sh\nexit 101\n")
    system_packages.main("test")
    assert debian.policy.read_text() == "#!/bin/sh\nexit 101\n"


def test_the_rule_that_a_killed_run_left_is_taken_away(debian: Debian) -> None:
    debian.policy.write_text(NO_SERVICE)
    system_packages.main("test")
    assert not debian.policy.exists()


def test_a_run_that_waited_for_another_finds_its_work_done(debian: Debian, capsys: pytest.CaptureFixture[str]) -> None:
    run = Thread(target=system_packages.main, args=["test"])
    other = os.open(debian.folder / "lists", os.O_RDONLY)
    try:
        fcntl.flock(other, fcntl.LOCK_EX)
        run.start()
        wait_until(lambda: "Installing" in capsys.readouterr().out)
        (debian.folder / "installed" / "server").touch()
    finally:
        os.close(other)
    run.join()
    assert debian.words() == []


def test_looking_for_what_is_there_starts_no_program(debian: Debian, monkeypatch: pytest.MonkeyPatch) -> None:
    (debian.folder / "installed" / "server").touch()
    monkeypatch.setattr(system_packages.subprocess, "run", None)
    system_packages.main("test")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_what_it_is_for_and_a_target_of_make_installs_it(name: str) -> None:
    package = PACKAGES[name]
    assert package.purpose
    makefile = (ROOT / "Makefile").read_text()
    for target in package.targets:
        assert f"-m dev.system_packages {target}\n" in makefile


def test_a_program_that_is_not_there_is_named_with_its_package(debian: Debian) -> None:
    with pytest.raises(LookupError, match="the package server of Debian"):
        system_packages.require("server")
    assert system_packages.require("tool") == debian.folder / "installed" / "tool"
