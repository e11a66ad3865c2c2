"""Web page behind the link in a message. It shows each time of the message with its answer, and the buttons.

A message may be about several times: they have the same numbers here. A button answers all of them, see
`answers.answer_all`.

The page works without JavaScript, for simple phones. It does not name the person or the medicine, because people may
forward the link. A GET request changes nothing, because chat apps fetch the page for a preview.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
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
DONE, LATER, SKIPPED = ("done", "Sudah"), ("snooze", "Tunda 30 menit"), ("skipped", "Lewati")
#: Buttons of a list whose times are all answered, but not all with the same answer.
CHANGE_ALL = (("done", "Semua sudah"), ("skipped", "Semua dilewati"))
#: Sentence above the buttons of a list whose times are all answered.
CHANGES = "Tombol di bawah ini mengubah semua jawaban."
#: Advice on the page of an expired link.
LATEST = "Buka pesan kami yang terbaru."


@dataclass(frozen=True)
class StateTexts:
    """Texts of the page for one state."""

    #: Words in the line of a list.
    words: str
    #: Sentence on the page of a single time.
    sentence: str
    buttons: tuple[tuple[str, str], ...] = ()
    #: Sentence above the buttons of a list.
    advice: str = ""


#: Texts by state. The page has the buttons of only one state: the state that comes first in this dictionary.
TEXTS = {
    OccurrenceState.PENDING: StateTexts(
        "belum dijawab", "", (DONE, LATER, SKIPPED), "Tombol di bawah ini menjawab semua yang belum dijawab."
    ),
    OccurrenceState.MISSED: StateTexts(
        "terlewat, belum dijawab",
        'Belum ada jawaban dari Anda. Kalau sudah, tekan "Sudah" sekarang.',
        (DONE,),
        "Tombol di bawah ini menjawab semua yang terlewat.",
    ),
    OccurrenceState.DONE: StateTexts(
        "sudah kami catat", "Tercatat, terima kasih.", (("skipped", 'Salah tekan? Ganti ke "Lewati"'),), CHANGES
    ),
    OccurrenceState.SKIPPED: StateTexts(
        "dilewati", "Tercatat: kali ini dilewati.", (("done", 'Ternyata sudah? Ganti ke "Sudah"'),), CHANGES
    ),
    TOO_LATE: StateTexts("waktu menjawab sudah lewat", "Waktu untuk menjawab pengingat ini sudah lewat."),
    OccurrenceState.VOID: StateTexts("sudah diubah atau dihapus", "Jadwal ini sudah diubah atau dihapus."),
}


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
    times = [_Time(row, asked.zone, local_time.now()) for row in asked.occurrences]
    is_list = len(times) > 1
    lines = [f"{number}. {time.name}: {time.words}" for number, time in enumerate(times, 1)]
    states = {time.state for time in times}
    first = min(states, key=list(TEXTS).index)
    return small_page(
        "konfirmasi.html",
        status,
        title=f"{len(times)} pengingat" if is_list else times[0].name,
        when=" dan ".join(dict.fromkeys(calendar_day(time.due_at) for time in times)),
        said=list(filter(None, [message, *(lines if is_list else [times[0].sentence])])),
        advice=TEXTS[first].advice if is_list else "",
        buttons=CHANGE_ALL
        if first == OccurrenceState.DONE and OccurrenceState.SKIPPED in states
        else TEXTS[first].buttons,
    )


class _Time:
    """Texts for one time of a link. They do not name the person or the medicine."""

    def __init__(self, row: Occurrence, zone: ZoneInfo, now: datetime) -> None:
        self.state = TOO_LATE if rows.is_too_late(row, now) else OccurrenceState(row.state)
        self.due_at = row.due_at.astimezone(zone)
        self.name = f"{begun_large(row.tipe)} pukul {clock_time(self.due_at)}"
        self.words, self.sentence = TEXTS[self.state].words, TEXTS[self.state].sentence
        if self.state == OccurrenceState.PENDING and row.snoozed_until is not None:
            self.words = f"ditunda sampai pukul {clock_time(row.snoozed_until.astimezone(zone))}"
            self.sentence = f"{begun_large(self.words)}."
