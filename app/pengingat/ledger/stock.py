"""What is left of a medicine: each dose that is done goes out of it once, and its person is told before it runs out.

It never holds up a reminder. At 0 it stays there and the doses go on: who has run out by our count has perhaps bought
more without telling us, and a dose that is not reminded of does more harm than a wrong figure.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

from app.core.errors import Conflict, ValidationFailed
from app.notifications import outbox
from app.notifications.models import About, Channel
from app.pengingat.details_schemas import MOST_IN_STOCK
from app.pengingat.ledger.statements import Row
from app.pengingat.models import Pengingat, State
from app.pengingat.timetable.plans import doses_on
from app.pengingat.timetable.schedule import DAY, NEVER, moment_of
from app.pengingat.timetable.tipe import Details, Tipe

KIND = "stock"

#: Decimals that a figure is kept with: halves and tenths of a tablet must add up.
DECIMALS = 6

#: When it is looked at, in the zone of the reminder, and for how long what was found then is worth telling.
TIME_OF_DAY = time(9)
TELL_WITHIN = timedelta(hours=12)
#: Days left at which the person is told once more, whatever border they chose themselves.
LAST_BORDER = 2


class StockNotTracked(Conflict):
    code = "stock_not_tracked"
    message = "Persediaan obat ini belum dicatat. Isi dahulu sisanya."


def track(pengingat: Pengingat, now: datetime) -> None:
    """Follow new details: whether there is a stock to look at, and what is known of it by now."""
    has_stock = pengingat.tipe == Tipe.OBAT and pengingat.details.get("persediaan") is not None
    pengingat.stock_check_at = _next_look(pengingat, now) if has_stock else None
    _restock(pengingat, now)


def add(pengingat: Pengingat, amount: float, now: datetime) -> None:
    """Add what was bought. `StockNotTracked` where nobody said what was there before; the reminder is locked."""
    stock = _stock(pengingat)
    if stock is None:
        raise StockNotTracked
    if stock["sisa"] + amount > MOST_IN_STOCK:
        raise ValidationFailed({"tambah": [f"terlalu banyak, persediaan maksimal {MOST_IN_STOCK}."]})
    _set(pengingat, stock["sisa"] + amount)
    _restock(pengingat, now)


def take(pengingat: Pengingat, row: Row, state: State) -> float | None:
    """Return what this dose takes out of the stock in this state, and change the stock by the difference.

    The row keeps what it took, and the reminder is locked: each dose goes out of the stock once. A row of another
    `tipe`, from before an edit, takes nothing.
    """
    stock, taken = _stock(pengingat), row.taken or 0.0
    if state != State.DONE:
        if stock is not None and taken:
            _set(pengingat, stock["sisa"] + taken)
        return None
    if stock is None or row.tipe != Tipe.OBAT:
        return None
    amount: float = min(_amount(pengingat, row.slot, row.due_at), stock["sisa"])
    _set(pengingat, stock["sisa"] - amount)
    return amount


def look(pengingat: Pengingat, now: datetime) -> Iterator[outbox.Draft]:
    """What the person is to be told this day of what is left; sets when to look next."""
    looked_for = pengingat.stock_check_at or now
    pengingat.stock_check_at = _next_look(pengingat, now)
    day = runs_out_on(pengingat, now)
    border = _border(pengingat, day, now)
    is_told = pengingat.stock_told is not None and border is not None and pengingat.stock_told <= border
    if day is None or border is None or is_told or now >= looked_for + TELL_WITHIN:
        return
    pengingat.stock_told = border
    for channel in (Channel.MESSAGING, Channel.PUSH_FAN_OUT):
        yield outbox.Draft(
            kind=KIND,
            channel=channel,
            dedupe_key=f"persediaan:{pengingat.id}:{looked_for:%Y%m%dT%H%M%SZ}:{channel}",
            payload={"day": day.isoformat()},
            expires_at=looked_for + TELL_WITHIN,
            user_id=pengingat.user_id,
            about=About("reminder", pengingat.id),
        )


def runs_out_on(pengingat: Pengingat, now: datetime) -> date | None:
    """The day of the last dose that the stock is enough for, by the doses to come; today where it is enough for none.

    None where it is enough for the course, or for longer than anybody wants to know.
    """
    stock = _stock(pengingat)
    if stock is None:
        return None
    left, day = stock["sisa"], now.astimezone(pengingat.zone).date()
    until = now + (max(_borders(stock)) + 2) * DAY
    for due in pengingat.schedule.dues(now, until):
        if pengingat.counts_as_done(due.occurrence):
            continue
        left = round(left - _amount(pengingat, due.slot, due.at), DECIMALS)
        if left < 0:
            return day
        day = due.at.astimezone(pengingat.zone).date()
    return None


def _stock(pengingat: Pengingat) -> Details | None:
    """`persediaan`; None where it is not counted."""
    # Kept beside the known fields before it was one, it may be anything: then nobody looks at it either.
    stock: Details | None = pengingat.details.get("persediaan") if pengingat.stock_check_at is not None else None
    return stock


def _set(pengingat: Pengingat, left: float) -> None:
    stock = {**pengingat.details["persediaan"], "sisa": round(left, DECIMALS)}
    pengingat.details = {**pengingat.details, "persediaan": stock}


def _amount(pengingat: Pengingat, slot: str, moment: datetime) -> float:
    """How much a dose is; nothing where the details, changed since, have no such dose."""
    doses = doses_on(pengingat.details, pengingat.schedule, moment)
    return float(doses[int(slot)]["jumlah"]) if int(slot) < len(doses) else 0.0


def _borders(stock: Details) -> set[int]:
    return {stock["ingatkan_hari"], LAST_BORDER}


def _border(pengingat: Pengingat, day: date | None, now: datetime) -> int | None:
    """The lowest border, in days left, that a stock which lasts until a day has crossed."""
    stock = _stock(pengingat)
    if stock is None or day is None:
        return None
    days_left = (day - now.astimezone(pengingat.zone).date()).days
    return min((border for border in _borders(stock) if days_left <= border), default=None)


def _restock(pengingat: Pengingat, now: datetime) -> None:
    """Of a border that is not crossed any more the person is told again when it is.

    What is on its way is not true then. A lower border than they were told of is still to be told.
    """
    if pengingat.stock_told is None:
        return
    border = _border(pengingat, runs_out_on(pengingat, now), now)
    if border is None:
        outbox.cancel(About("reminder", pengingat.id), [KIND])
    pengingat.stock_told = None if border is None else max(border, pengingat.stock_told)


def _next_look(pengingat: Pengingat, now: datetime) -> datetime:
    if pengingat.schedule.is_over(now):
        return NEVER
    today = now.astimezone(pengingat.zone).date()
    moments = (moment_of(day, TIME_OF_DAY, pengingat.zone) for day in (today, today + DAY, today + 2 * DAY))
    return next(moment for moment in moments if moment > now)
