"""Positions, great-circle distances and bounding boxes of circles."""

from __future__ import annotations

import math
import random

import pytest

from app.core.lib.geo import EARTH_RADIUS_KM, Box, Position, box_around
from dev.distance import distance_km

JAKARTA = Position(-6.2088, 106.8456)


def destination(start: Position, bearing: float, km: float) -> Position:
    """Return the position `km` away from `start` along a great circle."""
    angle, phi, theta = km / 6371.0088, math.radians(start.lat), math.radians(bearing)
    sine = math.sin(phi) * math.cos(angle) + math.cos(phi) * math.sin(angle) * math.cos(theta)
    lat = math.asin(max(-1.0, min(1.0, sine)))
    east = math.atan2(math.sin(theta) * math.sin(angle) * math.cos(phi), math.cos(angle) - math.sin(phi) * sine)
    lng = (start.lng + math.degrees(east) + 180) % 360 - 180
    return Position(math.degrees(lat), lng)


@pytest.mark.parametrize(
    ("there", "km"),
    [
        (Position(-6.9175, 107.6191), 116.2),  # Bandung
        (Position(1.3521, 103.8198), 904.5),  # Singapore
        (Position(-2.5337, 140.7181), 3782.6),  # Jayapura
        (Position(52.5200, 13.4050), 10765.0),  # Berlin
    ],
)
def test_known_distances_are_correct_within_half_a_percent(there: Position, km: float) -> None:
    assert distance_km(JAKARTA.lat, JAKARTA.lng, there.lat, there.lng) == pytest.approx(km, rel=0.005)


def test_distance_is_symmetric_zero_for_one_point_and_exact_for_near_points() -> None:
    assert distance_km(JAKARTA.lat, JAKARTA.lng, JAKARTA.lat, JAKARTA.lng) == 0
    assert distance_km(-6, 106, 1, 120) == distance_km(1, 120, -6, 106)
    # 0.00001 degrees are 1111.95 mm
    assert distance_km(0, 0, 0, 0.00001) * 1e6 == pytest.approx(1111.95, rel=1e-4)


def test_the_distance_between_antipodes_is_half_the_circumference() -> None:
    assert distance_km(90, 0, -90, 0) == pytest.approx(math.pi * EARTH_RADIUS_KM)
    assert distance_km(-6.2, 106.8, 6.2, -73.2) == pytest.approx(math.pi * EARTH_RADIUS_KM)


def test_distance_across_the_antimeridian_is_the_shorter_way() -> None:
    assert distance_km(0, 179.9, 0, -179.9) == pytest.approx(22.24, rel=1e-3)


@pytest.mark.parametrize(
    ("lat", "lng"),
    [(90.1, 0), (-91, 0), (0, 180.5), (0, -181), (math.nan, 0), (0, math.inf), ("north", 0), (None, 0), (True, 1)],
)
def test_invalid_coordinates_are_refused(lat: object, lng: object) -> None:
    with pytest.raises(ValueError, match=r"coordinate|itude|convert"):
        Position.parse(lat, lng)


@pytest.mark.parametrize(("lat", "lng"), [("-6.2", "106.8"), (-6.2, 106.8), (" -6.2 ", "1.068e2")])
def test_numbers_and_numeric_text_are_parsed_as_a_position(lat: object, lng: object) -> None:
    assert Position.parse(lat, lng) == Position(-6.2, 106.8)


def test_numbers_with_underscores_or_too_many_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="coordinate"):
        Position.parse("1_0", "1")
    with pytest.raises(ValueError, match="coordinate"):
        Position.parse(10**400, 1)


def test_the_bounding_box_encloses_its_circle_tightly() -> None:
    draw = random.Random(7)
    for _ in range(300):
        centre = Position(draw.uniform(-88, 88), draw.uniform(-180, 180))
        km = draw.choice([0.01, 1, 5, 50, 150])
        box = box_around(centre.lat, centre.lng, km)
        for bearing in range(0, 360, 10):
            assert destination(centre, bearing, km) in box
        beyond = destination(centre, 0, km * 1.01 + 0.001), destination(centre, 180, km * 1.01 + 0.001)
        assert all(position not in box for position in beyond)


def test_a_box_over_the_antimeridian_has_two_longitude_ranges() -> None:
    box = box_around(-17, 179.9, 50)
    assert box.west > box.east
    assert len(box.longitudes) == 2
    assert Position(-17, -179.9) in box
    assert Position(-17, 179.7) in box
    assert Position(-17, 0) not in box


def test_a_box_near_a_pole_is_wider_than_the_radius_divided_by_the_cosine() -> None:
    box = box_around(89, 0, 100)
    naive = math.degrees(100 / 6371.0088) / math.cos(math.radians(89))
    assert box.east > naive
    assert destination(Position(89, 0), 61, 100) in box


@pytest.mark.parametrize("lat", [89.9, -89.9, 90, -90])
def test_a_box_over_a_pole_includes_all_longitudes(lat: float) -> None:
    box = box_around(lat, 10, 50)
    assert (box.west, box.east) == (-180, 180)
    assert -90 <= box.south <= box.north <= 90


def test_a_very_large_radius_gives_a_box_of_the_whole_world() -> None:
    assert box_around(0, 0, 30_000) == Box(-90, -180, 90, 180)


@pytest.mark.parametrize("km", [-1, math.nan, math.inf])
def test_a_negative_or_non_finite_radius_is_refused(km: float) -> None:
    with pytest.raises(ValueError, match="radius"):
        box_around(0, 0, km)
