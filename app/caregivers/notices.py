"""Notices that inform a patient about a new caregiver or about new rights of a caregiver.

A caregiver link connects one caregiver with one patient. The caregiver's name is user input, so links in
it are broken.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.break_links import break_links
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.models import SECURITY_NOTICE

#: Value of `event` in the payload of a notice. The payload also has the id of the caregiver link.
LINKED = "caregiver_linked"
LIFETIME = timedelta(days=7)

TITLE = "Pendamping baru"

#: Texts that say what a caregiver may do, by scope.
MAY = {
    Scope.ALERTS: "mendapat kabar kalau obat belum ditandai",
    Scope.HISTORY: "melihat riwayat dan kepatuhan",
    Scope.MANAGE: "mengatur pengingat",
}
CUT = "Tidak setuju? Hapus pendamping ini di aplikasi."
NOTHING = "Ia hanya melihat nama Anda."


def linked(link: CaregiverLink) -> None:
    """Notify the patient, by message and push, of a new caregiver or of new scopes (rights) of a caregiver."""
    outbox.send(
        outbox.NewDelivery(
            kind=SECURITY_NOTICE,
            dedupe_key=f"{LINKED}:{link.id}:{uuid.uuid4()}",
            user_id=link.patient_id,
            payload={"event": LINKED, "link": link.id},
            expires_in=LIFETIME,
        )
    )


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of the notices, by delivery id. A notice about a deleted link gets no text."""
    which = CaregiverLink.id.in_([each.payload["link"] for each in deliveries])
    links = sa.select(CaregiverLink.id, User.nama_ktp, CaregiverLink.scopes)
    rows = db.session.execute(links.join(User, User.id == CaregiverLink.caregiver_id).where(which))
    texts = {row.id: _text(row.nama_ktp, row.scopes) for row in rows}
    return {
        each.id: rendering.notice(each, text=text, title=TITLE, body=text)
        for each in deliveries
        if (text := texts.get(each.payload["link"]))
    }


def _text(name: str, scopes: Collection[str]) -> str:
    may = [words for scope, words in MAY.items() if scope in scopes]
    allowed = f"Ia bisa {', '.join(may)}." if may else NOTHING
    return f"{break_links(name)} sekarang menjadi pendamping Anda. {allowed} {CUT}"
