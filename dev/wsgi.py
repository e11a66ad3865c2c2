"""What `make run` serves, and what `flask --app dev.wsgi` finds."""

from app.core.operations.startup import loading
from config import Config
from dev.application import create_development_app

with loading():
    app = create_development_app(Config.from_env())
