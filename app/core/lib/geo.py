"""Geographic positions and bounding boxes, in degrees.

Distances are in kilometres. This module uses neither Flask nor the database.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

#: Mean radius of the earth in kilometres (IUGG). The service uses this radius for all distances.
EARTH_RADIUS_KM = 6371.0088


@dataclass(frozen=True, slots=True)
class Position:
    """A point on the earth. The constructor raises `ValueError` for a coordinate that is not finite or out of range."""

    lat: float
    lng: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lat) and -90 <= self.lat <= 90):
            raise ValueError("latitude must be from -90 to 90")
        if not (math.isfinite(self.lng) and -180 <= self.lng <= 180):
            raise ValueError("longitude must be from -180 to 180")

    @classmethod
    def parse(cls, lat: object, lng: object) -> Self:
        """Return the position from two numbers or numeric texts, as a provider or client sends them."""
        return cls(degrees(lat), degrees(lng))


def degrees(value: object) -> float:
    """Return a number or numeric text as a float. Raise `ValueError` for any other value."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError("a coordinate must be a number")  # noqa: TRY004  # ValueError for every invalid input
    if isinstance(value, str) and "_" in value:
        raise ValueError("a coordinate must be a number")  # only Python reads `1_0` as a number
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("a coordinate must be a number") from error


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of latitudes and longitudes.

    If `west` > `east`, the rectangle crosses the antimeridian (longitude 180°).
    """

    south: float
    west: float
    north: float
    east: float

    @property
    def longitudes(self) -> tuple[tuple[float, float], ...]:
        """The rectangle's ranges of longitude: two if the rectangle crosses the antimeridian, otherwise one.

        Each range runs from west to east.
        """
        if self.west <= self.east:
            return ((self.west, self.east),)
        return ((self.west, 180.0), (-180.0, self.east))

    def __contains__(self, position: Position) -> bool:
        return self.south <= position.lat <= self.north and any(
            west <= position.lng <= east for west, east in self.longitudes
        )


#: Degrees added to every edge, about 1 cm. Otherwise rounding could exclude a point exactly on the circle.
_MARGIN_DEGREES = 1e-7


def box_around(lat: float, lng: float, radius_km: float) -> Box:
    """Return the smallest box around the circle of `radius_km` around a point.

    If the circle contains a pole, the box has all longitudes. The easternmost point of a circle is closer to the pole
    than the centre is. Dividing the angle by the cosine of the latitude would give too narrow a box, so use the
    arcsine.
    """
    if not (math.isfinite(radius_km) and radius_km >= 0):
        raise ValueError("a radius must be a finite number of kilometres, 0 or more")
    angle = radius_km / EARTH_RADIUS_KM
    reach = math.degrees(angle) + _MARGIN_DEGREES
    south, north = lat - reach, lat + reach
    if south <= -90 or north >= 90:
        return Box(max(south, -90.0), -180.0, min(north, 90.0), 180.0)
    widest = math.sin(angle) / math.cos(math.radians(lat))
    if widest >= 1:
        return Box(south, -180.0, north, 180.0)
    spread = math.degrees(math.asin(widest)) + _MARGIN_DEGREES
    if spread >= 180:
        return Box(south, -180.0, north, 180.0)
    return Box(south, _wrapped(lng - spread), north, _wrapped(lng + spread))


def _wrapped(lng: float) -> float:
    if lng < -180:
        return lng + 360
    return lng - 360 if lng > 180 else lng
