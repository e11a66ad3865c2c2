"""Stock of a medicine. Each done dose is subtracted once. The person gets a notice before the medicine runs out.

If the stock is 0, the reminders continue, because the person may have bought more without recording the purchase. A
missing reminder does more harm than a wrong stock.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from app.core.errors import Conflict, ValidationFailed
from app.notifications import outbox
from app.notifications.models import About, Channel
from app.pengingat.details_schemas import MAX_STOCK
from app.pengingat.ledger.statements import Row
from app.pengingat.models import OccurrenceState, Pengingat
from app.pengingat.timetable.doses import exact
from app.pengingat.timetable.plans import doses_on
from app.pengingat.timetable.schedule import DAY, NEVER, moment_of
from app.pengingat.timetable.tipe import Details, Tipe

KIND = "stock"

#: Time of the daily check, in the reminder's time zone.
TIME_OF_DAY = time(9)
#: If a notice is not sent within this time after the check, the notice expires.
NOTIFY_WITHIN = timedelta(hours=12)
#: The person gets a second notice this number of days before the medicine runs out. The field `ingatkan_hari` has the
#: number of days for the first notice.
LAST_BORDER = 2


class StockNotTracked(Conflict):
    code = "stock_not_tracked"
    message = "Persediaan obat ini belum dicatat. Isi dahulu sisanya."


def track(pengingat: Pengingat, now: datetime) -> None:
    """After a change of the details, update the time of the next stock check and the record of sent notices."""
    has_stock = pengingat.tipe == Tipe.OBAT and pengingat.details.get("persediaan") is not None
    pengingat.stock_check_at = _next_check(pengingat, now) if has_stock else None
    _restock(pengingat, now)


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
    _restock(pengingat, now)


def take(pengingat: Pengingat, row: Row, state: OccurrenceState) -> float | None:
    """Subtract the dose of this row if `state` is `DONE`. Otherwise add back the amount subtracted for the row.

    Return the new `stock_deducted` of the row.
    `stock_deducted` and the lock on the reminder ensure that each dose is subtracted once. If the row was recorded when
    the reminder had another type, nothing is subtracted.
    """
    stock, taken = _stock(pengingat), row.stock_deducted or 0.0
    if state != OccurrenceState.DONE:
        if stock is not None and taken:
            _set(pengingat, exact(stock["sisa"]) + exact(taken))
        return None
    if stock is None or row.tipe != Tipe.OBAT:
        return None
    amount: float = min(_amount(pengingat, row.slot, row.due_at), stock["sisa"])
    _set(pengingat, exact(stock["sisa"]) - exact(amount))
    return amount


def create_notices(pengingat: Pengingat, now: datetime) -> Iterator[outbox.NewDelivery]:
    """Yield the notices about low stock that are due today, and set the time of the next check."""
    check_at = pengingat.stock_check_at or now
    pengingat.stock_check_at = _next_check(pengingat, now)
    day = runs_out_on(pengingat, now)
    border = _border(pengingat, day, now)
    is_told = (
        pengingat.stock_notified_days is not None and border is not None and pengingat.stock_notified_days <= border
    )
    if day is None or border is None or is_told or now >= check_at + NOTIFY_WITHIN:
        return
    pengingat.stock_notified_days = border
    for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
        yield outbox.NewDelivery(
            kind=KIND,
            channel=channel,
            dedupe_key=f"persediaan:{pengingat.id}:{check_at:%Y%m%dT%H%M%SZ}:{channel}",
            payload={"day": day.isoformat()},
            expires_at=check_at + NOTIFY_WITHIN,
            user_id=pengingat.user_id,
            about=About("reminder", pengingat.id),
        )


def runs_out_on(pengingat: Pengingat, now: datetime) -> date | None:
    """Return the day of the last dose that the stock is enough for. Return today if it is not enough for one dose.

    Return None if the stock is enough for the whole course, or lasts so long that no notice is needed yet.
    """
    stock = _stock(pengingat)
    if stock is None:
        return None
    left, day = exact(stock["sisa"]), now.astimezone(pengingat.zone).date()
    until = now + (max(_borders(stock)) + 2) * DAY
    for due in pengingat.schedule.dues(now, until):
        if pengingat.counts_as_done(due.occurrence):
            continue
        left -= exact(_amount(pengingat, due.slot, due.at))
        if left < 0:
            return day
        day = due.at.astimezone(pengingat.zone).date()
    return None


def _stock(pengingat: Pengingat) -> Details | None:
    """Return the field `persediaan` of the details, or None if the stock is not tracked."""
    # Before the schema had this field, its value was stored without a check. So old reminders may have any value here.
    # Their `stock_check_at` is null.
    stock: Details | None = pengingat.details.get("persediaan") if pengingat.stock_check_at is not None else None
    return stock


def _set(pengingat: Pengingat, left: Decimal) -> None:
    stock = {**pengingat.details["persediaan"], "sisa": float(left)}
    pengingat.details = {**pengingat.details, "persediaan": stock}


def _amount(pengingat: Pengingat, slot: str, moment: datetime) -> float:
    """Return the amount of a dose, or 0 if the dose was removed from the details."""
    doses = doses_on(pengingat.details, pengingat.schedule, moment)
    return float(doses[int(slot)]["jumlah"]) if int(slot) < len(doses) else 0.0


def _borders(stock: Details) -> set[int]:
    return {stock["ingatkan_hari"], LAST_BORDER}


def _border(pengingat: Pengingat, day: date | None, now: datetime) -> int | None:
    """Return the lowest notice threshold that is reached, in days. Return None if no threshold is reached.

    The stock lasts until `day`. A threshold is reached if at most that many days are left until `day`.
    """
    stock = _stock(pengingat)
    if stock is None or day is None:
        return None
    days_left = (day - now.astimezone(pengingat.zone).date()).days
    return min((border for border in _borders(stock) if days_left <= border), default=None)


def _restock(pengingat: Pengingat, now: datetime) -> None:
    """Reset `stock_notified_days` after a change of the stock, so that the next shortage causes a new notice.

    If the stock is above all notice thresholds again, cancel the queued notices, because they are no longer true.
    """
    if pengingat.stock_notified_days is None:
        return
    border = _border(pengingat, runs_out_on(pengingat, now), now)
    if border is None:
        outbox.cancel(About("reminder", pengingat.id), [KIND])
    pengingat.stock_notified_days = None if border is None else max(border, pengingat.stock_notified_days)


def _next_check(pengingat: Pengingat, now: datetime) -> datetime:
    if pengingat.schedule.is_over(now):
        return NEVER
    today = now.astimezone(pengingat.zone).date()
    moments = (moment_of(day, TIME_OF_DAY, pengingat.zone) for day in (today, today + DAY, today + 2 * DAY))
    return next(moment for moment in moments if moment > now)
