"""Base class for tests of routes that only administrators may call."""

from tests.helpers.routes import assert_refused


class ForAdmins:
    """Base class for tests of a route that only administrators may call."""

    def test_is_for_admins(self, client, siti, budi):
        assert_refused(self, client, siti, budi)
