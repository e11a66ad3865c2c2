"""Emergency numbers: a search by position for everybody, and the full list for administrators."""

from __future__ import annotations

from typing import TypedDict

import sqlalchemy as sa

from app.core.database.session import assign, db, get_locked_or_404
from app.core.lib.provinces import PROVINCES
from app.core.web.fields import Loaded
from app.core.web.pagination import MAX_UNPAGED, Listing, Search, containing, paginate
from app.emergency.models import EmergencyNumber, NumberKind
from app.providers import geocoding

NOT_FOUND = "Nomor darurat tidak ditemukan."

#: Ambulance number. Its extension 8 is the mental health line.
AMBULANCE_LINE = "119"
CRISIS_URL = "https://www.healing119.id"


class CrisisNumber(TypedDict):
    phone: str
    title: str | None
    url: str | None


#: National numbers: phone, title, web address, kind.
NATIONAL = (
    ("112", "Panggilan Darurat", None, NumberKind.OTHER),
    ("110", "Polisi", None, NumberKind.POLICE),
    ("113", "Pemadam Kebakaran", None, NumberKind.FIRE),
    ("119", "Ambulans", None, NumberKind.AMBULANCE),
    ("119 ext. 8", "Layanan Kesehatan Jiwa Healing119 (dahulu SEJIWA)", CRISIS_URL, NumberKind.OTHER),
)

_BY_PHONE: dict[str, CrisisNumber] = {
    phone: {"phone": phone, "title": title, "url": url} for phone, title, url, _kind in NATIONAL
}


def nearby(lat: float, lng: float) -> dict[str, object]:
    """Return the province at a position, and the province's numbers. Outside Indonesia, return no numbers."""
    province = geocoding.province_at(lat, lng)
    query = sa.select(EmergencyNumber).where(EmergencyNumber.province == province).order_by(EmergencyNumber.id)
    phones = db.session.scalars(query.limit(MAX_UNPAGED)).all() if province else []
    return {"province": province, "phones": phones}


def in_crisis(province: str | None) -> list[CrisisNumber]:
    """Return the numbers for a person in danger: the crisis line, 112, and the province's ambulance or hospital.

    Police and fire brigade are left out, because they do not help a suicidal person.
    """
    own = _own_line(province, NumberKind.AMBULANCE) or _own_line(province, NumberKind.HOSPITAL)
    return [_BY_PHONE["119 ext. 8"], _BY_PHONE["112"], own or _BY_PHONE[AMBULANCE_LINE]]


def own_ambulance(province: str | None) -> CrisisNumber | None:
    """Return the province's own ambulance number, or None if the province has only national numbers."""
    return _own_line(province, NumberKind.AMBULANCE)


def _own_line(province: str | None, kind: NumberKind) -> CrisisNumber | None:
    """Return the province's first number of this kind that is not a national number."""
    line = sa.select(EmergencyNumber.phone, EmergencyNumber.title, EmergencyNumber.url).where(
        EmergencyNumber.province == province,
        EmergencyNumber.kind == kind,
        ~EmergencyNumber.phone.startswith(AMBULANCE_LINE),
        EmergencyNumber.phone.not_in(_BY_PHONE),
    )
    row = db.session.execute(line.order_by(EmergencyNumber.id).limit(1)).first()
    return None if row is None else {"phone": row.phone, "title": row.title, "url": row.url}


def list_all(search: Search) -> Listing[EmergencyNumber]:
    """Return all numbers, newest first. `search.q` is a part of the province, phone or title."""
    query = sa.select(EmergencyNumber).order_by(EmergencyNumber.id.desc())
    if search.q:
        columns = (EmergencyNumber.province, EmergencyNumber.phone, EmergencyNumber.title)
        query = query.where(containing(search.q, *columns))
    return paginate(query, search.page)


def create(data: Loaded) -> EmergencyNumber:
    number = EmergencyNumber(**data)
    db.session.add(number)
    db.session.flush()
    return number


def update(number_id: int, data: Loaded) -> EmergencyNumber:
    return assign(get_locked_or_404(EmergencyNumber, number_id, NOT_FOUND), data)


def delete(number_id: int) -> None:
    db.session.delete(get_locked_or_404(EmergencyNumber, number_id, NOT_FOUND))


def seed() -> None:
    """Insert the national numbers for every province without numbers. Other provinces stay unchanged."""
    db.session.execute(sa.text("LOCK TABLE emergency_numbers IN SHARE ROW EXCLUSIVE MODE"))
    served = set(db.session.scalars(sa.select(EmergencyNumber.province).distinct()))
    rows = [
        {"province": province, "phone": phone, "title": title, "url": url, "kind": kind}
        for province in PROVINCES
        if province not in served
        for phone, title, url, kind in NATIONAL
    ]
    if rows:
        db.session.execute(sa.insert(EmergencyNumber), rows)
