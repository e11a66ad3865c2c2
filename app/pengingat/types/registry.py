"""The types of reminders. A new type needs a module in this package and an entry here."""

from __future__ import annotations

from app.pengingat.types import kontrol, makan, obat, terapi
from app.pengingat.types.base import ReminderType

#: Types by the value of `tipe`, in the order in which clients and statistics show them.
TYPES: dict[str, ReminderType] = {
    each.name: each for each in (obat.Obat(), makan.Makan(), terapi.Terapi(), kontrol.Kontrol())
}
