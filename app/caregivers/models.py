"""Table of invitations from patients to caregivers."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import SECRET, Delete, Personal, Rows
from app.core.database.session import Base, Created
from app.identity.models import OfSession


class Invitation(Base, OfSession, Created):
    """An open invitation. Accepting it deletes the row."""

    __tablename__ = "invitations"
    __personal__ = Personal(of=("patient_id",), export=Rows(without=("code_hash",)), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    patient_id: Mapped[int] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    code_hash: Mapped[str] = mapped_column(unique=True, info=SECRET)
    scopes: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), comment="what the caregiver will be allowed to do: alerts, history, manage"
    )
    expires_at: Mapped[datetime] = mapped_column(index=True)
