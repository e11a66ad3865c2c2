"""Web page of a message's link, with time, type and three buttons. It works without JavaScript, for simple phones.

Chat apps fetch the page for a preview, and people may forward the link. So the page does not name the person or the
medicine, and a GET request changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from http import HTTPStatus
from zoneinfo import ZoneInfo

from flask import Response, redirect, request, url_for
from marshmallow import ValidationError

from app.core.errors import AppError, Gone
from app.core.settings import settings
from app.core.web.small_pages import SmallPages, error_page, small_page
from app.pengingat.ledger import statements
from app.pengingat.ledger.schemas import QuickAnswerCreate
from app.pengingat.models import Occurrence, OccurrenceState
from app.pengingat.one_tap import links
from app.pengingat.one_tap.routes import limit_answers
from app.pengingat.outgoing.texts import begun_large, calendar_day, clock_time
from app.pengingat.timetable.tipe import Tipe

bp = SmallPages("konfirmasi_page", __name__)

KINDS = {Tipe.OBAT: "obat", Tipe.MAKAN: "makan", Tipe.TERAPI: "terapi", Tipe.KONTROL: "kontrol"}
#: Additional state of this page: the occurrence is missed, and the next one has fallen due.
TOO_LATE = "too_late"
#: Sentence by state, if all occurrences of the link have the same state.
SAID = {
    OccurrenceState.PENDING: "",
    OccurrenceState.DONE: "Tercatat, terima kasih.",
    OccurrenceState.SKIPPED: "Tercatat: kali ini dilewati.",
    OccurrenceState.MISSED: 'Belum ada jawaban dari Anda. Kalau sudah, tekan "Sudah" sekarang.',
    TOO_LATE: "Waktu untuk menjawab pengingat ini sudah lewat.",
    OccurrenceState.VOID: "Jadwal ini sudah diubah atau dihapus.",
}
#: Words by state of one occurrence, if the occurrences of the link have different states.
SAID_OF_ONE = {
    OccurrenceState.PENDING: "belum dijawab",
    OccurrenceState.DONE: "sudah kami catat",
    OccurrenceState.SKIPPED: "kali ini dilewati",
    OccurrenceState.MISSED: "belum dijawab",
    TOO_LATE: "waktu untuk menjawab sudah lewat",
    OccurrenceState.VOID: "sudah diubah atau dihapus",
}
DONE, LATER, SKIPPED = ("done", "Sudah"), ("snooze", "Tunda 30 menit"), ("skipped", "Lewati")
#: Advice for an expired link.
LATEST = "Buka pesan kami yang terbaru."
#: Possible answers by state. If the states differ, the first one in this order is used.
BUTTONS = {
    OccurrenceState.PENDING: (DONE, LATER, SKIPPED),
    OccurrenceState.MISSED: (DONE,),
    OccurrenceState.DONE: (("skipped", 'Salah tekan? Ganti ke "Lewati"'),),
    OccurrenceState.SKIPPED: (("done", 'Ternyata sudah? Ganti ke "Sudah"'),),
    TOO_LATE: (),
    OccurrenceState.VOID: (),
}
#: Answers if some occurrences are done and others are skipped. Each button changes all occurrences.
CHANGE_ALL = (("done", "Semua sudah"), ("skipped", "Semua dilewati"))


@bp.get("/k/<token>")
@limit_answers
def show_link(token: str) -> Response:
    """Show the question and the answers so far."""
    return _page(token)


@bp.post("/k/<token>")
@limit_answers
def answer_link(token: str) -> Response:
    """Record the answer, and redirect to the page, which can be reloaded without a second answer."""
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
    too_late = statements.too_late([row.id for row in asked.occurrences])
    times = [
        _Time(row, TOO_LATE if row.id in too_late else OccurrenceState(row.state), asked.zone)
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
    """One occurrence of a link, in words that do not name the person or the medicine."""

    def __init__(self, row: Occurrence, state: str, zone: ZoneInfo) -> None:
        self.state, self.kind, self.due_at = state, KINDS[Tipe(row.tipe)], row.due_at.astimezone(zone)
        self.sentence, self.words = SAID[state], SAID_OF_ONE[state]
        if state == OccurrenceState.PENDING and row.snoozed_until is not None:
            self.words = f"ditunda sampai pukul {clock_time(row.snoozed_until.astimezone(zone))}"
            self.sentence = f"{begun_large(self.words)}."


def _title(times: list[_Time]) -> str:
    """Return for example `Obat pukul 06.30 WIB` or `Makan dan obat, pukul 06.30 WIB`."""
    kinds = _joined(time.kind for time in times)
    comma = "," if len({time.kind for time in times}) > 1 else ""
    return f"{begun_large(kinds)}{comma} pukul {_joined(clock_time(time.due_at) for time in times)}"


def _said(times: list[_Time], message: str | None) -> list[str]:
    """Return the lines of the status: one sentence if it is the same for all, else one line for each occurrence."""
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
    """Return these words in one list without duplicates: `makan`, `makan dan obat`, `makan, obat dan terapi`."""
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} dan {last}" if first else last
