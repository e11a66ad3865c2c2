"""What a patient is told of who cares for them. The name is a stranger's choice: no web address leaves in it."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from datetime import timedelta

import sqlalchemy as sa

from app.core.lib.addresses import without_addresses
from app.core.settings import settings
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications.messages import tell_user
from app.notifications.models import SECURITY_NOTICE, Channel, Delivery, Receipt, State

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


def last_told(patient_id: int, within: timedelta) -> sa.Select[int]:
    """The id of the link that a message told a patient of last, within so long; it may have been cut since.

    One that failed comes after all that may have arrived: the patient can have read of it in the application alone.
    """
    has_failed = sa.and_(Delivery.state.in_((State.FAILED, State.MISSED, State.CANCELLED)), Delivery.unknowns == 0)
    has_left = sa.and_(~has_failed, Delivery.receipt.is_distinct_from(Receipt.FAILED))
    return (
        sa.select(sa.cast(sa.func.split_part(Delivery.dedupe_key, ":", 2), sa.BigInteger))
        .where(
            Delivery.user_id == patient_id,
            Delivery.channel == Channel.MESSAGING,
            Delivery.dedupe_key.startswith(f"{SUBJECT}:", autoescape=True),
            Delivery.created_at > sa.func.now() - within,
        )
        .order_by(has_left.desc(), Delivery.created_at.desc(), Delivery.id.desc())
        .limit(1)
    )


def linked(link: CaregiverLink, caregiver: User) -> None:
    """Tell the patient, by message and push, who has just become a caregiver of theirs and what they may do.

    Each call tells: what was taken back and is allowed again is news. Whoever calls holds the link, and has changed it.
    """
    occasion = uuid.uuid4()
    text = f"{_name(caregiver)} kini tercatat sebagai pendamping Anda. {_allowed(link.scopes)}"
    tell_user(
        link.patient_id,
        text=f"{text} {CUT_BY_WORD if settings.hears_people else CUT}",
        title=TITLE,
        body=f"{text} {CUT}",
        kind=SECURITY_NOTICE,
        dedupe_key=f"{SUBJECT}:{link.id}:{occasion}",
        expires_in=LIFETIME,
        about=[link.caregiver_id],
    )


def _allowed(scopes: Collection[str]) -> str:
    may = [words for scope, words in MAY.items() if scope in scopes]
    return f"Ia boleh {', '.join(may)}." if may else NOTHING


def _name(caregiver: User) -> str:
    name = without_addresses(caregiver.nama_ktp) or SOMEBODY
    return name if len(name) <= MOST_CHARACTERS else name[: MOST_CHARACTERS - 1] + "…"
