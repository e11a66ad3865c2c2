"""State of the service for operators, the switch for broadcasts, and features for clients."""

from __future__ import annotations

from dataclasses import dataclass

from redis.exceptions import RedisError

from app.core.jobs import metrics as job_metrics
from app.core.settings import settings
from app.core.web.pagination import Listing, Page
from app.forum.service import notices as forum_notices
from app.identity import access_log, audit, users
from app.identity.sessions import Caller
from app.inbox import service as inbox
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.models import BroadcastState
from app.notifications.senders import sender_status
from app.notifications.senders.models import Sender
from app.privacy.service import deliveries
from app.privacy.service.deliveries import Sent


@dataclass(frozen=True)
class QueueState:
    queue: str
    workers: int
    #: Number of jobs that wait in Redis.
    jobs: int
    #: Number of deliveries that are due now, and seconds since the oldest of these deliveries became due.
    due: int
    oldest_due_s: float


@dataclass(frozen=True)
class Condition:
    """State of the service for operators.

    If Redis is down, `queues` is empty and `problems` names Redis.
    """

    problems: list[str]
    queues: list[QueueState]
    #: Deliveries of the last hour by state.
    outcomes: dict[str, int]
    sender: Sender | None
    broadcasts: dict[str, object]


def condition() -> Condition:
    """Return the current state of the service."""
    try:
        problems, queues = delivery_metrics.worker_problems(), _queues()
    except RedisError as error:
        problems, queues = [f"Redis is away ({type(error).__name__})"], []
    return Condition(problems, queues, delivery_metrics.outcomes(), sender_status.current(), _broadcasts())


def set_broadcasts(caller: Caller, *, paused: bool) -> dict[str, object]:
    """Pause all broadcasts, or resume them where they stopped."""
    broadcasts.set_paused(paused)
    audit.record(
        caller, audit.AuditAction.BROADCASTS_PAUSED if paused else audit.AuditAction.BROADCASTS_RESUMED, "broadcasts"
    )
    return _broadcasts()


def deliveries_of(caller: Caller, user_id: int, page: Page) -> Listing[Sent]:
    """Return the deliveries of a user with states and reasons, without text.

    The access is recorded in the user's access log.
    Deliveries that would reveal a pseudonymous author are left out. Administrators can see the name behind a pseudonym
    only through a moderation case, which records the access.
    """
    users.get(user_id)
    access_log.record(caller, user_id, access_log.AccessAction.DELIVERIES_READ)
    return deliveries.list_of(user_id, page, ~forum_notices.shows_pseudonym())


def features() -> dict[str, object]:
    """Return the enabled features for clients."""
    about = inbox.about()
    return {
        "captcha_site_key": settings.captcha_site_key if settings.captcha_secret else None,
        "vapid_public_key": settings.vapid_public_key,
        "messaging": {"two_way": about["two_way"], "number": about["number"]},
        "phone_verification": settings.phone_verification,
        "console": settings.has_console,
    }


def _queues() -> list[QueueState]:
    waiting = delivery_metrics.waiting()
    states = []
    for name, (workers, jobs) in job_metrics.queue_sizes().items():
        lanes = [lane for (queue, _), lane in waiting.items() if queue == name]
        states.append(QueueState(name, workers, jobs, sum(n for n, _ in lanes), max(age for _, age in lanes)))
    return states


def _broadcasts() -> dict[str, object]:
    return {"paused": broadcasts.is_paused(), "open": broadcasts.count(BroadcastState.OPEN)}
