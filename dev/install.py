"""Makes `.venv` and installs requirements into it, showing how far it is: install.py STAMP REQUIREMENTS...

Runs on the system's Python, so it uses the standard library alone. The stamp is written last: whatever
breaks off an installation, the next one goes on with it. Where packages come from is the business of the
user's own pip settings.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from collections import deque
from pathlib import Path

VENV = Path(".venv")
VENV_PYTHON = VENV / "bin" / "python"
TAIL_LINES = 30
BAR = 30

#: How pip begins the line of each package that it looks at.
SEEN = ("Collecting ", "Processing ", "Requirement already satisfied: ", "Ignoring ")

NO_PIP = """\
{python} can make no virtual environment with pip: its `ensurepip` is missing.
Debian, Ubuntu: apt install python3-venv. Or name another Python: make run PYTHON=/path/to/python3"""


def main(stamp: Path, requirements: list[Path]) -> int:
    pip = pip_command()
    if pip is None:
        print(NO_PIP.format(python=sys.executable), file=sys.stderr)
        return 1
    names = {name for file in requirements for name in pinned(file)}
    files = [word for file in requirements for word in ("-r", str(file))]
    # pip compiles on one processor; `compile_all` does it on all of them.
    options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-compile"]
    command = [*pip, "install", *options, *files]
    with (
        Progress(len(names)) as progress,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process,
    ):
        for line in process.stdout or ():
            progress.see(line.rstrip())
        code = process.wait()
        if code == 0:
            progress.show("compiling")
            compile_all()
    if code != 0:
        print("\n".join(["pip failed:", *progress.tail]), file=sys.stderr)
        return 1
    stamp.touch()
    return 0


def pip_command() -> list[str] | None:
    """How to install into `.venv`, which is made when it is missing or broken."""
    own = [str(VENV_PYTHON), "-m", "pip"]
    # Debian ships Python without ensurepip; its pip, if there, can install into a bare environment.
    outer = [sys.executable, "-m", "pip", "--python", str(VENV_PYTHON)]
    make = [sys.executable, "-m", "venv", "--clear"]
    if not works([str(VENV_PYTHON), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]):
        print(f"Making {VENV} with {sys.executable}", flush=True)
        if not works([*make, str(VENV)]) and not works([*make, "--without-pip", str(VENV)]):
            return None
    return next((pip for pip in (own, outer) if works([*pip, "--version"])), None)


def compile_all() -> None:
    """Compile what was installed. Whatever cannot be compiled is a matter for whoever imports it."""
    works([str(VENV_PYTHON), "-m", "compileall", "-q", "-j", "0", str(VENV / "lib")])


def works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def pinned(file: Path) -> list[str]:
    """Names in a requirements file and the files that it includes."""
    names: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-r "):
            names += pinned(file.parent / line[3:].strip())
        elif line.strip() and not line.startswith("#"):
            names.append(line.partition("==")[0])
    return names


def package_in(line: str) -> str:
    """The package that a line of pip is about, as in `Collecting Flask==3.1.3 (from ...)`."""
    package = next((line.removeprefix(begin) for begin in SEEN if line.startswith(begin)), line).split(" ")[0]
    return re.split(r"==|-\d|:", package.rpartition("/")[2])[0]


class Progress:
    """A bar that grows with the packages that pip looks at; on anything but a terminal, a line now and
    then."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.seen = 0
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.live = sys.stdout.isatty()

    def __enter__(self) -> Progress:
        print(f"Installing {self.total} packages into {VENV}", flush=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self.live:
            print("\r\033[K", end="", flush=True)

    def see(self, line: str) -> None:
        self.tail.append(line)
        if line.startswith(SEEN):
            self.seen = min(self.seen + 1, self.total)
            self.show(package_in(line))
        elif line.startswith("Installing collected packages"):
            self.show("unpacking")

    def show(self, what: str) -> None:
        if self.live:
            filled = BAR * self.seen // self.total
            bar = "#" * filled + "." * (BAR - filled)
            print(f"\r\033[K  [{bar}] {self.seen}/{self.total}  {what[:40]}", end="", flush=True)
        elif self.seen % 20 == 0 or what in ("unpacking", "compiling"):
            print(f"  {self.seen}/{self.total}  {what}", flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]))
    print("\nBroken off; the next `make` goes on with it.", file=sys.stderr)
    sys.exit(130)
