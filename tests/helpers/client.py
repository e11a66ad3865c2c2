"""HTTP client for tests. It sends and reads JSON, and can use the session of a person."""

from flask.testing import FlaskClient

from app.core.database.session import db
from app.core.web.request import ApiResponse
from app.identity import sessions
from app.identity.models import RoleName, User
from tests.helpers import document
from tests.helpers.language import assert_readable

#: Path prefixes to which the client does not add `/api`.
AT_THE_ROOT = ("/healthz", "/readyz", "/metrics", "/media", "/api", "/dev", "/console", "/k/")


class Answer(ApiResponse):
    def ok(self, status=200):
        """Return the body. Fail unless the response has this status."""
        assert self.status_code == status, self.get_data(as_text=True)
        return self.json


class Client:
    def __init__(self, app, token=None, user_id=None):
        self.app = app
        self.token = token
        self._user_id = user_id
        self._client = FlaskClient(app, Answer)

    def as_(self, user):
        """Log the person in and return a client with the new session."""
        return Client(self.app, sessions.begin(user).access_token, user.id)

    def as_superadmin(self, user):
        """Log the super-admin in as `/superadmin/login` does, and return a client with the new session."""
        assert RoleName.SUPERADMIN in user.role_names
        return Client(self.app, sessions.begin_superadmin(user), user.id)

    @property
    def id(self):
        assert self._user_id is not None
        return self._user_id

    @property
    def user(self):
        return db.session.get_one(User, self.id)

    def with_token(self, token):
        return Client(self.app, token)

    def open(self, method, path, json=None, **options):
        headers = dict(options.pop("headers", {}))
        if self.token is not None:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if json is not None:
            options["json"] = json
        prefix = "" if path == "/" or path.startswith(AT_THE_ROOT) else "/api"
        # The commit makes the test's rows visible to the request, and ends only a savepoint. The request has its own
        # database session and its own `g`, as on a server. `buffered` reads a streamed file to its end and closes it.
        db.session.commit()
        with self.app.app_context():
            response = self._client.open(prefix + path, method=method, headers=headers, buffered=True, **options)
        db.session.expire_all()
        # Close the temporary file of a large upload. Otherwise the garbage collector closes the file and prints a
        # warning.
        response.request.environ["wsgi.input"].close()
        assert_words(response)
        document.check(self.app, response)
        return response

    def get(self, path, **options):
        return self.open("GET", path, **options)

    def post(self, path, json=None, **options):
        return self.open("POST", path, json, **options)

    def put(self, path, json=None, **options):
        return self.open("PUT", path, json, **options)

    def delete(self, path, json=None, **options):
        return self.open("DELETE", path, json, **options)


def assert_words(response):
    """Assert that all texts for people in the response are plain Indonesian, and that `errors` has the right shape."""
    body = response.json if response.data and response.mimetype == "application/json" else None
    if not isinstance(body, dict) or "sqlstate" in body:  # errors of the SQL console are in English
        return
    if isinstance(message := body.get("message"), str):
        assert_readable(message)
    if response.status_code >= 400:
        for path, sentences in body.get("errors", {}).items():
            assert isinstance(sentences, list), path
            assert sentences, path
            for sentence in sentences:
                assert_readable(sentence)


def assert_error(response, status, code=None, field=None):
    """Assert that the response is an error with this status, and with this code and field if given."""
    assert response.status_code == status, response.get_data(as_text=True)
    assert response.mimetype == "application/json"
    body = response.json
    assert body is not None
    assert set(body) <= {"error", "message", "errors", "sqlstate", "request_id"}
    assert body["message"]
    assert body["request_id"] == response.headers["X-Request-ID"]
    if code is not None:
        assert body["error"] == code, body
    if field is not None:
        assert any(path == field or path.startswith(f"{field}.") for path in body["errors"]), body
