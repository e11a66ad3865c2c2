"""Three questions about the data of one marked person: who reads it, where does it lie, and what is left of it?

The person does everything that the API offers, also with errors, takes the own copy along, and leaves.
"""

import re

import pytest

from tests.privacy.marks import MARKS, seen
from tests.privacy.walk import CARELESS

#: Data that only administrators may see. The name is not included, because lists of people show it.
PRIVATE = {"e-mail", "phone", "NIK", "religion", "password", "new password", "medicine", "push endpoint"}


def told(answers, endpoint):
    """Return the person's marks (unique words) in each response, by request."""
    by_request = {f"{one.reader}: {one.method} {one.path} {one.status}": seen(one.text, endpoint) for one in answers}
    return {request: marks for request, marks in by_request.items() if marks}


def test_the_recorded_requests_include_conflicts_refusals_and_crashes(traces):
    statuses = [one.status for one in traces.answers]
    assert {200, 400, 401, 403, 404, 409, 500} <= set(statuses)
    assert len(statuses) > 150
    assert len(traces.log) > 150


@pytest.mark.parametrize("reader", ["nobody", "pasien", "pendamping"])
def test_responses_to_other_readers_contain_no_private_data(traces, reader):
    answers = told([one for one in traces.answers if one.reader == reader], traces.endpoint)
    assert not {request: marks & PRIVATE for request, marks in answers.items() if marks & PRIVATE}


@pytest.mark.parametrize("reader", ["nobody", "pasien", "pendamping"])
def test_no_response_contains_a_name_and_the_pseudonym(traces, reader):
    answers = told([one for one in traces.answers if one.reader == reader], traces.endpoint)
    both = [request for request, marks in answers.items() if "pseudonym" in marks and marks & {"name", "username"}]
    assert not both
    assert any("pseudonym" in marks for marks in answers.values())


def test_a_caregiver_without_scopes_sees_only_the_name(traces):
    """A caregiver calls every route. Forum responses may contain the pseudonym, but never together with a name."""
    linked = told([one for one in traces.answers if one.reader == "pendamping"], traces.endpoint)
    assert "pendamping: GET /caregiver/patients 200" in linked
    assert all(marks <= {"name", "username"} or marks == {"pseudonym"} for marks in linked.values()), linked


def test_administrators_see_nik_or_pseudonym_with_a_name_only_in_details(traces):
    answers = told([one for one in traces.answers if one.reader == "admin"], traces.endpoint)
    hidden = {"password", "new password", "medicine", "push endpoint"}
    assert not {request: marks for request, marks in answers.items() if marks & hidden}
    beside_names = [request for request, marks in answers.items() if "name" in marks and marks & {"NIK", "pseudonym"}]
    assert beside_names
    assert all("/admins/users/" in request for request in beside_names), beside_names


def test_no_answer_of_moderation_reveals_the_name_behind_a_pseudonym(traces):
    """Moderation cases, decisions and blocks may show only the pseudonym."""
    moderation = [one for one in traces.answers if re.search("/moderasi|/lapor|/blokir|/banding", one.path)]
    assert {one.status for one in moderation} >= {200, 201, 204, 403}
    answers = told(moderation, traces.endpoint)
    assert not {request: marks for request, marks in answers.items() if marks - {"pseudonym"}}


def test_error_responses_contain_no_personal_data(traces):
    assert not told([one for one in traces.answers if one.status >= 400], traces.endpoint)


def test_exports_contain_only_the_documented_fields(traces):
    exports = told([one for one in traces.answers if "/export/" in one.path and one.status == 200], traces.endpoint)
    allowed = {
        "admin: GET /admins/export/users 200": {"name", "username", "e-mail", "phone"},
        "admin: GET /admins/export/activity-logs 200": {"username"},
    }
    assert all(marks <= allowed.get(request, set()) for request, marks in exports.items()), exports
    assert "admin: GET /admins/export/users 200" in exports


def test_the_service_logs_contain_no_personal_data(traces):
    """The log says that a super-admin ran a SQL statement. It does not contain the statement."""
    assert not [line for line in traces.log if CARELESS in line or seen(line, traces.endpoint)]
    assert any("app.audit" in line for line in traces.log)
    assert any("Traceback" in line for line in traces.log)


def test_the_postgresql_log_contains_no_personal_data(traces):
    if traces.postgres_log is None:
        pytest.skip("the server of the tests is not ours")
    assert not [line for line in traces.postgres_log if seen(line, traces.endpoint)]
    assert any("broken" in line for line in traces.postgres_log)


def test_redis_contains_no_personal_data(traces):
    assert not [entry for entry in traces.redis if seen(entry, traces.endpoint)]
    assert any("limit" in entry for entry in traces.redis)


def test_metrics_contain_no_personal_data(traces):
    assert not seen(traces.metrics, traces.endpoint)
    assert "http_request_seconds_count" in traces.metrics


def test_messages_to_others_contain_at_most_the_pseudonym(traces):
    messages = [text for target, text in traces.messages if MARKS["phone"] not in target]
    pushes = [text for endpoint, text in traces.pushes if traces.endpoint not in endpoint]
    assert any(MARKS["pseudonym"] in text for text in messages)
    assert any("Kasus mendesak" in text for text in pushes)
    assert not [text for text in messages + pushes if seen(text, traces.endpoint) - {"pseudonym"}]
    assert any(MARKS["medicine"] in text for target, text in traces.messages if MARKS["phone"] in target)


# --- where the data lies, and what is left --------------------------------------------------------------------------

#: Places that contain a mark while the person has an account. The NIK is encrypted, and passwords are hashed.
PLACES = {
    "name": {"users"},
    "username": {"users"},
    "e-mail": {"users"},
    "phone": {"users", "phone_numbers", "phone_verifications", "inbound", "deliveries"},
    "NIK": set(),
    "religion": {"users"},
    "password": set(),
    "new password": set(),
    "pseudonym": {"users"},
    "medicine": {"reminders", "occurrences"},
    "push endpoint": {"push_subscriptions"},
}


def test_each_word_lies_only_in_its_tables(traces):
    assert {name: traces.stored[name] for name in PLACES} == PLACES


def test_the_own_copy_has_each_word_but_the_passwords_and_every_table_that_the_person_filled(traces):
    everything = b"".join(traces.copy.values())
    assert {name for name, word in MARKS.items() if word.encode() not in everything} == {"password", "new password"}
    empty = {path for path, content in traces.copy.items() if path.endswith(".json") and content == b"[\n]\n"}
    filled = {path for path in traces.copy if path.endswith(".json")} - empty
    tables = (
        "users reminders occurrences posts marks consents sessions invitations inbound deliveries saved reports blocks"
        " access_log notification_settings phone_verifications push_subscriptions own_pictures activity_logs"
    )
    assert {f"data/{table}.json" for table in tables.split()} <= filled
    assert any(path.startswith("gambar/") for path in traces.copy)


def test_nothing_is_left_after_the_erasure(traces):
    assert traces.left.keys() == PLACES.keys()
    assert not any(traces.left.values())
