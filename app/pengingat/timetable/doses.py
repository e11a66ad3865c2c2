"""Texts about a dose of a medicine: verb, quantity and instructions. All functions are pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal

from app.core.lib.break_links import break_links
from app.pengingat.timetable.schedule import Schedule
from app.pengingat.timetable.tipe import Details

#: Verbs for taking a medicine. The value of each verb lists the units of doses that need this verb. Other units have no
#: verb.
_UNITS = {
    "suntikkan": "unit iu ampul vial pen",
    "teteskan": "tetes",
    "oleskan": "oles salep krim gel",
    "hirup": "semprot puff hirup inhalasi",
    "pakai": "suppositoria ovula plester koyo",
    "minum": "tablet kapsul pil kaplet butir biji strip ml cc sendok sachet bungkus",
}
_VERBS = {unit: verb for verb, units in _UNITS.items() for unit in units.split()}

#: Maximum characters of a person's own instruction. Longer instructions are cut in messages.
MAX_INSTRUCTION = 100


def verb(unit: str) -> str:
    """Return the verb for a unit: `minum` for `tablet`, `suntikkan` for `IU (pagi)`, empty for an unknown unit."""
    first = re.match(r"\W*(\w+)", unit.casefold())
    return _VERBS.get(first[1], "") if first else ""


def exact(number: float) -> Decimal:
    """Return the decimal number that the client sent. Sums of these numbers are exact, unlike sums of floats."""
    return Decimal(repr(number))


def amount(number: float) -> str:
    """Return all digits of a number in Indonesian notation: `1`, `0,5`, `0,000025`."""
    return f"{exact(number).normalize():f}".replace(".", ",")


def quantity(dose: Details, line: Callable[[str], str]) -> str:
    """Return the quantity of a dose, for example `0,5 tablet`. `line` turns text that a person wrote into one line."""
    return f"{amount(dose['jumlah'])} {line(dose['satuan'])}".strip()


def manner(details: Details) -> str:
    """Return the instructions for a dose, for example `setelah makan, jangan dengan susu`, with links broken."""
    instruction = details.get("petunjuk")
    # Old reminders may have any type here, because `petunjuk` was stored unchecked before the schema had this field.
    said = break_links(instruction[:MAX_INSTRUCTION]) if isinstance(instruction, str) else ""
    return ", ".join(filter(None, (details["aturan"], said)))


def prescription(details: Details, schedule: Schedule) -> str:
    """Return all doses of a medicine as one line, with times in the reminder's time zone.

    For example: `Metformin: 1 tablet pukul 07.00 dan 13.00, 0,5 tablet pukul 19.00, setelah makan`.
    """
    times: dict[str, list[str]] = defaultdict(list)
    for slot, dose in zip(schedule.slots, details["jadwal"], strict=False):
        times[quantity(dose, break_links)].append(f"{slot.time:%H.%M}")
    taken = [f"{what} pukul {' dan '.join(', '.join(at).rsplit(', ', 1))}" for what, at in times.items()]
    return f"{break_links(details['nama_obat'])}: {', '.join([*taken, manner(details)])}"
