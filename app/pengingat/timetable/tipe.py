"""Types of reminders, and the JSON type of their details."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

#: Details of a reminder. They contain the fields that `details_schemas` defines for the reminder's type, and any other
#: JSON fields that the client sent.
Details = dict[str, Any]


class Tipe(StrEnum):
    OBAT = "obat"
    MAKAN = "makan"
    TERAPI = "terapi"
    KONTROL = "kontrol"
