"""Types of reminders, and what is known of one."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

#: The fields of one type, see `details_schemas`, and whatever else a client keeps beside them: any JSON.
Details = dict[str, Any]


class Tipe(StrEnum):
    OBAT = "obat"
    MAKAN = "makan"
    TERAPI = "terapi"
    KONTROL = "kontrol"
