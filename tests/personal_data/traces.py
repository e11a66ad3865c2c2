"""Helpers that insert rows of a person into all tables, with a mark in each text, and that search for this mark."""

import uuid
from datetime import UTC, date, datetime, time

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert

from app.core.database.personal import personal_tables
from app.core.database.session import Base, db
from app.core.media import storage
from app.identity.models import User

#: The mark: a text that is in every text column of the inserted rows.
MARK = "Jejakqx"

#: Values that a table's constraints require, by table and column. `None` leaves out the column.
DEMANDED = {
    "posts": {"root_id": None, "parent_id": None, "depth": 0, "hidden_by": "reports"},
    "deliveries": {"state": "sent", "queue": "urgent", "channel": "messaging"},
    # The broadcast is about the person's thread, so it is deleted with the thread.
    "broadcasts": {"state": "done", "kind": "forum_thread", "about_id": 1, "preference_tag": "medical"},
    # These values come from moderators and not from the person, so they contain no mark.
    "cases": {"state": "open", "reason": "x"},
    "reports": {"reason": "spam"},
    "occurrences": {"state": "done"},
    "audit_entries": {"action": "user_changed", "details": {}},
    "reminders": {"timezone": "Asia/Jakarta"},
    "own_pictures": {"name": f"{'0' * 32}.webp"},
    "data_exports": {"file": f"{'0' * 32}.zip"},
}


def fill(user, other):
    """Insert a row of the person into every table, and return the names of the tables.

    `other` is the second person of a row that needs two people.
    """
    names = []
    for table, declaration in reversed(list(personal_tables(Base.metadata))):
        if table is not User.__table__ and (values := _values(table, declaration, user, other)):
            db.session.execute(insert(table).values(values).on_conflict_do_nothing())
            names.append(table.name)
    db.session.flush()
    return names


def _values(table, declaration, user, other):
    values = {}
    owners = list(declaration.of)
    for column in table.columns:
        demanded = DEMANDED.get(table.name, {})
        if column.name in demanded:
            value = demanded[column.name]
        elif column.name in owners:
            value = user.id if column.name == owners[0] else other.id
        elif column.name in declaration.mentions:
            value = other.id
        elif column.name in declaration.subjects:
            value = f"user:{user.id}"
        elif column.name in declaration.phones and not owners:
            value = user.phone
        elif column.foreign_keys:
            value = _referred(column, user, other)
        else:
            value = _marked(table, column)
        if value is not None:
            values[column.key] = value
    return values


def _referred(column, user, other):
    """Return the key of an existing row that the foreign key may refer to. Return None if there is no such row."""
    key = next(iter(column.foreign_keys)).column
    if key.table is User.__table__:
        return other.id
    found = db.session.scalar(sa.select(key).order_by(key.desc()).limit(1))
    return None if found is None and column.nullable else found


def _marked(table, column):
    text = f"{MARK} {table.name}.{column.name}"
    match column.type:
        case JSONB():
            return {"text": text}
        case ARRAY():
            return [text] if isinstance(column.type.item_type, sa.Text) else None
        case sa.Uuid():
            return uuid.uuid4()
        case sa.LargeBinary():
            return text.encode()
        case sa.DateTime():
            return datetime.now(UTC) if not column.nullable and column.server_default is None else None
        case sa.Date():
            return date(2026, 3, 2) if not column.nullable else None
        case sa.Time():
            return time(22)
        case sa.Boolean():
            return False if not column.nullable and column.server_default is None else None
        case sa.Integer() | sa.Float() | sa.Numeric():
            needed = not column.nullable and column.server_default is None and not column.primary_key
            return 1 if needed else None
        case _:
            return text[: getattr(column.type, "length", None) or 200]


def found(app, *marks):
    """Return the places that still contain a mark: rows of each table, keys in Redis, and stored files."""
    places = {}
    for place, text in _stored(app):
        if any(word in text.lower() for mark in marks for word in _spellings(mark)):
            places.setdefault(place, []).append(text)
    return places


def places_of(app, marks):
    """Return the places that contain each mark, by mark."""
    stored = [(place, text.lower()) for place, text in _stored(app)]
    return {mark: {place for place, text in stored if any(map(text.__contains__, _spellings(mark)))} for mark in marks}


def _spellings(mark):
    mark_ = mark.lower()
    return mark_, mark.encode().hex(), mark_.encode().hex()  # bytea columns are shown in hexadecimal


def _stored(app):
    """Return the place and the text of each row, of each key in Redis, and of the name of each file."""
    stored = []
    for table in Base.metadata.sorted_tables:
        row = sa.cast(sa.literal_column(f'"{table.name}"'), sa.Text)
        stored += [(table.name, text) for text in db.session.scalars(sa.select(row).select_from(table))]
    redis = app.extensions["redis"]
    stored += [("redis", f"{key.decode()} {dump(redis, key).decode(errors='replace')}") for key in redis.scan_iter()]
    return stored + [("store", name) for room in storage.Area for name, _ in storage.area(room).names()]


def dump(redis, key):
    match redis.type(key):
        case b"list":
            return b"\n".join(redis.lrange(key, 0, -1))
        case b"set":
            return b"\n".join(redis.smembers(key))
        case b"zset":
            return b"\n".join(redis.zrange(key, 0, -1))
        case b"hash":
            return repr(redis.hgetall(key)).encode()
        case b"stream":
            return repr(redis.xrange(key)).encode()
        case b"string":
            return bytes(redis.get(key) or b"")
        case _:
            return b""
