"""WSGI entry point of `make run` and of `flask --app dev.wsgi`."""

from app.core.operations.startup import loading
from config import Config
from dev.application import create_development_app

with loading():
    app = create_development_app(Config.from_env())
