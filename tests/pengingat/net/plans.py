"""Reminders that the player creates: what a client sends, and when they fall due.

Many due times of different reminders have the same moment, so that one message says several of them.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("Asia/Jakarta")
WEEKDAYS = ("senin", "selasa", "rabu", "kamis", "jumat", "sabtu", "minggu")
DAY = timedelta(days=1)

#: Local times by slot, in two versions of each plan. An edit replaces one version by the other.
DAILY = {
    "rutin": ({"0": "07:00", "1": "12:20", "2": "19:00"}, {"0": "07:00", "1": "13:40", "2": "19:00"}),
    "stok": ({"0": "07:00", "1": "19:00"}, {"0": "07:00", "1": "20:10"}),
    "makan": ({"sarapan": "07:00", "makan_siang": "12:20"}, {"sarapan": "07:00", "makan_malam": "19:00"}),
}
THERAPY_AT = "11:35"
THERAPY_DAYS = (("senin", "selasa"), ("senin", "rabu"))
VISIT_AT = "11:35"
LEADS = {"1h": timedelta(hours=1), "1d": DAY}
#: Days from the creation of a visit to the visit.
VISIT_AFTER = (2, 3)

KINDS = (*DAILY, "terapi", "kontrol")
TYPES = {"rutin": "obat", "stok": "obat", "makan": "makan", "terapi": "terapi", "kontrol": "kontrol"}
AGAIN = {"rutin": timedelta(minutes=20), "stok": timedelta(minutes=20)}


@dataclass(frozen=True, order=True)
class Due:
    """One due time of a plan. `about` is the time that its message names."""

    at: datetime
    slot: str
    about: datetime


@dataclass(frozen=True)
class Plan:
    """A reminder as a client sends it. `begun` is the local day of its creation."""

    kind: str
    title: str
    begun: date
    version: int = 0

    def dues(self, after, until):
        """Yield the due times later than `after` and not later than `until`."""
        yield from (due for due in self._dues(after, until) if after < due.at <= until)

    def _dues(self, after, until):
        if self.kind == "kontrol":
            for slot, lead in LEADS.items():
                yield Due(self.visit - lead, slot, self.visit)
            return
        day = after.astimezone(ZONE).date()
        while day <= until.astimezone(ZONE).date():
            for slot, at in self._times(day).items():
                moment = _local(day, at)
                yield Due(moment, slot, moment)
            day += DAY

    def _times(self, day):
        if self.kind in DAILY:
            return DAILY[self.kind][self.version]
        slots = enumerate(THERAPY_DAYS[self.version])
        return {str(slot): THERAPY_AT for slot, name in slots if name == WEEKDAYS[day.weekday()]}

    @property
    def visit(self):
        return _local(self.begun + VISIT_AFTER[self.version] * DAY, VISIT_AT)

    def body(self, left):
        """Return the request body. `left` is the stock of the medicine whose stock is counted."""
        return {"tipe": TYPES[self.kind], "judul": self.title, "timezone": ZONE.key, "details": self._details(left)}

    def _details(self, left):
        match self.kind:
            case "makan":
                return {
                    slot: {"jam": _utc(at), "karbohidrat": self.title}  # so that each text contains the title
                    for slot, at in DAILY["makan"][self.version].items()
                }
            case "terapi":
                days = [{"hari": day, "jam": _utc(THERAPY_AT)} for day in THERAPY_DAYS[self.version]]
                return {"jenis_terapi": self.title, "jadwal": days}
            case "kontrol":
                offsets = [{"offset": lead} for lead in LEADS]
                return {"nama_dokter": self.title, "datetime": self.visit.isoformat(), "reminder_offsets": offsets}
        times = DAILY[self.kind][self.version].values()
        doses = [{"jam": _utc(at), "jumlah": 1, "satuan": "tablet"} for at in times]
        more = {"persediaan": {"sisa": left, "ingatkan_hari": 2}} if self.kind == "stok" else {}
        return {
            "nama_obat": self.title, "frekuensi": len(doses), "aturan": "setelah makan", "jadwal": doses,
            "ingatkan_ulang_menit": 20, **more,
        }  # fmt: skip


def _local(day, at):
    return datetime.combine(day, time.fromisoformat(at), ZONE)


def _utc(at):
    return f"{(int(at[:2]) - 7) % 24:02}{at[2:]}"
