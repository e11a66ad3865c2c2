"""The `flask` commands."""

from __future__ import annotations

import base64
import json
import secrets
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import click
from flask import Flask, current_app
from redis.exceptions import RedisError
from sqlalchemy.exc import DBAPIError

from app import create_app
from app.check import findings as findings_of
from app.core.database.session import unit_of_work
from app.core.operations.commands import PROBLEM, CommandGroup, FreeCommand, command
from app.core.operations.restore import restore as restore_backup
from app.core.operations.settings_table import env_example, markdown_table
from app.emergency import service as emergency
from app.forum import seed as forum_seed
from app.identity import credentials, second_factor
from app.identity import jobs as identity_jobs
from app.identity import users as people
from app.identity.models import RoleName, User
from app.identity.roles import set_only_role
from app.identity.schemas import UserCreate
from app.logs import jobs as log_jobs
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.delivery import trial
from app.notifications.senders import report as sender_report
from app.personal_data import jobs as personal_data_jobs
from app.providers import vapid
from app.roles import service as roles
from config import Config, environment


def init_app(app: Flask) -> None:
    setup = (seed, users, keys, settings_table, check)
    for each in (*setup, worker_health, messaging, nik, restore, logs):
        app.cli.add_command(each)


def seed_all() -> None:
    """Create all records that the service needs. Running this a second time changes nothing."""
    with unit_of_work():
        roles.seed()
        forum_seed.seed()
        emergency.seed()


# --- users ----------------------------------------------------------------------------------------------------------

users = CommandGroup("users", help="Users: create, set a role, remove a second factor.")


@users.command("create")
@click.option("--username", required=True)
@click.option("--role", required=True, type=click.Choice([role.value for role in RoleName]))
@click.option("--password", required=True, help="6 to 128 characters.")
@click.option("--phone", "nomor_hp", help="Phone number in any usual format.")
@click.option("--email")
@click.option("--name", "nama_ktp", help="Full name; the username by default.")
def create_user(role: str, **options: str | None) -> None:
    """Create a user, for example the first super-admin."""
    sent = {name: value for name, value in options.items() if value is not None}
    sent.setdefault("nama_ktp", sent["username"])
    with unit_of_work():
        user = people.create(UserCreate().load(sent), [role])
        click.echo(f"{user.username} was created as {user.role}, with the id {user.id}.")


@users.command("set-role")
@click.argument("username")
@click.argument("role", type=click.Choice([role.value for role in RoleName]))
def set_role(username: str, role: str) -> None:
    """Make ROLE the only role of USERNAME (or e-mail, or phone number).

    All open sessions of the user get this role at once.
    """
    with unit_of_work():
        user = _named(username)
        set_only_role(user, RoleName(role))
        click.echo(f"{user.username} is now {role}.")


@users.command("remove-otp")
@click.argument("username")
def remove_otp(username: str) -> None:
    """Remove the second factor of USERNAME, for a user who has lost the phone and the recovery codes."""
    with unit_of_work():
        user = _named(username)
        if not second_factor.remove(user.id):
            raise click.ClickException(f"{user.username} has no second factor")
        click.echo(f"{user.username} logs in by password alone.")


def _named(username: str) -> User:
    user = credentials.by_login(username)
    if user is None:
        raise click.ClickException(f"nobody is called {username}")
    return user


# --- secrets --------------------------------------------------------------------------------------------------------

nik = CommandGroup("nik", help="Encryption of NIK and second factors: rotate the key, verify decryption.")


@nik.command("rotate")
def rotate_nik() -> None:
    """Use the first key of NIK_KEYS to encrypt all NIK and second factors again.

    If the command is killed, run it again. It resumes where it stopped. If any cannot be decrypted, do all others,
    print the user ids and exit with code 1.
    """
    done, broken = identity_jobs.rotate_nik()
    click.echo(f"{done} NIK encrypted anew.")
    _fail_if_unreadable(broken)


@nik.command("verify")
def verify_nik() -> None:
    """Decrypt every NIK and every second factor.

    If any cannot be decrypted, print the user ids and exit with code 1.
    """
    fine, broken = identity_jobs.verify_nik()
    click.echo(f"{fine} NIK can be read.")
    _fail_if_unreadable(broken)


