"""Table of the browsers that subscribed to web pushes."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from app.core.database.personal import SECRET, Delete, Personal, Rows
from app.core.database.session import Base, Timestamps
from app.identity.models import OfSession


class PushSubscription(Base, OfSession, Timestamps):
    __tablename__ = "push_subscriptions"
    __personal__ = Personal(of=("user_id",), export=Rows(without=("p256dh", "auth")), erase=Delete())

    id: Mapped[int] = mapped_column(primary_key=True)
    endpoint: Mapped[str] = mapped_column(unique=True)
    p256dh: Mapped[str] = mapped_column(comment="the browser's public key, base64url", info=SECRET)
    auth: Mapped[str] = mapped_column(comment="the browser's shared secret, base64url", info=SECRET)
    user_id: Mapped[int | None] = mapped_column(sa.ForeignKey("users.id", ondelete="CASCADE"), index=True)
    is_verified: Mapped[bool] = mapped_column(
        server_default=sa.false(),
        comment="true if the subscription was made with the person's own token; false: the person is only claimed",
    )
