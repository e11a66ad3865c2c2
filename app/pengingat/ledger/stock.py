"""Stock of a medicine. Each done dose is subtracted once. The person gets a notice before the medicine runs out.

If the stock is 0, the reminders continue, because the person may have bought more without recording the purchase. A
missing reminder does more harm than a wrong stock.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal

from app.core.errors import Conflict, ValidationFailed
from app.notifications import outbox
from app.notifications.models import About
from app.pengingat.models import Occurrence, OccurrenceState, Pengingat
from app.pengingat.timetable.schedule import DAY, moment_of
from app.pengingat.types.base import Details
from app.pengingat.types.obat import MAX_STOCK, Obat, doses_on, exact

KIND = "stock"

#: Time at which a notice leaves, in the reminder's time zone.
TIME_OF_DAY = time(9)
#: If a notice is not sent within this time after it is due, it expires.
NOTIFY_WITHIN = timedelta(hours=12)


class StockNotTracked(Conflict):
    code = "stock_not_tracked"
    message = "Persediaan obat ini belum dicatat. Isi dahulu sisanya."


def add(pengingat: Pengingat, amount: float, now: datetime) -> None:
    """Add a purchase to the stock. The calling function must have locked the reminder.

    Raise `StockNotTracked` if the reminder has no stock.
    """
    stock = _stock(pengingat)
    if stock is None:
        raise StockNotTracked
    total = exact(stock["sisa"]) + exact(amount)
    if total > MAX_STOCK:
        raise ValidationFailed({"tambah": [f"terlalu banyak, persediaan maksimal {MAX_STOCK}."]})
    _set(pengingat, total)
    follow(pengingat, now)


def take(pengingat: Pengingat, row: Occurrence, state: OccurrenceState, now: datetime) -> float | None:
    """Subtract the dose of this row if `state` is `DONE`. Otherwise add back the amount subtracted for the row.

    Return the new `stock_deducted` of the row.
    `stock_deducted` and the lock on the reminder ensure that each dose is subtracted once. If the row was recorded when
    the reminder had another type, nothing is subtracted.
    """
    stock, taken = _stock(pengingat), row.stock_deducted or 0.0
    if stock is None:
        return None
    if state != OccurrenceState.DONE:
        _set(pengingat, exact(stock["sisa"]) + exact(taken))
        follow(pengingat, now)
        return None
    if row.tipe != Obat.name:
        return None
    amount: float = min(_amount(pengingat, row.slot, row.due_at), stock["sisa"])
    _set(pengingat, exact(stock["sisa"]) - exact(amount))
    follow(pengingat, max(now, row.due_at))  # a dose that was taken early is not needed again
    return amount


def follow(pengingat: Pengingat, now: datetime) -> None:
    """After a change of the stock or the doses, create a notice for the next 09.00 if the medicine runs out soon.

    The person gets one notice, until the stock is enough again.
    """
    is_low = runs_out_on(pengingat, now) is not None
    if is_low and not pengingat.stock_told:
        today = now.astimezone(pengingat.zone).date()
        mornings = (moment_of(day, TIME_OF_DAY, pengingat.zone) for day in (today, today + DAY, today + 2 * DAY))
        due_at = next(moment for moment in mornings if moment > now)
        outbox.send(_notice(pengingat, due_at))
    pengingat.stock_told = is_low


def _notice(pengingat: Pengingat, due_at: datetime) -> outbox.NewDelivery:
    return outbox.NewDelivery(
        kind=KIND,
        dedupe_key=f"persediaan:{pengingat.id}:{due_at:%Y%m%dT%H%M%SZ}",
        due_at=due_at,
        expires_at=due_at + NOTIFY_WITHIN,
        user_id=pengingat.user_id,
        about=About("reminder", pengingat.id),
    )


def runs_out_on(pengingat: Pengingat, now: datetime) -> date | None:
    """Return the day of the last dose that the stock is enough for, if it is at most `ingatkan_hari` days ahead.

    Return today if the stock is not enough for one dose. Return None if it lasts longer, or for the whole course.
    """
    stock = _stock(pengingat)
    if stock is None:
        return None
    left, today = exact(stock["sisa"]), now.astimezone(pengingat.zone).date()
    day, border = today, stock["ingatkan_hari"] * DAY
    for due in pengingat.schedule.dues(now, now + border + 2 * DAY):
        left -= exact(_amount(pengingat, due.slot, due.at))
        if left < 0:
            return day if day - today <= border else None
        day = due.at.astimezone(pengingat.zone).date()
    return None


def _stock(pengingat: Pengingat) -> Details | None:
    """Return the field `persediaan` of the details, or None if the stock is not tracked."""
    stock: Details | None = pengingat.details.get("persediaan") if pengingat.tipe == Obat.name else None
    return stock


def _set(pengingat: Pengingat, left: Decimal) -> None:
    stock = {**pengingat.details["persediaan"], "sisa": float(left)}
    pengingat.details = {**pengingat.details, "persediaan": stock}


def _amount(pengingat: Pengingat, slot: str, moment: datetime) -> float:
    """Return the amount of a dose, or 0 if the dose was removed from the details."""
    doses = doses_on(pengingat.details, moment.astimezone(pengingat.zone).date())
    return float(doses[int(slot)]["jumlah"]) if int(slot) < len(doses) else 0.0
