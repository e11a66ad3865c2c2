"""What a patient is told of who cares for them. The name is a stranger's choice: no web address leaves in it."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import timedelta

import sqlalchemy as sa

from app.core.database.session import autocommit
from app.core.lib.addresses import without_addresses
from app.core.settings import settings
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import tell_user
from app.notifications.models import SECURITY_NOTICE, About, Channel, Delivery, Receipt, State

SUBJECT = "caregiver_link"
LIFETIME = timedelta(days=7)

TITLE = "Pendamping baru"
#: Who has a name of nothing but web addresses.
SOMEBODY = "Seseorang"
MOST_CHARACTERS = 40

#: What a caregiver may do, in the words that patients and caregivers read.
MAY = {
    Scope.ALERTS: "diberi tahu bila obat belum ditandai",
    Scope.HISTORY: "melihat riwayat dan kepatuhan",
    Scope.MANAGE: "mengatur pengingat",
}
NOTHING = "Yang tampak baginya hanya nama Anda."
CUT = "Bila Anda tidak setuju, hapus hubungan ini di aplikasi."
CUT_BY_WORD = "Bila Anda tidak setuju, hapus hubungan ini di aplikasi atau balas PUTUS."


def last_told(patient_id: int, within: timedelta) -> sa.Select[int | None]:
    """The id of the link that a message told a patient of last, within so long; it may have been cut since.

    One that failed comes after all that may have arrived: the patient can have read of it in the application alone.
    """
    has_failed = sa.and_(Delivery.state.in_((State.FAILED, State.MISSED, State.CANCELLED)), Delivery.unknowns == 0)
    has_left = sa.and_(~has_failed, Delivery.receipt.is_distinct_from(Receipt.FAILED))
    return (
        sa.select(Delivery.about_id)
        .where(
            Delivery.user_id == patient_id,
            Delivery.channel == Channel.MESSAGING,
            Delivery.about_type == SUBJECT,
            Delivery.created_at > sa.func.now() - within,
        )
        .order_by(has_left.desc(), Delivery.created_at.desc(), Delivery.id.desc())
        .limit(1)
    )


def linked(link: CaregiverLink) -> None:
    """Tell the patient, by message and push, who has just become a caregiver of theirs and what they may do.

    Each call tells: what was taken back and is allowed again is news. Whoever calls holds the link, and has changed it.
    """
    tell_user(
        link.patient_id,
        kind=SECURITY_NOTICE,
        dedupe_key=f"{SUBJECT}:{link.id}:{uuid.uuid4()}",
        expires_in=LIFETIME,
        about=About(SUBJECT, link.id),
    )


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Read the words of notices about caregivers. A link that was cut has none."""
    which = CaregiverLink.id.in_([each.about_id for each in deliveries])
    links = sa.select(CaregiverLink.id, User.nama_ktp, CaregiverLink.scopes)
    with autocommit() as connection:
        rows = connection.execute(links.join(User, User.id == CaregiverLink.caregiver_id).where(which)).all()
    told = {id_: (name, scopes) for id_, name, scopes in rows}
    return {each.id: _words(each, *told[each.about_id]) for each in deliveries if each.about_id in told}


def _words(delivery: Claimed, name: str, scopes: Collection[str]) -> Words:
    text = f"{_name(name)} kini tercatat sebagai pendamping Anda. {_allowed(scopes)}"
    cut = CUT_BY_WORD if settings.hears_people else CUT
    return rendering.notice(delivery, text=f"{text} {cut}", title=TITLE, body=f"{text} {CUT}")


def _allowed(scopes: Collection[str]) -> str:
    may = [words for scope, words in MAY.items() if scope in scopes]
    return f"Ia boleh {', '.join(may)}." if may else NOTHING


def _name(nama_ktp: str) -> str:
    name = without_addresses(nama_ktp) or SOMEBODY
    return name if len(name) <= MOST_CHARACTERS else name[: MOST_CHARACTERS - 1] + "…"
