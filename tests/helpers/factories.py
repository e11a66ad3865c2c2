"""Functions that create people and records for tests. People are created with `users.create`, as in production."""

from contextlib import nullcontext
from functools import cache
from itertools import count
from unittest import mock
from uuid import uuid4

from app.articles.models import Article
from app.core.database.session import db, unit_of_work
from app.identity import passwords, users
from app.identity.models import RoleName, SessionKind
from app.identity.sessions import Caller
from app.videos.models import Video

PASSWORD = "rahasia123"

_numbers = count(1)

#: The password of all test people is hashed once, because a hash takes 47 ms and the tests create thousands of people.
_hash = cache(passwords.hash_password)


def make_user(*roles, image=None, **data):
    """Create a person with these roles. The default role is pasien. `image` is the name of a stored picture."""
    n = next(_numbers)
    values = {
        "username": f"orang{n}",
        "password": PASSWORD,
        "nama_ktp": f"Orang Nomor {n}",
        "nama_samaran": f"Samaran {n}",
        "nomor_hp": f"0812{n:08d}",
        **data,
    }
    with mock.patch.object(passwords, "hash_password", _hash), in_a_transaction():
        # Somebody who is only an administrator is like an account that `POST /admins` created.
        user = users.create(values, roles or (RoleName.PASIEN,), is_staff=roles == (RoleName.ADMIN,))
        user.image = image
        db.session.flush()
    return user


def in_a_transaction():
    """Open a unit of work, unless the test already is in a transaction."""
    return nullcontext() if db.session.get_bind() is db.engine else unit_of_work()


def as_caller(user):
    """Return a `Caller` for this user without storing a session. Tests pass the `Caller` to a service."""
    return Caller(user.id, frozenset(user.role_names), uuid4(), SessionKind.USER)


def make_admin(**data):
    return make_user(RoleName.ADMIN, **data)


def make_superadmin(**data):
    return make_user(RoleName.SUPERADMIN, **data)


def make_article(**data):
    n = next(_numbers)
    values = {"title": f"Artikel {n}", "url": f"https://contoh.id/artikel-{n}", "content": "<p>Isi.</p>"}
    article = Article(**{**values, **data})
    db.session.add(article)
    db.session.flush()
    return article


def make_video(**data):
    n = next(_numbers)
    values = {"video_id": f"simpan{n:05d}", "title": f"Video {n}", "channel_title": "Kanal Kesehatan"}
    video = Video(**{**values, **data})
    db.session.add(video)
    db.session.flush()
    return video
