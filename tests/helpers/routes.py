"""Checks of a route. The docstring of the test class contains the route's method and path."""

import re

from tests.helpers.client import assert_error


def assert_refused(test, client, *others):
    """Assert that the route answers 401 without a token, and 403 to each client in `others`."""
    method, path = str(test.__doc__).split()
    path = re.sub(r"<\w+>", "1", path)
    assert_error(client.open(method, path), 401)
    for other in others:
        assert_error(other.open(method, path), 403, "forbidden")


class TokenNeeded:
    """Base class for tests of a route that anyone with a token may call."""

    def test_needs_a_token(self, client):
        assert_refused(self, client)