def _fail_if_unreadable(niks: list[int]) -> None:
    """Exit with code 1 if a NIK of these users or any second factor cannot be decrypted. Print the user ids."""
    unreadable = {"NIK": niks, "second factors": second_factor.unreadable()}
    problems = [
        f"{what} that cannot be read: {len(ids)}, of the users {', '.join(map(str, ids))}"
        for what, ids in unreadable.items()
        if ids
    ]
    if problems:
        raise click.ClickException("; ".join(problems))


keys = CommandGroup("keys", help="Secrets for the settings.")


@keys.command("new", cls=FreeCommand)
def new_keys() -> None:
    """Print new values for all secrets that an installation needs, in the format of an environment file."""
    _, private = vapid.new_keys()
    key_id = secrets.token_hex(2)
    click.echo(f"SECRET_KEY={secrets.token_urlsafe(48)}")
    click.echo(f"JWT_SECRET_KEYS={secrets.token_urlsafe(48)}")
    click.echo(f"NIK_KEYS={key_id}:{base64.b64encode(secrets.token_bytes(32)).decode()}")
    click.echo(f"VAPID_PRIVATE_KEY={private}")


# --- data -----------------------------------------------------------------------------------------------------------


@command("seed")
def seed() -> None:
    """Create the records that the service needs: roles, categories, national emergency numbers.

    Repeating this is safe.
    """
    seed_all()
    click.echo("Seeded.")


@command("restore")
@click.argument("folder", type=click.Path(path_type=Path))
def restore(folder: Path) -> None:
    """Restore the backup in FOLDER into an empty database and the picture store.

    People whose data was erased after the backup are erased again. Their tombstones (records of an erasure) come from
    the store and from the other backups in the same directory.
    """
    click.echo(restore_backup(folder))
    click.echo(f"{personal_data_jobs.erase_again()} people who had been erased meanwhile are erased again.")


@command("settings", cls=FreeCommand)
@click.option("--env", is_flag=True, help="Print .env.example instead.")
def settings_table(env: bool) -> None:
    """Print the table of settings in docs/settings.md."""
    click.echo(env_example() if env else markdown_table(), nl=not env)


# --- checks ----------------------------------------------------------------------------------------------------------


@command("check", cls=FreeCommand)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of {item, ready, todo}.")
def check(*, as_json: bool) -> None:
    """Check everything that an installation needs, without changing or sending anything.

    Each item is either ready or has a task for you. The exit code is 1 if an item is not ready. Optional parts that are
    turned off are listed and count as ready.
    """
    config, problems = Config.read(environment())
    is_usable = PROBLEM not in current_app.extensions
    with nullcontext() if is_usable else create_app(config).app_context():
        findings = []
        for found in findings_of([] if is_usable else problems, environment()):
            findings.append(found)
            if not as_json:
                click.echo(f"{'ready' if found.ready else 'TO DO'}  {found.item:<10}  {found.todo}".rstrip())
    if as_json:
        click.echo(json.dumps([asdict(found) for found in findings], indent=2))
    if not all(found.ready for found in findings):
        raise SystemExit(1)


# --- the worker -----------------------------------------------------------------------------------------------------


@command("worker-health")
def worker_health() -> None:
    """Check that messages are delivered: workers, scheduler, backlog. If not, print the reason and exit with code 1."""
    try:
        problems = delivery_metrics.worker_problems()
    except (RedisError, DBAPIError) as error:
        problems = [f"out of reach: {type(error).__name__}"]
    if problems:
        raise click.ClickException("; ".join(problems))
    click.echo(" ".join(filter(None, ["Workers and clock are going, nothing is late.", sender_report.notice()])))


messaging = CommandGroup("messaging", help="Messages to phone numbers: test.")


@messaging.command("test")
@click.argument("number")
def test_messaging(number: str) -> None:
    """Send one message to NUMBER at once. Print the provider's response."""
    click.echo(trial.send(number))


logs = CommandGroup("logs", help="Activity logs.")


@logs.command("prune")
@click.option("--days", required=True, type=click.IntRange(1, 36_500), help="Delete older rows; keep daily sums.")
def prune_logs(days: int) -> None:
    """Delete old activity logs."""
    click.echo(f"{log_jobs.prune(days)} rows deleted.")
