"""Emergency numbers of the provinces."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Impersonal
from app.core.database.session import Base


class EmergencyNumber(Base):
    __tablename__ = "emergency_numbers"
    __personal__ = Impersonal("Numbers of public services")

    id: Mapped[int] = mapped_column(primary_key=True)
    province: Mapped[str]
    phone: Mapped[str]
    title: Mapped[str | None]
    url: Mapped[str | None] = mapped_column(comment="where the same help is found on the web")

    __table_args__ = (sa.Index("ix_emergency_numbers_province", "province", "id"),)
