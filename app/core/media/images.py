"""What a person uploads as a picture becomes a plain, small WebP; everything else is refused, in bounded memory."""

from __future__ import annotations

from io import BytesIO
from typing import BinaryIO

from PIL import Image, ImageCms

from app.core.bulkhead import Bulkhead
from app.core.errors import AppError, PayloadTooLarge, Unavailable, UnsupportedMedia

MAX_BYTES = 5 * 1024 * 1024

#: A JPEG is decoded near the wanted size, a WebP or PNG always whole: one of 40 megapixels took half a second of a core
#: and 650 MiB.
MAX_JPEG_PIXELS = 40_000_000
MAX_PIXELS = 24_000_000

#: Named to Pillow, which would otherwise also open EPS, TIFF, GIF and forty more.
FORMATS = ("JPEG", "PNG", "WEBP")

JPEG_START = b"\xff\xd8"

#: A real progressive JPEG has about ten scans; each one costs a pass over the whole picture.
MAX_JPEG_SCANS = 100

#: The worst picture that is allowed (a WebP of 24 megapixels) takes some 400 MiB while it is decoded, so a process
#: decodes one at a time. Two more wait: a gunicorn process has 8 threads, and the others are for other requests.
DECODING = Bulkhead(
    1,
    wait_s=10,
    max_waiting=2,
    refusal=lambda: Unavailable("Terlalu banyak gambar sedang diproses. Silakan coba lagi."),
)

ORIENTATION_TAG = 0x0112
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

TOO_LARGE = "Gambar terlalu besar: maksimal 5 MB, dan 40 megapiksel (JPEG) atau 24 megapiksel (PNG dan WebP)."
NOT_A_PICTURE = "Berkas bukan gambar JPEG, PNG, atau WebP yang utuh."


def normalise(stream: BinaryIO, *, longest_edge: int) -> bytes:
    """The picture in `stream` as WebP: upright, in sRGB, without metadata, no edge longer than `longest_edge` pixels.

    Raises `PayloadTooLarge`, `UnsupportedMedia`, or `Unavailable` when too many others wait for their turn.
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
        except Exception:  # noqa: BLE001  # broken pictures raise almost anything, struct.error and IndexError included
            raise UnsupportedMedia(NOT_A_PICTURE, code="not_an_image") from None


def _decode(data: bytes, longest_edge: int) -> Image.Image:
    is_jpeg = data.startswith(JPEG_START)
    max_pixels = MAX_JPEG_PIXELS if is_jpeg else MAX_PIXELS
    Image.MAX_IMAGE_PIXELS = max_pixels  # Pillow then looks at the size before it allocates anything for a WebP
    with Image.open(BytesIO(data), formats=FORMATS) as image:
        if image.width * image.height > max_pixels:
            raise PayloadTooLarge(TOO_LARGE, code="image_too_large")
        if image.format in ("PNG", "WEBP") and getattr(image, "is_animated", False):
            raise UnsupportedMedia("Gambar bergerak tidak didukung.", code="not_an_image")
        if is_jpeg and data.count(b"\xff\xda") > MAX_JPEG_SCANS:
            raise UnsupportedMedia(NOT_A_PICTURE, code="not_an_image")
        image.draft(None, (longest_edge, longest_edge))  # a JPEG is decoded near the wanted size at once
        image.load()
        orientation = _orientation(image)
        small = _plain_mode(image)
    small.thumbnail((longest_edge, longest_edge), reducing_gap=2.0)
    small = _in_srgb(small)
    return small.transpose(UPRIGHT[orientation]) if orientation in UPRIGHT else small


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(ORIENTATION_TAG, 1))
    except Exception:  # noqa: BLE001  # nonsense in EXIF does not make the picture itself worse
        return 1


def _plain_mode(image: Image.Image) -> Image.Image:
    """In a mode that can be resized smoothly: palettes and 1-bit cannot, 16-bit grey would be cut off at white."""
    if image.mode == "P" or "transparency" in image.info:
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode.startswith("I"):
        return image.point(lambda value: value / 256).convert("L")
    if image.mode == "1":
        return image.convert("L")
    return image


def _in_srgb(image: Image.Image) -> Image.Image:
    """Colours of a wide-gamut phone or of print as sRGB; a profile that does not fit is left aside."""
    profile = image.info.get("icc_profile")
    if profile and image.mode in ("RGB", "RGBA", "CMYK"):
        target = "RGBA" if image.mode == "RGBA" else "RGB"
        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode=target)
        except (ImageCms.PyCMSError, OSError, ValueError):
            converted = None
        if converted is not None:
            return converted
    return image


def _webp(image: Image.Image) -> bytes:
    transparent = image.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    plain = image.convert("RGBA" if transparent else "RGB")
    plain.info.clear()  # the encoder would take EXIF, XMP and the profile along
    out = BytesIO()
    plain.save(out, "WEBP", quality=82, method=4)
    return out.getvalue()
