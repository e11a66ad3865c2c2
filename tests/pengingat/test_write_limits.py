"""Rate limit for changes of reminders: 60 requests a minute and 200 a day for each person. Answers count apart."""

import re

import pytest

from tests.helpers.client import assert_error

pytestmark = pytest.mark.usefixtures("limited")


def test_creating_and_deleting_reminders_share_one_rate_limit(siti, budi, moment, obat):
    for _ in range(30):
        id_ = siti.post("/pengingat/obat", obat).json["id"]
        assert siti.delete(f"/pengingat/{id_}").status_code == 200
    refused = siti.post("/pengingat/obat", obat)
    assert_error(refused, 429, "too_many_requests")
    assert siti.get("/pengingat").status_code == 200
    assert budi.post("/pengingat/obat", obat).status_code == 201


def test_refused_writes_count_toward_the_rate_limit(siti, moment):
    for n in range(60):
        assert siti.put(f"/pengingat/{n + 1}", {"judul": "x"}).status_code == 404
    assert_error(siti.delete("/pengingat/1"), 429)


def test_changes_have_a_limit_by_minute_and_day_and_answers_one_by_minute(real_app):
    rules = [rule for rule in real_app.url_map.iter_rules() if re.match(r"/api/pengingat(/|$)", rule.rule)]
    writes = [rule for rule in rules if rule.methods and rule.methods & {"POST", "PUT", "PATCH", "DELETE"}]
    assert len(writes) == 6
    for rule in writes:
        is_answer = rule.rule.endswith("/konfirmasi")
        expected = ("60 per minute", "konfirmasi") if is_answer else ("60 per minute; 200 per day", "pengingat")
        assert expected in getattr(real_app.view_functions[rule.endpoint], "limits", ()), rule
