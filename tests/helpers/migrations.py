"""Helpers for tests with a database of their own: run `flask` in its own process, and run one statement."""

import subprocess
import sys
from contextlib import closing

import psycopg2
import pytest

from config import ROOT, environment
from dev.stack.waiting import PATIENCE_S


@pytest.fixture
def database(variables):
    from dev.testing import empty_database

    return empty_database(variables["DATABASE_URL"])


def flask(variables, *arguments):
    env = {**environment(), "ENVIRONMENT": "testing", **variables}
    command = [sys.executable, "-m", "flask", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def output(process):
    text, _ = process.communicate(timeout=PATIENCE_S)
    return process.returncode, text


def scalar(database, statement):
    """Run a statement, commit, and return the first value of its result."""
    with closing(psycopg2.connect(database)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return row and row[0]
