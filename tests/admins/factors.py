"""Helper that sets up a second factor."""

from urllib.parse import parse_qs, urlsplit

import pyotp

from tests.helpers.factories import PASSWORD


def set_up(admin):
    """Set up an active second factor. Return its recovery codes."""
    setup = admin.post("/profile/otp", {"password": PASSWORD}).json
    (secret,) = parse_qs(urlsplit(setup["uri"]).query)["secret"]
    assert admin.put("/profile/otp", {"otp": pyotp.TOTP(secret).now()}).status_code == 200
    return list(setup["recovery_codes"])
