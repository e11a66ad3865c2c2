"""What gunicorn serves and the `flask` command finds."""

from app import create_app
from app.core.operations.startup import loading
from config import Config

with loading():
    app = create_app(Config.from_env())
