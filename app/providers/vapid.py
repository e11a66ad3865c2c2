"""The key pair of web push (RFC 8292), in the form that browsers and settings take: unpadded base64url."""

from __future__ import annotations

import base64

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def new_keys() -> tuple[str, str]:
    """A fresh pair: the public key (65 bytes, uncompressed point) and the private key (32 bytes)."""
    private = ec.generate_private_key(ec.SECP256R1())
    public = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return encode(public), encode(private.private_numbers().private_value.to_bytes(32, "big"))


def encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
