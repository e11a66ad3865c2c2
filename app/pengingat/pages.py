"""The page behind a message's link: time and kind, and three buttons. Without script, for the smallest of phones.

Chat previews fetch it and it may be forwarded, so it names neither the person nor the medicine, and showing it changes
nothing.
"""

from __future__ import annotations

import base64
import hashlib
from http import HTTPStatus

from flask import Response, redirect, render_template, request, url_for
from marshmallow import ValidationError

from app.core.errors import AppError
from app.core.web.blueprint import PageBlueprint
from app.core.web.rate_limits import limit
from app.pengingat import links
from app.pengingat.ledger_schemas import QuickAnswerCreate
from app.pengingat.models import Occurrence, State, Tipe
from app.pengingat.texts import calendar_day, clock_time

bp = PageBlueprint("konfirmasi_page", __name__)

KINDS = {Tipe.OBAT: "Obat", Tipe.MAKAN: "Makan", Tipe.TERAPI: "Terapi", Tipe.KONTROL: "Kontrol"}
#: Plain enough for a browser from 2016.
STYLE = (
    "body{margin:0;font:18px/1.5 sans-serif;color:#1f2937;background:#fff}"
    "main{max-width:26em;margin:0 auto;padding:24px 16px}"
    "h1{font-size:26px;line-height:1.3;margin:0 0 8px}p{margin:0 0 20px}"
    ".said{padding:12px 16px;border-left:6px solid #0f766e;background:#ecfdf5}"
    "button{display:block;width:100%;min-height:64px;margin:0 0 16px;padding:12px;font:bold 20px sans-serif;"
    "border:2px solid #0f766e;border-radius:10px;background:#fff;color:#115e59;cursor:pointer}"
    "button.first{background:#0f766e;color:#fff}button:focus{outline:4px solid #f59e0b;outline-offset:2px}"
    ".small{font-size:16px;color:#4b5563}"
    "@media (prefers-color-scheme:dark){body{background:#111827;color:#f3f4f6}.said{background:#134e4a}"
    "button{background:#111827;color:#99f6e4;border-color:#2dd4bf}button.first{background:#2dd4bf;color:#042f2e}"
    ".small{color:#d1d5db}}"
)
_digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_digest}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

#: What has become of it so far, by state.
SAID = {
    State.DONE: "Sudah dicatat: selesai. Terima kasih.",
    State.SKIPPED: "Sudah dicatat: dilewati.",
    State.MISSED: "Belum dijawab dalam satu jam. Anda masih dapat mencatatnya.",
    State.VOID: "Jadwal ini sudah diubah atau dihapus.",
}
DONE, LATER, SKIPPED = ("done", "Sudah"), ("snooze", "Tunda 30 menit"), ("skipped", "Lewati")
#: What may still be said, by state.
BUTTONS = {
    State.PENDING: (DONE, LATER, SKIPPED),
    State.DONE: (("skipped", "Ubah menjadi dilewati"),),
    State.SKIPPED: (("done", "Ubah menjadi sudah"),),
    State.MISSED: (DONE,),
    State.VOID: (),
}


@bp.get("/k/<token>")
@limit("60 per minute")
def show_link(token: str) -> Response:
    """What is asked, and what has been said so far."""
    return _page(token)


@bp.post("/k/<token>")
@limit("60 per minute")
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
        text = render_template("konfirmasi.html", style=STYLE, title=error.message, when="", said="", buttons=())
        return Response(text, error.status, HEADERS)
    first = min(asked.occurrences, key=lambda row: list(BUTTONS).index(State(row.state)))
    state, local = State(first.state), first.due_at.astimezone(asked.zone)
    kinds = dict.fromkeys(KINDS[Tipe(row.tipe)] for row in asked.occurrences)
    said = message or SAID.get(state) or _put_off(first, asked)
    text = render_template(
        "konfirmasi.html",
        style=STYLE,
        title=f"{', '.join(kinds)} pukul {clock_time(local)}",
        when=calendar_day(local),
        said=said,
        buttons=BUTTONS[state],
    )
    return Response(text, status, HEADERS)


def _put_off(occurrence: Occurrence, asked: links.Asked) -> str:
    if occurrence.snoozed_until is None:
        return ""
    return f"Ditunda sampai pukul {clock_time(occurrence.snoozed_until.astimezone(asked.zone))}."
