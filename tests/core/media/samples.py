"""Pictures for tests: valid ones of all kinds, and harmful ones that use much memory or time."""

import struct
import zlib
from io import BytesIO

from PIL import Image, PngImagePlugin


def encoded(image, kind, **options):
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def plain(kind="JPEG", size=(64, 48), mode="RGB"):
    return encoded(Image.new(mode, size, 128), kind)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(header, *chunks):
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunks) + chunk(b"IEND", b"")


def _png_bomb():
    """Return a PNG of 17 KiB that has 13,000 x 13,000 pixels. It takes 700 MiB of memory when decoded."""
    packer = zlib.compressobj(9)
    row = b"\0" * (13_000 * 4 + 1)
    data = b"".join(packer.compress(row) for _ in range(300)) + packer.flush()
    return png(struct.pack(">IIBBBBB", 13_000, 13_000, 8, 6, 0, 0, 0), chunk(b"IDAT", data))


def _webp_bomb():
    """Return a WebP in the extended format with a canvas of 16,384 x 16,384 pixels."""
    canvas = b"\0\0\0\0" + struct.pack("<I", 16_383)[:3] * 2
    body = b"WEBP" + b"VP8X" + struct.pack("<I", 10) + canvas + plain("WEBP")[12:]
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _jpeg_of_many_scans():
    whole = encoded(Image.new("RGB", (2000, 2000)), "JPEG", progressive=True)
    start = whole.rindex(b"\xff\xda")
    return whole[:start] + whole[start:-2] * 5000 + whole[-2:]


def _animated(kind):
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue")]
    return encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=50)


def with_chunk(kind, start, *, megabytes, packed=True):
    """Return a PNG with a large chunk of text or with a large colour profile."""
    packer = zlib.compressobj(9)
    text = b"a" * 1_000_000
    parts = [packer.compress(text) if packed else text for _ in range(megabytes)]
    if packed:
        parts.append(packer.flush())
    after_header = 33
    good = plain("PNG")
    return good[:after_header] + chunk(kind, start + b"".join(parts)) + good[after_header:]


#: PNG pictures with metadata that is larger than Pillow accepts, by description.
LARGE_CHUNKS = {
    "a text of 2 MB": lambda: with_chunk(b"tEXt", b"k\0", megabytes=2, packed=False),
    "a compressed text of 2 MB": lambda: with_chunk(b"zTXt", b"k\0\0", megabytes=2),
    "a compressed text of 80 MB": lambda: with_chunk(b"zTXt", b"k\0\0", megabytes=80),
    "an international text of 2 MB": lambda: with_chunk(b"iTXt", b"k\0\1\0\0\0", megabytes=2),
    "a colour profile of 2 MB": lambda: with_chunk(b"iCCP", b"k\0\0", megabytes=2),
}


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(/etc/passwd) (r) file\nshowpage\n%%EOF\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
CROPPED = plain("JPEG", (600, 600))

#: Functions that make harmful or invalid pictures, by description.
HOSTILE = {
    "a PNG bomb of 17 KiB": _png_bomb,
    "a WebP bomb": _webp_bomb,
    "a JPEG of thousands of scans": _jpeg_of_many_scans,
    "EPS": lambda: EPS,
    "SVG": lambda: SVG,
    "GIF": lambda: plain("GIF", mode="L"),
    "an animated PNG": lambda: _animated("PNG"),
    "an animated WebP": lambda: _animated("WEBP"),
    "a truncated JPEG": lambda: CROPPED[: len(CROPPED) // 2],
    "a truncated WebP": lambda: plain("WEBP", (600, 600))[:-40],
    "a PNG with a corrupt chunk": lambda: plain("PNG").replace(b"IDAT", b"IDAT\xff", 1),
    "a PNG of no pixels": lambda: png(struct.pack(">IIBBBBB", 0, 0, 8, 2, 0, 0, 0)),
    "HTML behind a JPEG's first bytes": lambda: b"\xff\xd8\xff\xe0<html><script>alert(1)</script></html>",
    "nothing at all": lambda: b"",
}


def with_metadata(kind):
    """Return a picture with metadata about its place, owner and software."""
    exif = Image.Exif()
    exif[0x010F] = "MARKER-camera"
    exif[0x8298] = "MARKER-owner"
    exif.get_ifd(0x8825)[1] = "MARKER-gps"
    image = Image.effect_noise((80, 60), 20).convert("RGB")
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/">MARKER-xmp</x:xmpmeta>'
    if kind == "PNG":
        text = PngImagePlugin.PngInfo()
        text.add_text("Comment", "MARKER-text")
        text.add_itxt("XML:com.adobe.xmp", xmp.decode())
        return encoded(image, kind, exif=exif, pnginfo=text)
    return encoded(image, kind, exif=exif, xmp=xmp, **({"comment": b"MARKER-comment"} if kind == "JPEG" else {}))
