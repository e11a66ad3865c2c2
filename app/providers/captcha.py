"""Human verification (captcha) by the `siteverify` call, which reCAPTCHA, hCaptcha and Turnstile all offer."""

from __future__ import annotations

import logging
from functools import cache

from app.core.errors import BadRequest, Unavailable
from app.core.settings import settings
from app.providers.http import Http
from app.providers.responses import ProviderError

logger = logging.getLogger(__name__)


def verify(token: str | None, remote_ip: str | None) -> None:
    """Raise `captcha_failed` unless `token` shows that the user is human.

    If the setting `captcha_secret` is not set, accept everyone. A token is valid only once, so the call is never
    retried.
    """
    if settings.captcha_secret is None:
        return
    failed = BadRequest("Verifikasi bahwa Anda manusia gagal. Silakan coba lagi.", code="captcha_failed")
    if not token:
        raise failed
    form = {"secret": settings.captcha_secret, "response": token}
    if remote_ip:
        form["remoteip"] = remote_ip
    try:
        answer = _client().fetch("POST", settings.captcha_url, data=form).json()
    except ProviderError as error:
        raise Unavailable(
            "Verifikasi manusia sedang tidak tersedia. Silakan coba lagi.", code="captcha_unavailable"
        ) from error
    if answer.get("success") is True:
        return
    codes = answer.get("error-codes")
    if isinstance(codes, list) and any("secret" in str(code) for code in codes):
        logger.error("the captcha provider refuses our secret")
        raise Unavailable("Verifikasi manusia sedang tidak tersedia. Silakan coba lagi.", code="captcha_unavailable")
    raise failed


@cache
def _client() -> Http:
    return Http("captcha", parallel=16)
