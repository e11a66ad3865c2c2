"""Launcher that runs `make run` in a copy of the checkout."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import psutil

from config import ROOT, Config
from dev.servers import free_port
from dev.stack.waiting import PATIENCE_S, wait_until

#: Files and folders that are not copied. Compiled Python files are copied, because `make run` then starts faster.
LEFT_OUT = (".git", ".venv", ".env", "instance", ".*_cache", ".hypothesis", "node_modules")

READY = "Ctrl-C ends everything."


def copy_checkout(folder):
    return Path(shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT)))


class Launcher:
    """A running `make run`: `with Launcher(checkout) as launcher:` starts and ends it."""

    def __init__(self, checkout, *, port=None, **settings):
        self.checkout = checkout
        self.port = port or free_port()
        ours = {spec.name.upper() for spec in fields(Config)} | {"SIMULATE", "BIND"}
        inherited = {name: value for name, value in os.environ.items() if name not in ours}
        # Use one gunicorn process, because each process imports the whole application.
        self.env = {**inherited, "PORT": str(self.port), "WEB_CONCURRENCY": "1", **settings}
        self.screen = checkout.with_name(f"{checkout.name}.screen")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self):
        """Return the terminal output since the last start."""
        return self.screen.read_text()

    def __enter__(self):
        self.start()
        wait_until(lambda: READY in self.output or self.process.poll() is not None)
        assert READY in self.output, self.output
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE_S)

    def start(self):
        with self.screen.open("w") as screen:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "dev.run"],
                cwd=self.checkout,
                env=self.env,
                stdout=screen,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a signal to the new process group then acts like Ctrl-C
            )

    def flask(self, *words):
        """Run a `flask` command in the checkout without settings, and return its output."""
        return self._run("flask", *words)

    def beside(self, *words):
        """Run a command as `make migration` does, and return its output. PostgreSQL and Redis start if necessary."""
        return self._run("dev.command", *words)

    def _run(self, *words):
        env = {name: value for name, value in self.env.items() if name != "PORT"}
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=self.checkout, env=env, check=True, capture_output=True, text=True)
        return done.stdout

    def child(self, words):
        """Wait for a process whose command line contains these words, and return the oldest one."""
        found = []

        def is_there():
            found[:] = [one for one in self.processes() if words in " ".join(one.cmdline())]
            return bool(found)

        wait_until(is_there)
        return min(found, key=lambda one: one.create_time())

    def processes(self):
        """Return every process whose working directory is in this checkout."""
        found = []
        for process in psutil.process_iter():
            try:
                if Path(process.cwd()).is_relative_to(self.checkout):
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def is_gone(self):
        return not self.processes()
