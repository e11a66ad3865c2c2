"""Lists of the jobs, transports, handlers and metrics of all packages.

The lists are in one place, because no module registers itself on import. `create_app` passes each list to the code that
uses it. Web processes and workers both call `create_app`.
"""

from __future__ import annotations

from collections.abc import Mapping

from app.accounts import jobs as accounts
from app.accounts import notices as account_notices
from app.accounts import resets
from app.articles import service as articles
from app.caregivers import jobs as caregivers
from app.caregivers import notices as caregiver_notices
from app.core.database import migrations
from app.core.jobs import metrics as job_metrics
from app.core.jobs.queue import BULK, URGENT
from app.core.jobs.schedule import Periodic
from app.core.operations import health
from app.forum.service import notices as forum_notices
from app.identity import jobs as identity
from app.inbox import conversation
from app.inbox import jobs as inbox
from app.inbox.handlers import InboundHandlers
from app.logs import jobs as logs
from app.notifications import jobs as notifications
from app.notifications.broadcasts import fan_out as broadcasts
from app.notifications.broadcasts import presend_checks as broadcast_checks
from app.notifications.broadcasts import service as broadcast_service
from app.notifications.delivery import drain, failed_receipts, heartbeat, messaging, rendering
from app.notifications.delivery import metrics as delivery_metrics
from app.notifications.delivery.rendering import Renderer
from app.notifications.models import SECURITY_NOTICE, Channel, InboundKind
from app.notifications.senders import jobs as sender_jobs
from app.notifications.senders import report as sender_report
from app.notifications.senders import sender_status
from app.pengingat import jobs as pengingat
from app.pengingat.caregiving import alerts
from app.pengingat.ledger import alerts as caregiver_alerts
from app.pengingat.ledger import bells, missed, stock
from app.pengingat.outgoing import render
from app.personal_data import jobs as personal_data
from app.privacy import jobs as privacy
from app.push import transport as push
from app.videos import service as videos

#: Functions that each scheduler calls every second. Each function looks for due work, and enqueues a job or processes
#: one batch.
TICKS = (
    notifications.enqueue_due,
    broadcasts.enqueue_due,
    logs.enqueue_ingest,
    pengingat.miss_overdue,
    inbox.enqueue_open,
)

#: Periodic jobs and their interval in seconds. Even with several schedulers, each job is enqueued only once
#: per interval.
PERIODIC = (
    Periodic(pengingat.top_up, every_s=60),
    Periodic(pengingat.delete_old, every_s=86400),
    Periodic(identity.delete_expired_sessions, every_s=3600),
    Periodic(accounts.delete_expired, every_s=3600),
    Periodic(caregivers.delete_expired, every_s=3600),
    Periodic(identity.delete_old_idempotency_keys, every_s=3600),
    Periodic(identity.empty_old_sql, every_s=86400),
    Periodic(identity.sweep_pictures, every_s=86400),
    Periodic(notifications.prune, every_s=3600),
    Periodic(notifications.take_back, every_s=20),
    Periodic(sender_jobs.check, every_s=60),
    Periodic(heartbeat.beat, every_s=60, queue=URGENT),
    Periodic(inbox.delete_old, every_s=3600),
    Periodic(privacy.delete_withdrawn, every_s=3600),
    Periodic(personal_data.make_waiting_exports, every_s=60),
    Periodic(personal_data.delete_old_exports, every_s=3600),
    Periodic(personal_data.erase_due, every_s=60),
    Periodic(personal_data.reconcile_tombstones, every_s=3600),
)

#: Functions that create the text of a delivery when it is sent, by the kind of the delivery.
RENDER: Mapping[str, Renderer] = {
    bells.KIND: render.render,
    stock.KIND: render.render_stock,
    caregiver_alerts.KIND: alerts.render,
    broadcasts.KIND: rendering.by_event(
        {forum_notices.THREAD_KIND: forum_notices.render_threads, "article": articles.render, "video": videos.render}
    ),
    forum_notices.REPLY_KIND: forum_notices.render_replies,
    forum_notices.VERDICT_KIND: forum_notices.render_verdicts,
    forum_notices.CASE_KIND: forum_notices.render_cases,
    resets.KIND: resets.render,
    SECURITY_NOTICE: rendering.by_event(
        {
            **dict.fromkeys(account_notices.TEXTS, account_notices.render),
            caregiver_notices.LINKED: caregiver_notices.render,
        }
    ),
}

#: Functions for sending deliveries: transports, renderers, checks before sending, and throttles of the queues.
ROUTING = drain.Routing(
    transports={
        Channel.MESSAGING: messaging.send,
        Channel.PUSH: push.send,
        Channel.PUSH_FAN_OUT: push.fan_out,
    },
    render=RENDER,
    checks={
        broadcasts.KIND: broadcast_checks.check_recipient,
        caregiver_alerts.KIND: alerts.check_night,
    },
    throttles={URGENT: sender_status.may_claim, BULK: broadcast_checks.may_claim},
    on_recalled=missed.follow_receipts,
)

#: Handlers of the events that messaging providers report, by kind of event. `on_failed` handles
#: messages that a provider accepted but could not deliver.
INBOUND_HANDLERS = InboundHandlers(
    handlers={
        InboundKind.MESSAGE: conversation.handle,
        InboundKind.PREFERENCE: conversation.prefer,
        **dict.fromkeys((InboundKind.DEVICE, InboundKind.QUALITY, InboundKind.ACCOUNT), sender_jobs.ring),
    },
    on_failed=failed_receipts.record,
    on_changed=missed.follow_receipts,
)

#: Checks that `/readyz` runs, by name.
HEALTH_CHECKS = {
    "database": health.check_database,
    "queue": health.check_queue,
    "migrations": migrations.check,
    "deliveries": delivery_metrics.check_deliveries,
    "sender": sender_report.check_sender,
}

#: Functions that collect metrics when `/metrics` is requested. `/metrics` also contains the counters of web processes.
METRIC_COLLECTORS = (
    job_metrics.collect,
    delivery_metrics.collect,
    sender_report.collect,
    broadcast_service.collect,
    inbox.collect,
    logs.collect,
)
