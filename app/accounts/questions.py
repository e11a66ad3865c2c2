"""Questions to the owner of a phone number: may the number move from its account to another account?

The number moves only if the owner answers PINDAH ("move").
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.accounts import moves
from app.core.database import db_time
from app.core.database.session import db
from app.core.errors import Conflict
from app.core.lib.break_links import break_links
from app.identity.models import PhoneVerification, User
from app.notifications import outbox
from app.notifications.models import Channel
from app.notifications.senders import numbers

LIFETIME = timedelta(minutes=15)
MINUTES = int(LIFETIME.total_seconds() // 60)
QUESTION = (
    "Nomor ini dipakai akun {holder}. Kalau Anda mau memindahkannya ke akun {taker}, balas PINDAH. "
    f"Pertanyaan ini berlaku {MINUTES} menit."
)
#: Response for the user who wants a number that another account uses.
ASKED = (
    "Nomor ini dipakai akun lain. "
    f"Untuk memindahkannya ke akun Anda, balas PINDAH dari nomor itu dalam {MINUTES} menit."
)

_is_asked = sa.and_(
    PhoneVerification.asked_at.is_not(None), PhoneVerification.expires_at > sa.func.statement_timestamp()
)


def text(phone: str) -> str | None:
    """Return the text of the latest open question to a number, or None. The text names both accounts."""
    row = db.session.execute(_last(phone)).one_or_none()
    holder = db.session.scalar(sa.select(User.username).where(User.phone == phone))
    if row is None or holder is None:
        return None
    return QUESTION.format(holder=break_links(holder), taker=break_links(row.username))


def send(phone: str) -> None:
    """Send the latest open question to the number. Each request to move the number sends at most one question."""
    row = db.session.execute(_last(phone)).one()
    outbox.add(
        outbox.NewDelivery(
            kind=numbers.MOVE,
            channel=Channel.MESSAGING,
            dedupe_key=f"{numbers.MOVE}:{row.user_id}:{row.asked_at.timestamp()}",
            words={"text": text(phone)},
            expires_at=db_time.now() + LIFETIME,
            target=phone,
        )
    )


def agree(phone: str) -> str | None:
    """Move a number to the account that asked for it last. Return the username of this account.

    Return None if no question is open, or if the question named an account that no longer has the number.
    """
    numbers.lock(phone)
    asked = db.session.execute(_last(phone)).one_or_none()
    if asked is None:
        return None
    user, holder = moves.lock_prover_and_holder(asked.user_id, phone)
    used = (
        sa.delete(PhoneVerification)
        .where(PhoneVerification.user_id == asked.user_id, PhoneVerification.method == asked.method)
        .where(PhoneVerification.asked_at == asked.asked_at, PhoneVerification.phone == phone, _is_asked)
        .returning(PhoneVerification.nomor_hp)
    )
    nomor_hp = db.session.scalar(used)
    if user is None or nomor_hp is None:
        return None
    if holder is not None and (holder.phone_changed_at or holder.created_at) > asked.asked_at:
        return None  # the question named an account that no longer has the number
    try:
        moves.move(user, nomor_hp, phone, holder)
    except Conflict:  # no account with the number was locked, and another account got the number meanwhile
        return None
    db.session.execute(sa.delete(PhoneVerification).where(PhoneVerification.phone == phone, _is_asked))
    return user.username


def _last(phone: str) -> sa.Select[int, str, datetime | None, str]:
    columns = (PhoneVerification.user_id, PhoneVerification.method, PhoneVerification.asked_at, User.username)
    return (
        sa.select(*columns)
        .join(User, User.id == PhoneVerification.user_id)
        .where(PhoneVerification.phone == phone, _is_asked)
        .order_by(PhoneVerification.asked_at.desc(), PhoneVerification.user_id)
        .limit(1)
    )
