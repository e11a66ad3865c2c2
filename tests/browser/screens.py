"""Screen sizes of a phone and a desktop computer, in pixels."""

PHONE, DESKTOP = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
