"""Who cares for whom."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.session import Base, Created


class CaregiverLink(Base, Created):
    __tablename__ = "caregiver_links"

    id: Mapped[int] = mapped_column(primary_key=True)
    caregiver_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"))
    patient_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)

    __table_args__ = (
        sa.UniqueConstraint("caregiver_id", "patient_id"),
        sa.CheckConstraint("caregiver_id <> patient_id", name="two_people"),
    )
