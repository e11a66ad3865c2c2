"""The minimum of settings with which the service starts in production."""

import base64
import secrets

from app.providers import vapid

GOOD = {
    "ENVIRONMENT": "production",
    "DATABASE_URL": "postgres://u:p@db/health",
    "REDIS_URL": "rediss://redis:6379/0",
    "FRONTEND_URL": "https://app.example.org/",
    "SECRET_KEY": secrets.token_urlsafe(48),
    "JWT_SECRET_KEYS": f"{secrets.token_urlsafe(48)}, {secrets.token_urlsafe(48)}",
    "NIK_KEYS": "a:" + base64.b64encode(secrets.token_bytes(32)).decode(),
    "VAPID_PRIVATE_KEY": vapid.new_keys()[1],
    "VAPID_SUBJECT": "mailto:a@example.org",
    "MESSAGING_PROVIDER": "outbox",
}
