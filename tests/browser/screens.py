"""The screens of a phone and of a desk."""

from __future__ import annotations

PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
