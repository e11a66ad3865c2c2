"""Notices that inform a patient about a new caregiver or about new rights of a caregiver.

A caregiver link connects one caregiver with one patient. The caregiver's name is user input, so links in
it are broken.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from app.core.database import db_time
from app.core.database.session import db
from app.core.lib.break_links import break_links
from app.core.settings import settings
from app.identity import care
from app.identity.care import CaregiverLink, Scope
from app.identity.models import User
from app.notifications import outbox
from app.notifications.delivery import rendering
from app.notifications.delivery.claims import Claimed
from app.notifications.delivery.sealing import Words
from app.notifications.messages import notify_user
from app.notifications.models import SECURITY_NOTICE, About, Channel, Delivery, DeliveryState, Receipt

SUBJECT = care.LINK
#: Value of the outbox column `about_type` for a notice about several new links.
GATHERED = "caregiver_links"
LIFETIME = timedelta(days=7)
#: Maximum notices per day to one patient, if each notice is about a single link. Further links are reported in one
#: common notice.
MAX_PER_DAY = 3
DAY = timedelta(days=1)
#: Maximum names in a notice about several links.
MAX_NAMES = 3

TITLE = "Pendamping baru"

#: Texts that say what a caregiver may do, by scope.
MAY = {
    Scope.ALERTS: "mendapat kabar kalau obat belum ditandai",
    Scope.HISTORY: "melihat riwayat dan kepatuhan",
    Scope.MANAGE: "mengatur pengingat",
}
NOTHING = "Ia hanya melihat nama Anda."
CUT = "Tidak setuju? Hapus pendamping ini di aplikasi."
CUT_BY_WORD = "Tidak setuju? Hapus pendamping ini di aplikasi, atau balas PUTUS."

CUT_SEVERAL = "Tidak setuju? Hapus pendamping itu di aplikasi."


def last_notified_link(patient_id: int, within: timedelta) -> sa.Select[int | None]:
    """Return a query that finds the latest notice to a patient, and selects the id of its caregiver link.

    The id is None if the notice is about several links. The link may be deleted by now. Notices that are older than
    `within` do not count. A failed notice did not reach the patient, so it counts only if there is no other notice.
    """
    has_failed = sa.and_(
        Delivery.state.in_((DeliveryState.FAILED, DeliveryState.MISSED, DeliveryState.CANCELLED)),
        Delivery.unconfirmed_calls == 0,
    )
    has_left = sa.and_(~has_failed, Delivery.receipt.is_distinct_from(Receipt.FAILED))
    return (
        sa.select(sa.case((Delivery.about_type == SUBJECT, Delivery.about_id)))
        .where(
            Delivery.user_id == patient_id,
            Delivery.channel == Channel.MESSAGING,
            Delivery.about_type.in_((SUBJECT, GATHERED)),
            Delivery.created_at > sa.func.now() - within,
            Delivery.due_at <= sa.func.clock_timestamp(),
        )
        .order_by(has_left.desc(), Delivery.due_at.desc(), Delivery.id.desc())
        .limit(1)
    )


def linked(link: CaregiverLink) -> None:
    """Notify the patient, by message and push, of a new caregiver or of new scopes (rights) of a caregiver.

    After `MAX_PER_DAY` notices in a day, further links are reported in one common notice. The caller has locked the
    patient and the link.
    """
    singles = sa.select(sa.func.count(), sa.func.min(Delivery.created_at)).where(
        *_messages_about(link.patient_id, SUBJECT), Delivery.created_at > db_time.now_sql() - DAY
    )
    count, first = db.session.execute(singles).one()
    if count >= MAX_PER_DAY:
        _gather(link, first + DAY)
        return
    notify_user(
        link.patient_id,
        kind=SECURITY_NOTICE,
        dedupe_key=f"{SUBJECT}:{link.id}:{uuid.uuid4()}",
        expires_in=LIFETIME,
        about=About(SUBJECT, link.id),
    )


def _gather(link: CaregiverLink, due_at: datetime) -> None:
    """Add a link to the pending notice about several links.

    If no such notice is pending, create one. It is due at `due_at`, but not within a day after the last such notice.
    """
    about = About(GATHERED, link.patient_id)
    waits = sa.and_(Delivery.state == DeliveryState.PENDING, Delivery.due_at > db_time.now_sql())
    waiting = sa.update(Delivery).where(*outbox.is_about(about), waits)
    links = sa.func.jsonb_build_object("links", Delivery.payload["links"].op("||")(sa.cast([link.id], JSONB)))
    added = db.session.execute(waiting.values(payload=links).execution_options(synchronize_session=False))
    if added.rowcount:  # type: ignore[attr-defined]  # an UPDATE's result counts rows
        return
    last = db.session.scalar(sa.select(sa.func.max(Delivery.due_at)).where(*_messages_about(link.patient_id, GATHERED)))
    notify_user(
        link.patient_id,
        kind=SECURITY_NOTICE,
        dedupe_key=f"{GATHERED}:{link.patient_id}:{uuid.uuid4()}",
        expires_in=LIFETIME,
        about=about,
        due_at=max(due_at, last + DAY) if last else due_at,
        payload={"links": [link.id]},
    )


def _messages_about(patient_id: int, subject: str) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        Delivery.user_id == patient_id,
        Delivery.channel == Channel.MESSAGING,
        Delivery.about_type == subject,
        Delivery.state != DeliveryState.CANCELLED,
    )


def render(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of notices about one link, by delivery id. A notice about a deleted link gets no text."""
    which = CaregiverLink.id.in_([each.about_id for each in deliveries])
    links = sa.select(CaregiverLink.id, User.nama_ktp, CaregiverLink.scopes)
    rows = db.session.execute(links.join(User, User.id == CaregiverLink.caregiver_id).where(which)).all()
    facts = {id_: (name, scopes) for id_, name, scopes in rows}
    return {each.id: _words(each, *facts[each.about_id]) for each in deliveries if each.about_id in facts}


