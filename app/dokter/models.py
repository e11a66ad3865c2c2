"""Tables of doctors and of the facilities where they practise."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column, query_expression, relationship

from app.core.database.personal import Impersonal
from app.core.database.session import Base, Timestamps, trigrams
from app.faskes.models import Faskes

dokter_faskes = sa.Table(
    "dokter_faskes",
    Base.metadata,
    sa.Column("dokter_id", sa.ForeignKey("dokter.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("faskes_id", sa.ForeignKey("faskes.id", ondelete="CASCADE"), primary_key=True, index=True),
)


class Dokter(Base, Timestamps):
    __tablename__ = "dokter"
    __personal__ = Impersonal("Doctors as administrators entered them: they are nobody who registered")

    id: Mapped[int] = mapped_column(primary_key=True)
    nama: Mapped[str]
    spesialisasi: Mapped[str | None]
    telepon: Mapped[str | None]
    image: Mapped[str | None] = mapped_column(comment="name in the media store")

    faskes: Mapped[list[Faskes]] = relationship(
        secondary=dokter_faskes, order_by=[Faskes.nama, Faskes.id], lazy="selectin", passive_deletes=True
    )

    #: Distance to the nearest facility. It is set only if the query uses `with_expression`.
    distance_km: Mapped[float | None] = query_expression()

    __table_args__ = (
        sa.Index("ix_dokter_created_at", "created_at", "id"),
        trigrams("ix_dokter_searched", "nama", "spesialisasi"),
    )

    @property
    def faskes_ids(self) -> list[str]:
        return [faskes.id for faskes in self.faskes]
