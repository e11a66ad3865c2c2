"""Client for Fonnte, a service that sends WhatsApp messages through a connected phone: https://docs.fonnte.com"""

from __future__ import annotations

from app.providers.http import Http, ProviderError
from app.providers.messenger import Health, InvalidNumberError, SenderError, is_silent

URL = "https://api.fonnte.com"

#: Invisible character that is inserted after each `{`. Fonnte would replace `{name}` and `{var1}` in a text by its own
#: values. The character prevents the replacement.
_ZERO_WIDTH_JOINER = "\u200d"

DISCONNECTED = "request invalid on disconnected device"
#: Status that Fonnte reports for a message to an invalid phone number.
INVALID = "invalid"
NO_QUOTA = "insufficient quota"
#: Reasons with which Fonnte refuses a message because of our account or phone, not because of the message.
_OF_THE_SENDER = ("token invalid", "unknown user", NO_QUOTA, DISCONNECTED)


class Fonnte:
    """Client for Fonnte.

    Fonnte also answers with HTTP status 200 when it refuses a message. The field `status` of the body is then false,
    and the field `reason` has the reason.
    """

    def __init__(self, http: Http, url: str, token: str) -> None:
        self._http, self._url, self._token = http, url, token

    def send(self, phone: str, text: str, **_: object) -> str | None:
        message = text.replace("{", "{" + _ZERO_WIDTH_JOINER)
        try:
            body = self._request("send", {"target": phone.removeprefix("+"), "message": message, "countryCode": "62"})
        except ProviderError as error:
            error.permanent = error.permanent and not is_silent(error)
            raise
        return _first(body.get("id"))

    def health(self) -> Health:
        try:
            body = self._request("device", {})
        except SenderError as error:
            return Health(error.reason)
        quota = _whole_number(body.get("quota"))
        # A quota of 0 is not a problem here: the documentation does not say what a plan without a quota returns.
        return Health(DISCONNECTED if body.get("device_status") == "disconnect" else None, quota=quota)

    def cancel(self, ref: str) -> bool:
        try:
            self._request("delete-message", {"id": ref})
        except SenderError:
            raise
        except ProviderError as error:
            if error.response is not None or error.outcome_unknown or error.is_down or error.kind == "busy":
                raise
            return False  # the message was already sent or does not exist
        return True

    def _request(self, path: str, form: dict[str, str]) -> dict[str, object]:
        """Return the body of a successful call. If Fonnte refused the call, raise the error for its reason."""
        headers = {"Authorization": self._token}
        response = self._http.fetch("POST", f"{self._url}/{path}", data=form, headers=headers)
        body = response.json()
        match body.get("status"):
            case True:
                return body
            case False:
                raise _refusal(str(body.get("reason", "")))
            case _:
                raise response.garbage()


def _refusal(reason: str) -> ProviderError:
    words = reason.strip().lower()
    if words in _OF_THE_SENDER:
        return SenderError("messaging", words)
    if "target" in words and "invalid" in words:
        return InvalidNumberError("messaging", reason)
    # Only a message that is itself invalid is a permanent error. The operator can fix all other causes.
    permanent = "cannot be empty" in words or words == "input invalid"
    return ProviderError("messaging", "status", permanent=permanent, reason=reason or "refused")


def _whole_number(value: object) -> int | None:
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _first(value: object) -> str | None:
    return str(value[0]) if isinstance(value, list) and value else None
