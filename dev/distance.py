"""Great-circle distance in Python, for simulators and tests. The service computes the distance in SQL."""

from __future__ import annotations

import math

from app.core.lib.geo import EARTH_RADIUS_KM


def distance_km(lat1: float, lng1: float, lat2: float, lng2: float) -> float:
    """Return the great-circle distance in km by the haversine formula, which is also exact for short distances."""
    phi1, phi2 = math.radians(lat1), math.radians(lat2)
    half = (
        math.sin((phi2 - phi1) / 2) ** 2
        + math.cos(phi1) * math.cos(phi2) * math.sin(math.radians(lng2 - lng1) / 2) ** 2
    )
    # For opposite points of the earth, rounding can make the root a little larger than 1. Then `asin` would fail.
    return 2 * EARTH_RADIUS_KM * math.asin(math.sqrt(min(1.0, half)))
