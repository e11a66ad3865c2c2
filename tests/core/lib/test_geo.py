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


@pytest.mark.parametrize(
    ("there", "km"),
    [
        ((-6.9175, 107.6191), 116.2),  # Bandung
        ((1.3521, 103.8198), 904.5),  # Singapore
        ((-2.5337, 140.7181), 3782.6),  # Jayapura
        ((52.5200, 13.4050), 10765.0),  # Berlin
    ],
)
def test_known_distances_are_correct_within_half_a_percent(there, km):
    assert distance_km(*JAKARTA, *there) == pytest.approx(km, rel=0.005)


def test_distance_is_symmetric_zero_for_one_point_and_exact_for_near_points():
    assert distance_km(*JAKARTA, *JAKARTA) == 0
    assert distance_km(-6, 106, 1, 120) == distance_km(1, 120, -6, 106)
    # 0.00001 degrees are 1111.95 mm
    assert distance_km(0, 0, 0, 0.00001) * 1e6 == pytest.approx(1111.95, rel=1e-4)


def test_the_distance_between_antipodes_is_half_the_circumference():
    assert distance_km(90, 0, -90, 0) == pytest.approx(math.pi * EARTH_RADIUS_KM)
    assert distance_km(-6.2, 106.8, 6.2, -73.2) == pytest.approx(math.pi * EARTH_RADIUS_KM)


def test_distance_across_the_antimeridian_is_the_shorter_way():
    assert distance_km(0, 179.9, 0, -179.9) == pytest.approx(22.24, rel=1e-3)


@pytest.mark.parametrize("value", [90.1, -91, math.nan, math.inf, "north", "nan", None, True, "1_0", 10**400])
def test_an_invalid_coordinate_is_refused(value):
    with pytest.raises(ValueError, match=r"coordinate|convert"):
        degrees(value, 90)


@pytest.mark.parametrize("value", ["-6.2", -6.2, " -6.2 ", "-0.62e1"])
def test_a_number_or_numeric_text_is_a_coordinate(value):
    assert degrees(value, 90) == -6.2


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
