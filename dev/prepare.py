"""Update of the development database: migrations, seed data and demo data.

One process runs all three steps, because separate processes would each import the application.
"""

from __future__ import annotations

from flask.cli import FlaskGroup

from config import Config
from dev.application import create_development_app

COMMANDS = (["db", "upgrade"], ["seed"], ["demo"])


def main() -> None:
    app = create_development_app(Config.from_env())
    flask = FlaskGroup(create_app=lambda: app, load_dotenv=False, set_debug_flag=False)
    for words in COMMANDS:
        flask.main(words, prog_name="flask", standalone_mode=False)


if __name__ == "__main__":
    main()
