"""Update of the development database: migrations, seed data and demo data.

One process runs all three steps, because separate processes would each import the application.
"""

from __future__ import annotations

import sys

from alembic.migration import MigrationContext
from flask.cli import FlaskGroup

from app.core.database.migrations import too_old
from app.core.database.session import db
from config import Config
from dev.application import create_development_app

COMMANDS = (["db", "upgrade"], ["seed"], ["demo"])


def main() -> None:
    app = create_development_app(Config.from_env())
    with app.app_context():
        revision = MigrationContext.configure(db.session.connection()).get_current_revision()
        if sentence := too_old(revision):
            sys.exit(f"{sentence} Delete instance/, and run `make run` again.")
    flask = FlaskGroup(create_app=lambda: app, load_dotenv=False, set_debug_flag=False)
    for words in COMMANDS:
        flask.main(words, prog_name="flask", standalone_mode=False)


if __name__ == "__main__":
    main()
