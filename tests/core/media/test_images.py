"""Conversion of uploaded pictures to plain WebP, and rejection of other files."""

import struct
import subprocess
import sys
from io import BytesIO

import pytest
from PIL import ExifTags, Image, ImageCms

from app.core.errors import PayloadTooLarge, Unavailable, UnsupportedMedia
from app.core.media import images
from config import ROOT
from tests.core.media.samples import HOSTILE, LARGE_CHUNKS, encoded, plain, png, with_metadata


def normalised(data, edge=1600):
    image = Image.open(BytesIO(images.normalise(BytesIO(data), longest_edge=edge)))
    image.load()
    return image


def test_longest_edge_is_limited_and_small_pictures_are_not_enlarged():
    for size, edge, expected in (
        ((4000, 1000), 1600, (1600, 400)),
        ((300, 1200), 512, (128, 512)),
        ((100, 50), 512, (100, 50)),
    ):
        assert normalised(plain("JPEG", size), edge).size == expected


def test_large_texts_and_profiles_of_a_png_are_skipped():
    for name, make in LARGE_CHUNKS.items():
        image = normalised(make())
        assert (image.format, image.mode, image.size) == ("WEBP", "RGB", (64, 48)), name


#: How a camera stored the picture, by EXIF orientation.
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}  # fmt: skip


def test_photo_is_rotated_by_its_exif_orientation():
    upright = Image.new("RGB", (60, 40), "white")
    upright.paste("red", (0, 0, 30, 20))  # a red area in the top left corner
    for orientation in range(1, 9):
        exif = Image.Exif()
        exif[ExifTags.Base.Orientation] = orientation
        stored = upright.transpose(TURNS[orientation]) if orientation in TURNS else upright
        image = normalised(encoded(stored, "JPEG", exif=exif, quality=95))
        assert image.size == (60, 40), orientation
        red, green, _ = image.getpixel((8, 8))
        assert (red > 200, green < 80) == (True, True), orientation
        assert min(image.getpixel((52, 32))) > 200, orientation


def test_a_picture_becomes_webp_without_metadata_or_appended_files():
    for kind in ("JPEG", "PNG", "WEBP"):
        sent = with_metadata(kind)
        assert sent.count(b"MARKER") >= 3
        kept = images.normalise(BytesIO(sent + b"<script>MARKER</script>PK\x03\x04"), longest_edge=1600)
        assert b"MARKER" not in kept, kind
        image = Image.open(BytesIO(kept))
        assert (image.format, image.mode, image.size) == ("WEBP", "RGB", (80, 60)), kind
        assert not {"exif", "xmp", "icc_profile"} & set(image.info), kind


def test_colour_modes_are_converted_to_rgb_or_rgba():
    for mode, kind, expected in (
        ("CMYK", "JPEG", "RGB"),
        ("L", "JPEG", "RGB"),
        ("P", "PNG", "RGB"),
        ("1", "PNG", "RGB"),
        ("RGBA", "PNG", "RGBA"),
        ("LA", "PNG", "RGBA"),
    ):
        base = Image.effect_noise((64, 64), 50).convert(expected)
        if expected == "RGBA":
            base.putalpha(Image.linear_gradient("L").resize((64, 64)))
        assert normalised(encoded(base.convert(mode), kind)).mode == expected, mode


def test_transparent_palette_stays_transparent():
    image = Image.new("P", (20, 20), 0)
    image.putpalette([255, 0, 0, 0, 255, 0])
    image.paste(1, (10, 0, 20, 20))
    result = normalised(encoded(image, "PNG", transparency=0))
    assert result.getpixel((2, 10))[3] == 0
    assert result.getpixel((17, 10))[3] == 255


def test_sixteen_bit_grey_keeps_its_brightness():
    image = Image.new("I;16", (20, 20), 32768)
    assert normalised(encoded(image, "PNG")).getpixel((10, 10))[0] in range(120, 136)


def test_a_colour_profile_is_skipped():
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
    image = Image.new("RGB", (20, 20), (200, 30, 30))
    for profile in (srgb.tobytes(), b"nonsense"):
        red, green, blue = normalised(encoded(image, "JPEG", icc_profile=profile, quality=95)).getpixel((10, 10))
        assert abs(red - 200) + abs(green - 30) + abs(blue - 30) < 30


def test_hostile_picture_is_refused(subtests):
    for name, make in HOSTILE.items():
        with subtests.test(name), pytest.raises((UnsupportedMedia, PayloadTooLarge)):
            images.normalise(BytesIO(make()), longest_edge=1600)


def test_an_upload_over_the_size_limit_is_refused_and_not_read_to_its_end():
    stream = BytesIO(plain("JPEG") + b"\0" * (8 * 1024 * 1024))
    with pytest.raises(PayloadTooLarge):
        images.normalise(stream, longest_edge=1600)
    assert stream.tell() <= images.MAX_BYTES + 1


# Pillow warns about invalid Exif data. Without this filter, the test suite would turn the warning into an error.
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_invalid_exif_data_does_not_prevent_the_conversion():
    huge = b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + b"\x01\x12\0\x03\xff\xff\xff\xff" * 8000
    assert normalised(encoded(Image.new("RGB", (40, 30)), "JPEG", exif=huge[:65_000])).size == (40, 30)


@pytest.mark.slow
def test_hostile_pictures_need_less_than_64_megabytes_of_extra_memory():
    """Decode all hostile pictures in one process and measure the process's peak memory."""
    script = """
import resource, sys
from io import BytesIO
from app.core.media import images
from app.core.errors import AppError
from tests.core.media.samples import HOSTILE, LARGE_CHUNKS, plain
hostile = [make() for make in (HOSTILE | LARGE_CHUNKS).values()]
images.normalise(BytesIO(plain()), longest_edge=64)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for data in hostile:
    try:
        images.normalise(BytesIO(data), longest_edge=1600)
    except AppError:
        pass
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert int(run.stdout) < 64


def test_a_jpeg_may_have_40_megapixels_and_other_formats_24():
    for kind, size in (("WEBP", (6000, 4000)), ("JPEG", (7900, 5000))):
        assert max(normalised(encoded(Image.new("L", size), kind, quality=1, method=0)).size) == 1600
    too_large = png(struct.pack(">IIBBBBB", 6000, 4001, 8, 2, 0, 0, 0)), plain("JPEG", (8000, 5001), "L")
    for data in too_large:
        with pytest.raises(PayloadTooLarge, match=r"40 megapiksel \(JPEG\) atau 24 megapiksel \(PNG dan WebP\)"):
            images.normalise(BytesIO(data), longest_edge=1600)


def test_a_conversion_that_waits_too_long_is_refused(monkeypatch):
    monkeypatch.setattr(images.DECODING, "wait_s", 0.01)
    with images.DECODING.slot(), pytest.raises(Unavailable):
        images.normalise(BytesIO(plain()), longest_edge=1600)
    assert normalised(plain()).size == (64, 48)
