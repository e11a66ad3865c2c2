"""Coordinates, great-circle distances and bounding boxes of circles."""

import math
import random

import pytest

from app.core.lib.geo import EARTH_RADIUS_KM, box_around, degrees
from dev.distance import distance_km

JAKARTA = (-6.2088, 106.8456)


def destination(lat, lng, bearing, km):
    """Return the position `km` away from a position along a great circle."""
    angle, phi, theta = km / 6371.0088, math.radians(lat), math.radians(bearing)
    sine = math.sin(phi) * math.cos(angle) + math.cos(phi) * math.sin(angle) * math.cos(theta)
    east = math.atan2(math.sin(theta) * math.sin(angle) * math.cos(phi), math.cos(angle) - math.sin(phi) * sine)
    return math.degrees(math.asin(sine)), lng + math.degrees(east)


def test_known_distances_are_correct():
    for there, km in (
        ((-6.9175, 107.6191), 116.2),  # Bandung
        ((52.5200, 13.4050), 10765.0),  # Berlin
    ):
        assert distance_km(*JAKARTA, *there) == pytest.approx(km, rel=0.005)
        assert distance_km(*there, *JAKARTA) == distance_km(*JAKARTA, *there)
    assert distance_km(0, 0, 0, 0.00001) * 1e6 == pytest.approx(1111.95, rel=1e-4)  # millimetres
    assert distance_km(-6.2, 106.8, 6.2, -73.2) == pytest.approx(math.pi * EARTH_RADIUS_KM)  # antipodes
    assert distance_km(0, 179.9, 0, -179.9) == pytest.approx(22.24, rel=1e-3)  # across the antimeridian


def test_only_a_number_or_numeric_text_in_range_is_a_coordinate(subtests):
    assert [degrees(value, 90) for value in ("-6.2", -6.2, " -6.2 ", "-0.62e1")] == [-6.2] * 4
    for value in (90.1, -91, math.nan, math.inf, "north", "nan", None, True, "1_0", 10**400):
        with subtests.test(str(value)[:9]), pytest.raises(ValueError, match=r"coordinate|convert"):
            degrees(value, 90)


def test_the_box_encloses_its_circle():
    draw = random.Random(7)
    for _ in range(300):
        lat, lng = draw.uniform(-12, 8), draw.uniform(94, 142)
        km = draw.choice([0.01, 1, 5, 50, 150])
        south, west, north, east = box_around(lat, lng, km)
        for bearing in range(0, 360, 10):
            at_lat, at_lng = destination(lat, lng, bearing, km)
            assert south <= at_lat <= north
            assert west <= at_lng <= east
        assert north < destination(lat, lng, 0, km * 1.01 + 0.001)[0]
        assert east < destination(lat, lng, 90, km * 1.02 + 0.001)[1]
