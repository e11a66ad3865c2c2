"""Coordinates and bounding boxes, in degrees.

Distances are in kilometres. This module uses neither Flask nor the database.
"""

from __future__ import annotations

import math
from typing import NamedTuple

#: Mean radius of the earth in kilometres (IUGG). The service uses this radius for all distances.
EARTH_RADIUS_KM = 6371.0088


def degrees(value: object, limit: float) -> float:
    """Return a number or numeric text as a float. Raise `ValueError` if it is not from -`limit` to `limit`."""
    # Only Python reads `1_0` as a number.
    if isinstance(value, (int, float, str)) and not isinstance(value, bool) and "_" not in str(value):
        number = float(value) if isinstance(value, str) or abs(value) <= limit else math.nan
        if abs(number) <= limit:
            return number
    raise ValueError("not a coordinate")


class Box(NamedTuple):
    """A rectangle of latitudes and longitudes."""

    south: float
    west: float
    north: float
    east: float


#: Degrees added to every edge, about 1 cm. Otherwise rounding could exclude a point exactly on the circle.
_MARGIN_DEGREES = 1e-7


def box_around(lat: float, lng: float, radius_km: float) -> Box:
    """Return a box that contains the circle of `radius_km` around a point.

    The box is complete in all of Indonesia, but not at the poles or across the antimeridian.
    """
    reach = math.degrees(radius_km / EARTH_RADIUS_KM) + _MARGIN_DEGREES
    # The easternmost point of a circle is closer to the pole than the centre is.
    spread = reach / math.cos(math.radians(min(abs(lat) + reach, 89)))
    return Box(lat - reach, lng - spread, lat + reach, lng + spread)
