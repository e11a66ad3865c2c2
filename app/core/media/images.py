"""Uploaded pictures. They are converted to small WebP files in limited memory. Other files are rejected."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from typing import BinaryIO

from PIL import Image, ImageOps

from app.core.errors import AppError, PayloadTooLarge, UnsupportedMedia
from app.core.slots import Slots

MAX_BYTES = 5 * 1024 * 1024

#: Limits in pixels. The decoder can reduce a JPEG to about the final size, but decodes a WebP or PNG at full size. A
#: WebP of 40 megapixels took 0.5 s of CPU time and 650 MiB, so the limit for WebP and PNG is lower.
MAX_JPEG_PIXELS = 40_000_000
MAX_PIXELS = 24_000_000

#: Formats that Pillow may open. Pillow's default also allows EPS, TIFF, GIF and 40 others.
FORMATS = ("JPEG", "PNG", "WEBP")

JPEG_START = b"\xff\xd8"
PNG_START = b"\x89PNG\r\n\x1a\n"

#: Chunks of a PNG with texts and with the colour profile. Pillow refuses a picture in which they are large.
SKIPPED_CHUNKS = (b"tEXt", b"zTXt", b"iTXt", b"iCCP")

#: Maximum scans of a progressive JPEG. Normal pictures have about ten. The decoder processes the whole picture for each
#: scan.
MAX_JPEG_SCANS = 100

#: Each process decodes one picture at a time, because a WebP of 24 megapixels needs about 400 MiB.
DECODING = Slots(1, wait_s=3, message="Terlalu banyak gambar sedang diproses. Silakan coba lagi.")

TOO_LARGE = "Gambar terlalu besar: maksimal 5 MB, dan 40 megapiksel (JPEG) atau 24 megapiksel (PNG dan WebP)."
NOT_A_PICTURE = "Berkas bukan gambar JPEG, PNG, atau WebP yang utuh."


def normalise(stream: BinaryIO, *, longest_edge: int) -> bytes:
    """Convert the picture to WebP: upright, without metadata, at most `longest_edge` pixels on each side.

    Raise `PayloadTooLarge` or `UnsupportedMedia` for an invalid upload. Raise `Unavailable` if too many uploads are
    waiting.
    """
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise PayloadTooLarge(TOO_LARGE, code="image_too_large")
    with DECODING.slot():
        try:
            return _webp(_decode(data, longest_edge))
        except AppError:
            raise
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise PayloadTooLarge(TOO_LARGE, code="image_too_large") from None
        except Exception:  # noqa: BLE001  # broken pictures raise almost anything, such as struct.error or IndexError
            raise UnsupportedMedia(NOT_A_PICTURE, code="not_an_image") from None


def _without_texts(png: bytes) -> bytes:
    """Return the PNG without the chunks in `SKIPPED_CHUNKS`."""
    kept, at = [PNG_START], len(PNG_START)
    while at < len(png):
        end = at + 12 + int.from_bytes(png[at : at + 4])  # a chunk has its length, its kind, the data and a checksum
        if png[at + 4 : at + 8] not in SKIPPED_CHUNKS:
            kept.append(png[at:end])
        at = end
    return b"".join(kept)


def _decode(data: bytes, longest_edge: int) -> Image.Image:
    is_jpeg = data.startswith(JPEG_START)
    if data.startswith(PNG_START):
        data = _without_texts(data)
    max_pixels = MAX_JPEG_PIXELS if is_jpeg else MAX_PIXELS
    Image.MAX_IMAGE_PIXELS = max_pixels  # Pillow checks a WebP against this limit before it allocates memory
    with Image.open(BytesIO(data), formats=FORMATS) as image:
        if image.width * image.height > max_pixels:
            raise PayloadTooLarge(TOO_LARGE, code="image_too_large")
        if image.format in ("PNG", "WEBP") and getattr(image, "is_animated", False):
            raise UnsupportedMedia("Gambar bergerak tidak didukung.", code="not_an_image")
        if is_jpeg and data.count(b"\xff\xda") > MAX_JPEG_SCANS:
            raise UnsupportedMedia(NOT_A_PICTURE, code="not_an_image")
        image.draft(None, (longest_edge, longest_edge))  # decode a JPEG at about the final size
        image.load()
        small = _plain_mode(image)
    small.thumbnail((longest_edge, longest_edge), reducing_gap=2.0)
    with suppress(Exception):  # invalid EXIF does not affect the picture
        ImageOps.exif_transpose(small, in_place=True)
    return small


def _plain_mode(image: Image.Image) -> Image.Image:
    """Convert the picture to a mode that can be resized smoothly.

    Palette and 1-bit pictures cannot be resized smoothly. Values of 16-bit grey are divided by 256, because Pillow's
    own conversion would turn most of them white.
    """
    if image.mode == "P" or "transparency" in image.info:
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode.startswith("I"):
        return image.point(lambda value: value / 256).convert("L")
    if image.mode == "1":
        return image.convert("L")
    return image


def _webp(image: Image.Image) -> bytes:
    transparent = image.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    plain = image.convert("RGBA" if transparent else "RGB")
    plain.info.clear()  # otherwise the encoder would copy EXIF, XMP and the colour profile
    out = BytesIO()
    plain.save(out, "WEBP", quality=82, method=4)
    return out.getvalue()