def render_gathered(deliveries: Sequence[Claimed]) -> dict[int, Words]:
    """Return the texts of notices about several links, by delivery id. Omit deleted links."""
    ids = {each.id: cast(list[int], each.payload["links"]) for each in deliveries}
    names = sa.select(CaregiverLink.id, User.nama_ktp).join(User, User.id == CaregiverLink.caregiver_id)
    rows = db.session.execute(names.where(CaregiverLink.id.in_([id_ for each in ids.values() for id_ in each])))
    found = {id_: break_links(name) for id_, name in rows}
    there = {each.id: [found[id_] for id_ in dict.fromkeys(ids[each.id]) if id_ in found] for each in deliveries}
    return {each.id: _words_of_several(each, there[each.id]) for each in deliveries if there[each.id]}


def _words_of_several(delivery: Claimed, names: Sequence[str]) -> Words:
    shown = ", ".join(names[:MAX_NAMES])
    rest = f", dan {len(names) - MAX_NAMES} orang lain" if len(names) > MAX_NAMES else ""
    text = f"Ini juga pendamping baru Anda: {shown}{rest}. {CUT_SEVERAL}"
    return rendering.notice(delivery, text=text, title=TITLE, body=text)


def _words(delivery: Claimed, name: str, scopes: Collection[str]) -> Words:
    text = f"{break_links(name)} sekarang menjadi pendamping Anda. {_allowed(scopes)}"
    cut = CUT_BY_WORD if settings.receives_messages else CUT
    return rendering.notice(delivery, text=f"{text} {cut}", title=TITLE, body=f"{text} {CUT}")


def _allowed(scopes: Collection[str]) -> str:
    may = [words for scope, words in MAY.items() if scope in scopes]
    return f"Ia bisa {', '.join(may)}." if may else NOTHING
