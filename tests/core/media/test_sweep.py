"""Periodic removal of pictures that no row refers to."""

import os
from io import BytesIO

from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import now
from app.core.media import pictures
from tests.core.media.samples import plain
from tests.helpers.factories import make_user


def save(app, *, age_hours):
    with unit_of_work():
        name = pictures.save(BytesIO(plain()))
    then = now().timestamp() - age_hours * 3600
    root = app.extensions["media"].root
    os.utime(root / name[:2] / name, (then, then))
    return name


def test_sweep_removes_only_old_pictures_without_a_database_reference(app):
    named, young, orphan = (save(app, age_hours=hours) for hours in (48, 1, 48))
    make_user(image=named)
    db.session.flush()
    with unit_of_work():
        assert pictures.sweep() == 1
    left = {name for name, _ in app.extensions["media"].names()}
    assert {named, young} <= left
    assert orphan not in left
    with unit_of_work():
        assert pictures.sweep() == 0
