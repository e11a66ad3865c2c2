"""Types of reminders, and the JSON type of their details."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

#: Details of a reminder: the fields of its type, see `details_schemas`, and any other JSON fields that the client sent.
Details = dict[str, Any]


class Tipe(StrEnum):
    OBAT = "obat"
    MAKAN = "makan"
    TERAPI = "terapi"
    KONTROL = "kontrol"
