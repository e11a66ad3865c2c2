"""Where things are on the earth: positions and bounding boxes.

Nothing here knows Flask or a database. Degrees everywhere, kilometres for distances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

#: Mean radius (IUGG), the same in every distance of the service.
EARTH_RADIUS_KM = 6371.0088


@dataclass(frozen=True, slots=True)
class Position:
    """A point on the earth. Making one that is not finite or out of range raises `ValueError`."""

    lat: float
    lng: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lat) and -90 <= self.lat <= 90):
            raise ValueError("latitude must be from -90 to 90")
        if not (math.isfinite(self.lng) and -180 <= self.lng <= 180):
            raise ValueError("longitude must be from -180 to 180")

    @classmethod
    def parse(cls, lat: object, lng: object) -> Self:
        """A position from what a provider or a client sent: numbers, or text that spells them."""
        return cls(degrees(lat), degrees(lng))


def degrees(value: object) -> float:
    """A coordinate as a number, from a number or from text that spells one; `ValueError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError("a coordinate must be a number")  # noqa: TRY004  # one error for all that is wrong
    if isinstance(value, str) and "_" in value:
        raise ValueError("a coordinate must be a number")  # Python alone reads 1_0 as ten
    try:
        return float(value)
    except OverflowError as error:
        raise ValueError("a coordinate must be a number") from error


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of latitudes and longitudes. `west` > `east` means that it spans the antimeridian."""

    south: float
    west: float
    north: float
    east: float

    @property
    def longitudes(self) -> tuple[tuple[float, float], ...]:
        """The one or two ranges of longitude, each of them west to east."""
        if self.west <= self.east:
            return ((self.west, self.east),)
        return ((self.west, 180.0), (-180.0, self.east))

    def __contains__(self, position: Position) -> bool:
        return self.south <= position.lat <= self.north and any(
            west <= position.lng <= east for west, east in self.longitudes
        )


#: About a centimetre added to every edge, so that rounding never cuts off a point exactly on the circle.
_MARGIN_DEGREES = 1e-7


def box_around(lat: float, lng: float, radius_km: float) -> Box:
    """The smallest box that holds the circle of `radius_km` around a point.

    A circle that reaches a pole holds every longitude there. Its easternmost point lies nearer to the pole
    than its centre does, hence the arcsine rather than a division by the cosine.
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
