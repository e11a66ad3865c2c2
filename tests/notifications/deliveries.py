"""Deliveries in the outbox, for tests of the code that sends them."""

from datetime import timedelta
from itertools import count

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib import local_time
from app.notifications import jobs, outbox
from app.notifications.delivery import claims, drain, rendering, settlements
from app.notifications.models import Channel, Delivery, Inbound, InboundKind, deliveries
from dev import outbox as outbox_page
from tests.helpers.factories import make_user

_numbers = count(1)


def add(**fields):
    """Add one message to the outbox, and commit."""
    n = next(_numbers)
    values = {
        "kind": "test",
        "channel": Channel.MESSAGING,
        "dedupe_key": f"test:{n}",
        "words": None if "payload" in fields else {"text": f"Halo {n}"},
        "target": f"+62812{n:08d}",
        "expires_at": local_time.now() + timedelta(hours=1),
        **fields,
    }
    with unit_of_work():
        outbox.send(outbox.NewDelivery(**values))
    return reread(values["dedupe_key"])


def ready(channel=Channel.MESSAGING, queue="urgent"):
    """Claim a due delivery and render its texts, as a drain does before it calls the provider."""
    found = claims.claim(queue, channel)
    rendering.render(found, drain.routing().render)
    return found


def words_of(row):
    """Return the sent texts of a delivery, or the texts that would be sent now. Return {} if there are none."""
    return dict(outbox_page.words_of({column.key: getattr(row, column.key) for column in deliveries.c}))


def announced(broadcast):
    """Return the current text of a broadcast's message."""
    row = Delivery(id=0, kind="broadcast", channel="messaging")
    row.payload = {"about": broadcast.kind, "about_id": broadcast.about_id}
    return str(words_of(row)["text"])


def reread(dedupe_key):
    db.session.expire_all()
    return db.session.scalars(sa.select(Delivery).filter_by(dedupe_key=dedupe_key)).one()


def drained(row):
    """Send what is due. Return the row as it is after that."""
    jobs.drain("urgent")
    return reread(row.dedupe_key)


def age(seconds, *, of):
    """Move the times of one delivery back by some seconds."""
    back = timedelta(seconds=seconds)
    with unit_of_work():
        db.session.execute(
            sa.update(deliveries)
            .where(deliveries.c.id == of.id)
            .values({name: deliveries.c[name] - back for name in ("due_at", "next_try_at", "expires_at", "created_at")})
        )


def abandon(row):
    """Let the worker of a claimed delivery die. Put the delivery back, and wait until it is due again."""
    age(claims.LEASE_S + 1, of=row)
    assert claims.put_back(row.queue) == 1
    age(claims.AFTER_DEATH_S * 2**claims.MAX_DEATHS, of=row)


def committed_user():
    user = make_user()
    db.session.commit()
    return user


def tell(receipt, *, ref=None, **payload):
    """Store a receipt of the provider. Return the id of its row."""
    values = {"provider": "test", "event_key": f"receipt:{next(_numbers)}", "kind": InboundKind.RECEIPT}
    with unit_of_work():
        db.session.add(row := Inbound(ref=ref, payload={"receipt": receipt, **payload}, **values))
        db.session.flush()
        return row.id


TEXT = "Halo Siti, waktunya minum Metformin (1 tablet) pukul 07.00 WIB.\nJawab di sini: https://sehat.id/k/abc"


REMINDER = {"text": TEXT, "parts": {"name": "Siti", "sentence": "…", "token": "abc", "tipe": "obat"}}


def begun():
    """Claim a due message and record that its call begins. Return the claim."""
    claimed = claims.claim("urgent", Channel.MESSAGING)
    claims.begin(claimed)
    return claimed


def sent(**fields):
    """Add a message and record that the provider accepted it with a reference. Return the message."""
    row = add(**fields)
    claimed = begun()
    settlements.record_sent(claimed, f"ref-{row.id}")
    return reread(row.dedupe_key)
