"""Key pair for web push (RFC 8292), as unpadded base64url for browsers and settings."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives.asymmetric import ec

from config import vapid_public_key


def new_keys() -> tuple[str, str]:
    """Return a new pair: the public key (65 bytes, uncompressed point) and the private key (32 bytes)."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    private = base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()
    return vapid_public_key(private), private
