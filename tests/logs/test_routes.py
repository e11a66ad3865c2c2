"""Routes of activity logs, in the order of `routes.py`."""

from datetime import timedelta

import pytest

from app.core.jobs.redis import WEB, connect
from app.core.lib import local_time
from app.logs import jobs, stream
from app.logs.stream import waiting
from tests.helpers.client import assert_error
from tests.logs.records import RECORD, rows


class TestCreateUserLog:
    """POST /log/user-log"""

    def test_a_valid_token_sets_the_user_of_the_record(self, siti):
        siti.post("/log/user-log", {**RECORD, "user_id": 999})
        jobs.ingest()
        assert (rows()[0].user_id, rows()[0].extra) == (siti.id, {"user_id": 999})

    def test_a_record_with_an_invalid_token_is_stored_without_a_user(self, client):
        headers = ("Bearer falsch", "Bearer ", "Basic x", ", ,", "")
        for header in headers:
            response = client.post("/log/user-log", RECORD, headers={"Authorization": header})
            assert response.status_code == 202, header
        jobs.ingest()
        assert [row.user_id for row in rows()] == [None] * len(headers)

    def test_fields_are_accepted_under_alternative_names(self, client):
        client.post("/log/user-log", {"activity": "a", "ip": "1.2.3.4"})
        client.post("/log/user-log", {"description": "b", "ip_address": "5.6.7.8"})
        client.post("/log/user-log", {"user_ip": "9.9.9.9", "ip": "1.1.1.1"})
        client.post("/log/user-log", {"ip": "1.1.1.1", "user_ip": "9.9.9.9"})
        jobs.ingest()
        texts = [(row.activity_description, row.user_ip) for row in rows()]
        assert texts == [("a", "1.2.3.4"), ("b", "5.6.7.8"), (None, "9.9.9.9"), (None, "9.9.9.9")]
        assert all(row.extra == {} for row in rows())

    def test_values_of_other_types_are_stored_as_text(self, client):
        client.post("/log/user-log", {"event_type": 7, "event_name": ["a"], "screen_name": None, "session_id": True})
        jobs.ingest()
        row = rows()[0]
        assert (row.event_type, row.event_name, row.screen_name, row.session_id) == ("7", '["a"]', None, "true")

    def test_an_invalid_record_is_refused(self, client):
        for route in ("/log/user-log", "/log/admin-log"):
            assert_error(client.post(route, {"event_name": "x" * 9000}), 400)
        assert_error(client.post("/log/user-log", data="[1]", content_type="application/json"), 400)
        assert_error(client.post("/log/user-log", data="{", content_type="application/json"), 400)
        assert_error(client.post("/log/user-log", {"event_name": "a\0b"}), 400)
        assert waiting() == 0

    def test_without_redis_or_if_it_refuses_writes_a_record_is_503(self, client, app, monkeypatch, full_redis):
        for redis in (connect("redis://127.0.0.1:1/0", **WEB), full_redis):
            with monkeypatch.context() as patch:
                patch.setitem(app.extensions, "redis", redis)
                assert_error(client.post("/log/user-log", RECORD), 503, "service_unavailable")
            assert waiting() == 0

    def test_above_the_maximum_of_waiting_records_a_record_is_503(self, client, monkeypatch):
        monkeypatch.setattr(stream, "MAX_WAITING", 2)
        assert [client.post("/log/user-log", RECORD).status_code for _ in range(3)] == [202, 202, 503]
        jobs.ingest()
        assert (len(rows()), waiting()) == (2, 0)
        assert client.post("/log/user-log", RECORD).status_code == 202


class TestCreateAdminLog:
    """POST /log/admin-log"""

    @pytest.mark.parametrize(("route", "log"), [("/log/user-log", "user"), ("/log/admin-log", "admin")])
    def test_both_log_routes_queue_a_record_that_the_ingest_job_stores(self, client, route, log):
        response = client.post(route, {**RECORD, "perangkat": {"os": "android"}}, headers={"User-Agent": "Uji/1"})
        assert (response.status_code, response.json) == (202, {"status": "queued"})
        assert (waiting(), rows()) == (1, [])
        jobs.ingest()
        (row,) = rows()
        assert {name: getattr(row, name) for name in RECORD} == RECORD
        assert (row.log, row.user_id, row.extra) == (log, None, {"perangkat": {"os": "android"}})
        assert (row.remote_ip, row.user_agent) == ("127.0.0.1", "Uji/1")
        assert local_time.now() - row.created_at < timedelta(minutes=1)
