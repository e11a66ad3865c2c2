"""The page behind a message's link: time and kind, and three buttons. Without script, for the smallest of phones.

Chat previews fetch it and it may be forwarded, so it names neither the person nor the medicine, and showing it changes
nothing.
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, redirect, request, url_for
from marshmallow import ValidationError

from app.core.errors import AppError
from app.core.web.small_pages import SmallPages, small_page
from app.pengingat import links
from app.pengingat.ledger_schemas import QuickAnswerCreate
from app.pengingat.link_routes import limit_answers
from app.pengingat.models import Occurrence, State, Tipe
from app.pengingat.texts import calendar_day, clock_time

bp = SmallPages("konfirmasi_page", __name__)

KINDS = {Tipe.OBAT: "Obat", Tipe.MAKAN: "Makan", Tipe.TERAPI: "Terapi", Tipe.KONTROL: "Kontrol"}
#: Beside the states of the ledger: missed, and the next one has fallen due.
TOO_LATE = "too_late"
#: What has become of it so far, by state.
SAID = {
    State.DONE: "Sudah dicatat: selesai. Terima kasih.",
    State.SKIPPED: "Sudah dicatat: dilewati.",
    State.MISSED: "Belum dijawab dalam satu jam. Anda masih dapat mencatatnya.",
    TOO_LATE: "Tidak dijawab sampai jadwal berikutnya tiba, jadi tidak dapat dicatat lagi.",
    State.VOID: "Jadwal ini sudah diubah atau dihapus.",
}
DONE, LATER, SKIPPED = ("done", "Sudah"), ("snooze", "Tunda 30 menit"), ("skipped", "Lewati")
#: What may still be said, by state; of several in one link the first of these counts.
BUTTONS = {
    State.PENDING: (DONE, LATER, SKIPPED),
    State.MISSED: (DONE,),
    State.DONE: (("skipped", "Ubah menjadi dilewati"),),
    State.SKIPPED: (("done", "Ubah menjadi sudah"),),
    TOO_LATE: (),
    State.VOID: (),
}


@bp.get("/k/<token>")
@limit_answers
def show_link(token: str) -> Response:
    """What is asked, and what has been said so far."""
    return _page(token)


@bp.post("/k/<token>")
@limit_answers
def answer_link(token: str) -> Response:
    """Note the answer, and show it by the address that may be loaded again."""
    try:
        links.answer(token, QuickAnswerCreate().load({"status": request.form.get("status")}))
    except ValidationError:
        return _page(token, HTTPStatus.BAD_REQUEST)
    except AppError as error:
        return _page(token, error.status, error.message)
    return redirect(url_for(".show_link", token=token), HTTPStatus.SEE_OTHER)  # type: ignore[return-value]


def _page(token: str, status: int = HTTPStatus.OK, message: str | None = None) -> Response:
    try:
        asked = links.look(token)
    except AppError as error:
        return small_page("konfirmasi.html", error.status, title=error.message)
    too_late = links.too_late(asked)
    states = {row.id: TOO_LATE if row.id in too_late else State(row.state) for row in asked.occurrences}
    first = min(asked.occurrences, key=lambda row: list(BUTTONS).index(states[row.id]))
    state, local = states[first.id], first.due_at.astimezone(asked.zone)
    kinds = dict.fromkeys(KINDS[Tipe(row.tipe)] for row in asked.occurrences)
    times = dict.fromkeys(clock_time(row.due_at.astimezone(asked.zone)) for row in asked.occurrences)
    said = " ".join(filter(None, [message, SAID.get(state) or _put_off(first, asked)]))
    return small_page(
        "konfirmasi.html",
        status,
        title=f"{', '.join(kinds)} pukul {', '.join(times)}",
        when=calendar_day(local),
        said=said,
        buttons=BUTTONS[state],
    )


def _put_off(occurrence: Occurrence, asked: links.Asked) -> str:
    if occurrence.snoozed_until is None:
        return ""
    return f"Ditunda sampai pukul {clock_time(occurrence.snoozed_until.astimezone(asked.zone))}."
