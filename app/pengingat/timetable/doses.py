"""A dose of a medicine in words: the verb of its unit, how much it is, and how it is taken. Pure functions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

from app.core.lib.addresses import without_addresses
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.timetable.tipe import Details

#: What one does with a medicine, by the first word of its unit. A medicine of another unit has no verb.
_UNITS = {
    "suntikkan": "unit iu ampul vial pen",
    "teteskan": "tetes",
    "oleskan": "oles salep krim gel",
    "hirup": "semprot puff hirup inhalasi",
    "pakai": "suppositoria ovula plester koyo",
    "minum": "tablet kapsul pil kaplet butir biji strip ml cc sendok sachet bungkus",
}
_VERBS = {unit: verb for verb, units in _UNITS.items() for unit in units.split()}

#: Characters of an instruction that are said.
MAX_INSTRUCTION = 100


def verb(unit: str) -> str:
    """Return `minum` for `tablet`, `suntikkan` for `IU (pagi)`, and nothing for an unknown unit."""
    first = re.match(r"\W*(\w+)", unit.casefold())
    return _VERBS.get(first[1], "") if first else ""


def amount(number: float) -> str:
    """`1`, `0,5`"""
    return f"{number:g}".replace(".", ",")


def quantity(dose: Details, line: Callable[[str], str]) -> str:
    """`0,5 tablet`; `line` makes one line of what a person wrote."""
    return f"{amount(dose['jumlah'])} {line(dose['satuan'])}".strip()


def manner(details: Details) -> str:
    """`setelah makan`, `setelah makan, jangan dengan susu`; never with a web address."""
    instruction = details.get("petunjuk")
    # It may be of any type, because unknown fields were kept before this one was known.
    said = without_addresses(instruction)[:MAX_INSTRUCTION] if isinstance(instruction, str) else ""
    return ", ".join(filter(None, (details["aturan"], said)))


def prescription(details: Details, schedule: Schedule) -> str:
    """`Metformin: 1 tablet pukul 07.00 dan 13.00, 0,5 tablet pukul 19.00, setelah makan`, in the reminder's zone."""
    times: dict[str, list[str]] = defaultdict(list)
    for slot, dose in zip(schedule.slots, details["jadwal"], strict=False):
        times[quantity(dose, without_addresses)].append(f"{slot.time:%H.%M}")
    taken = [f"{what} pukul {' dan '.join(', '.join(at).rsplit(', ', 1))}" for what, at in times.items()]
    return f"{without_addresses(details['nama_obat'])}: {', '.join([*taken, manner(details)])}"
