"""Table of emergency numbers by province."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Impersonal
from app.core.database.session import Base


class NumberKind(StrEnum):
    AMBULANCE = "ambulance"
    HOSPITAL = "hospital"
    POLICE = "police"
    FIRE = "fire"
    OTHER = "other"


class EmergencyNumber(Base):
    __tablename__ = "emergency_numbers"
    __personal__ = Impersonal("Numbers of public services")

    id: Mapped[int] = mapped_column(primary_key=True)
    province: Mapped[str]
    phone: Mapped[str]
    title: Mapped[str | None]
    url: Mapped[str | None] = mapped_column(comment="web page that offers the same help")
    kind: Mapped[str] = mapped_column(server_default=NumberKind.OTHER)

    __table_args__ = (sa.Index("ix_emergency_numbers_province", "province", "id"),)
