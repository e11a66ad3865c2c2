"""Web page behind the link in a message. It shows the time and type of the reminder, and three buttons.

The page works without JavaScript, for simple phones. It does not name the person or the medicine, because people may
forward the link. A GET request changes nothing, because chat apps fetch the page for a preview.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus
from zoneinfo import ZoneInfo

from flask import Response, redirect, request, url_for
from marshmallow import ValidationError

from app.core.errors import AppError, Gone
from app.core.lib import local_time
from app.core.lib.local_time import calendar_day, clock_time
from app.core.settings import settings
from app.core.web.small_pages import SmallPages, error_page, small_page
from app.pengingat.ledger import rows
from app.pengingat.ledger.schemas import QuickAnswerCreate
from app.pengingat.models import Occurrence, OccurrenceState
from app.pengingat.one_tap import links
from app.pengingat.one_tap.routes import limit_answers
from app.pengingat.outgoing.texts import begun_large

bp = SmallPages("konfirmasi_page", __name__)

#: Additional state on this page: the reminder was missed, and the time to answer it is over.
TOO_LATE = "too_late"
#: Sentences by state. The page shows one of them if all due times of the link have the same state.
SAID = {
    OccurrenceState.PENDING: "",
    OccurrenceState.DONE: "Tercatat, terima kasih.",
    OccurrenceState.SKIPPED: "Tercatat: kali ini dilewati.",
    OccurrenceState.MISSED: 'Belum ada jawaban dari Anda. Kalau sudah, tekan "Sudah" sekarang.',
    TOO_LATE: "Waktu untuk menjawab pengingat ini sudah lewat.",
    OccurrenceState.VOID: "Jadwal ini sudah diubah atau dihapus.",
}
#: Words by state. If the due times of the link have different states, the page shows these words for each due time.
SAID_OF_ONE = {
    OccurrenceState.PENDING: "belum dijawab",
    OccurrenceState.DONE: "sudah kami catat",
    OccurrenceState.SKIPPED: "kali ini dilewati",
    OccurrenceState.MISSED: "belum dijawab",
    TOO_LATE: "waktu untuk menjawab sudah lewat",
    OccurrenceState.VOID: "sudah diubah atau dihapus",
}
DONE, LATER, SKIPPED = ("done", "Sudah"), ("snooze", "Tunda 30 menit"), ("skipped", "Lewati")
#: Advice on the page of an expired link.
LATEST = "Buka pesan kami yang terbaru."
#: Buttons by state. If the due times of a link have different states, the page shows the buttons of only one state:
#: the state that comes first in this dictionary.
BUTTONS = {
    OccurrenceState.PENDING: (DONE, LATER, SKIPPED),
    OccurrenceState.MISSED: (DONE,),
    OccurrenceState.DONE: (("skipped", 'Salah tekan? Ganti ke "Lewati"'),),
    OccurrenceState.SKIPPED: (("done", 'Ternyata sudah? Ganti ke "Sudah"'),),
    TOO_LATE: (),
    OccurrenceState.VOID: (),
}
#: Buttons if some due times of a link are done and others are skipped, and none is pending or missed. Each button
#: changes all answers.
CHANGE_ALL = (("done", "Semua sudah"), ("skipped", "Semua dilewati"))


@bp.get("/k/<token>")
@limit_answers
def show_link(token: str) -> Response:
    """Show the page with the reminder, its present answer and the buttons."""
    return _page(token)


@bp.post("/k/<token>")
@limit_answers
def answer_link(token: str) -> Response:
    """Record the answer. Then redirect to the page, so that reloading does not send the answer a second time."""
    try:
        links.answer(token, QuickAnswerCreate().load({"status": request.form.get("status")}))
    except ValidationError:
        return _page(token, HTTPStatus.BAD_REQUEST)
    except AppError as error:
        return _page(token, error.status, error.message)
    return redirect(url_for(".show_link", token=token), HTTPStatus.SEE_OTHER)  # type: ignore[return-value]


def _page(token: str, status: int = HTTPStatus.OK, message: str | None = None) -> Response:
    try:
        asked = links.get_targets(token)
    except AppError as error:
        message = f"{links.EXPIRED} {LATEST}" if isinstance(error, Gone) else error.message
        return error_page(error.status, message, address=settings.frontend_url)
    now = local_time.now()
    times = [
        _Time(row, TOO_LATE if rows.is_too_late(row, now) else OccurrenceState(row.state), asked.zone)
        for row in asked.occurrences
    ]
    states = {time.state for time in times}
    first = min(states, key=list(BUTTONS).index)
    return small_page(
        "konfirmasi.html",
        status,
        title=_title(times),
        when=_joined(calendar_day(time.due_at) for time in times),
        said=_said(times, message),
        buttons=CHANGE_ALL if first == OccurrenceState.DONE and OccurrenceState.SKIPPED in states else BUTTONS[first],
    )


class _Time:
    """Texts for one due time of a link. They do not name the person or the medicine."""

    def __init__(self, row: Occurrence, state: str, zone: ZoneInfo) -> None:
        self.state, self.kind, self.due_at = state, row.tipe, row.due_at.astimezone(zone)
        self.sentence, self.words = SAID[state], SAID_OF_ONE[state]
        if state == OccurrenceState.PENDING and row.snoozed_until is not None:
            self.words = f"ditunda sampai pukul {clock_time(row.snoozed_until.astimezone(zone))}"
            self.sentence = f"{begun_large(self.words)}."


def _title(times: list[_Time]) -> str:
    """Return the title of the page, for example `Obat pukul 06.30 WIB` or `Makan dan obat, pukul 06.30 WIB`."""
    kinds = _joined(time.kind for time in times)
    comma = "," if len({time.kind for time in times}) > 1 else ""
    return f"{begun_large(kinds)}{comma} pukul {_joined(clock_time(time.due_at) for time in times)}"


def _said(times: list[_Time], message: str | None) -> list[str]:
    """Return one sentence if all due times have the same state. Otherwise return one line for each due time."""
    if len({time.sentence for time in times}) == 1:
        sentence = " ".join(filter(None, [message, times[0].sentence]))
        return [sentence] if sentence else []
    counts = Counter((time.kind, clock_time(time.due_at), time.words) for time in times)
    lines = [
        begun_large(f"{f'{count} ' if count > 1 else ''}{kind} pukul {at}: {words}.")
        for (kind, at, words), count in counts.items()
    ]
    return [message, *lines] if message else lines


def _joined(words: Iterable[str]) -> str:
    """Join words, without duplicates: `makan`, `makan dan obat`, `makan, obat dan terapi`."""
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} dan {last}" if first else last
