"""Table of home page layouts by province."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import Impersonal
from app.core.database.session import Base

#: Name of the layout for users who are not logged in. It is not a province.
DEFAULT = "default"


class ProvinceConfig(Base):
    __tablename__ = "province_configs"
    __personal__ = Impersonal("What the home page of a province shows to everybody")

    province: Mapped[str] = mapped_column(primary_key=True, comment="name of a province, or `default`")
    sections: Mapped[list[dict[str, object]]] = mapped_column(JSONB, comment="[{id, enabled, order}]")
    updated_at: Mapped[datetime] = mapped_column(server_default=sa.func.now())
