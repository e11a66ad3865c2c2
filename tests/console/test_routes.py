"""Routes for operators and clients in the order of `routes.py`, and the page."""

import re

import pytest
import sqlalchemy as sa
from redis.exceptions import ConnectionError as RedisAway

from app.console import service
from app.core.database.session import db
from app.core.jobs.queue import QUEUES
from app.identity.access_log import AccessAction, AccessLogEntry
from app.identity.models import AuditEntry
from app.notifications.broadcasts import service as broadcasts
from app.notifications.delivery import metrics
from app.notifications.delivery.metrics import SETTLED
from app.notifications.models import About, Broadcast, Delivery, DeliveryState
from config import ROOT
from tests.console.deliveries import send


class TestGetFeatures:
    """GET /features"""

    def test_without_settings_all_features_are_off(self, client, change_settings):
        change_settings(vapid_public_key=None, captcha_secret=None, captcha_site_key="key without a secret")
        assert client.get("/features").json == {
            "captcha_site_key": None,
            "vapid_public_key": None,
            "messaging": {"two_way": False, "number": None},
            "phone_verification": "off",
            "console": False,
        }

    def test_enabled_features_are_listed(self, client, change_settings):
        change_settings(
            captcha_secret="s",
            captcha_site_key="6Lc",
            vapid_public_key="BKey",
            messaging_number="+6281100000000",
            whatsapp_app_secret="secret",
            phone_verification="soft",
            console=True,
        )
        assert client.get("/features").json == {
            "captcha_site_key": "6Lc",
            "vapid_public_key": "BKey",
            "messaging": {"two_way": True, "number": "+6281100000000"},
            "phone_verification": "soft",
            "console": True,
        }


class TestGetCondition:
    """GET /admins/operasi"""

    def test_problems_of_the_workers_are_listed(self, admin):
        condition = admin.get("/admins/operasi").json
        assert condition["problems"] == metrics.worker_problems() != []
        assert [queue["queue"] for queue in condition["queues"]] == list(QUEUES)
        assert condition["outcomes"].keys() == set(SETTLED)
        assert condition["sender"] is None
        assert condition["broadcasts"] == {"paused": False, "open": 0}

    def test_without_redis_the_other_parts_are_still_returned(self, admin, monkeypatch):
        def away():
            raise RedisAway("refused")

        monkeypatch.setattr(service.delivery_metrics, "worker_problems", away)
        condition = admin.get("/admins/operasi").json
        assert condition["problems"] == ["Redis is away (ConnectionError)"]
        assert condition["queues"] == []
        assert condition["broadcasts"]["paused"] is False


class TestUpdateBroadcasts:
    """PUT /admins/operasi/siaran"""

    def test_pausing_and_resuming_broadcasts_is_audited(self, admin):
        broadcasts.announce(About("article", 1))
        assert admin.put("/admins/operasi/siaran", {"paused": True}).json == {"paused": True, "open": 1}
        assert admin.get("/admins/operasi").json["broadcasts"]["paused"] is True
        assert admin.put("/admins/operasi/siaran", {"paused": False}).json == {"paused": False, "open": 1}
        actions = db.session.scalars(sa.select(AuditEntry.action).order_by(AuditEntry.id)).all()
        assert actions[-2:] == ["broadcasts_paused", "broadcasts_resumed"]
        assert db.session.scalar(sa.select(sa.func.count()).select_from(Broadcast)) == 1


class TestListUserDeliveries:
    """GET /admins/users/<user_id>/pengiriman"""

    def test_deliveries_have_status_and_reason_but_no_text(self, admin, siti):
        send(siti)
        db.session.execute(
            sa.update(Delivery).values(state=DeliveryState.FAILED, last_error="no number", settled_at=sa.func.now())
        )
        response = admin.get(f"/admins/users/{siti.id}/pengiriman")
        (row,) = response.json
        (part,) = row["channels"]
        assert (part["channel"], part["status"]) == ("message", "failed")
        assert part["reason"] == "Akun Anda belum punya nomor HP."
        assert "Rahasia" not in response.text

    def test_the_read_is_recorded_in_the_persons_access_log(self, admin, siti):
        admin.get(f"/admins/users/{siti.id}/pengiriman")
        looks = db.session.scalars(sa.select(AccessLogEntry.action).where(AccessLogEntry.user_id == siti.id)).all()
        assert AccessAction.DELIVERIES_READ in looks


class TestConsole:
    """GET /console"""

    @pytest.mark.parametrize(
        ("environment", "set_to", "has_console"),
        [
            ("development", None, True), ("production", None, False), ("production", True, True),
            ("development", False, False),
        ],
    )  # fmt: skip
    def test_the_console_is_on_in_development_or_if_switched_on(
        self, client, change_settings, environment, set_to, has_console
    ):
        change_settings(environment=environment, console=set_to)
        assert client.get("/features").json["console"] is has_console
        page = client.get("/console")
        assert page.status_code == (200 if has_console else 404)
        if has_console:
            policy = page.headers["Content-Security-Policy"]
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert "img-src 'self' blob:;" in policy, "a picture that the script has fetched"
            assert policy.count("blob:") == 1
            assert page.headers["X-Frame-Options"] == "DENY"
            assert page.headers["Cache-Control"] == "no-store"

    def test_console_modules_are_revalidated_and_import_only_each_other(self, client):
        folder = ROOT / "app/static/console"
        names, left = {"main.js"}, ["main.js"]
        while left:
            file = client.app.test_client().get(f"/static/console/{left.pop()}")
            assert (file.status_code, file.mimetype) == (200, "text/javascript")
            assert file.headers["Cache-Control"] == "no-cache"
            assert file.headers["ETag"]
            imported = set(re.findall(r'from "\./([\w.]+)";', file.get_data(as_text=True)))
            left += imported - names
            names |= imported
            file.close()
        assert names == {path.name for path in folder.glob("*.js")}
