"""The routes of moderators, in the order of `moderation_routes.py`."""

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service.reads import HIDDEN
from app.identity.models import AuditEntry
from tests.forum.people import report_by_three
from tests.forum.posts import cases, moderate, read_thread, report, write_reply, write_thread
from tests.helpers.client import assert_error


class TestListCases:
    """GET /admins/moderasi"""

    def test_a_case_has_the_post_and_its_reports_but_not_the_reporters(self, client, siti, budi, admin):
        thread_id = write_thread(siti, use_pseudonym=True)["id"]
        report(budi, f"threads/{thread_id}", note="Iklan.")
        (case,) = cases(admin)
        assert case == {
            **case, "thread_id": thread_id, "reply_id": None, "title": "Menu harian", "author_name": "Melati",
            "content": "Apa yang boleh dimakan?", "state": "open", "urgent": False, "appeal": None, "reason": None,
        }  # fmt: skip
        (shown,) = case["reports"]
        assert (shown["reason"], shown["note"]) == ("spam", "Iklan.")
        text = admin.get("/admins/moderasi").text
        assert "Siti" not in text
        assert "Budi" not in text

    def test_urgent_cases_are_first_and_the_list_is_filtered_and_paged(self, siti, budi, admin, statements):
        ids = [write_thread(siti, title=f"Judul {number}")["id"] for number in range(4)]
        for thread_id, reason in zip(ids, ("spam", "self_harm", "hate", "other"), strict=True):
            report(budi, f"threads/{thread_id}", reason)
        moderate(admin, "hide", thread_id=ids[3])
        assert [case["thread_id"] for case in cases(admin)] == [ids[1], ids[3], ids[2], ids[0]]
        assert [case["thread_id"] for case in cases(admin, "?state=open")] == [ids[1], ids[2], ids[0]]
        assert [case["thread_id"] for case in cases(admin, "?state=hidden")] == [ids[3]]
        assert [case["thread_id"] for case in cases(admin, "?q=judul 2")] == [ids[2]]
        paged = admin.get("/admins/moderasi?page=2&per_page=3")
        assert ([case["thread_id"] for case in paged.json], paged.headers["X-Total-Count"]) == ([ids[0]], "4")
        with statements.at_most(4):  # statements for the session, the cases with their total, and the reports
            cases(admin)

    def test_open_appeals_are_listed_and_each_state_has_its_total(self, client, siti, admin):
        by_reports, by_moderator, decided, gone = (write_thread(siti)["id"] for _ in range(4))
        report_by_three(client, f"threads/{by_reports}")
        for thread_id in (by_moderator, decided, gone):
            moderate(admin, "hide", thread_id=thread_id)
        for thread_id in (decided, gone, by_moderator, by_reports):
            assert siti.post(f"/forum/threads/{thread_id}/banding", {"note": "Mengapa?"}).status_code == 201
        moderate(admin, "hide", thread_id=decided)
        siti.delete(f"/forum/threads/{gone}")
        appeals = admin.get("/admins/moderasi?banding=true&per_page=1&page=2")
        assert ([case["thread_id"] for case in appeals.json], appeals.headers["X-Total-Count"]) == ([by_reports], "2")
        totals = {
            state: admin.get(f"/admins/moderasi?state={state}&per_page=1").headers["X-Total-Count"]
            for state in ("open", "kept", "hidden")
        }
        assert totals == {"open": "2", "kept": "0", "hidden": "1"}
        assert {case["thread_id"]: (case["hidden_by"], case["appeal"]) for case in cases(admin)} == {
            by_reports: ("reports", "Mengapa?"), by_moderator: ("moderator", "Mengapa?"), decided: ("moderator", None),
        }  # fmt: skip

    def test_a_case_of_a_reply_has_the_title_of_the_thread_and_the_text_of_the_reply(self, siti, budi, admin):
        thread_id = write_thread(siti)["id"]
        reply_id = write_reply(budi, thread_id, content="x" * 3000)["id"]
        report(siti, f"replies/{reply_id}")
        (case,) = cases(admin)
        assert (case["thread_id"], case["reply_id"], case["title"]) == (thread_id, reply_id, "Menu harian")
        assert (case["content"], case["author_name"]) == ("x" * 2000, "Budi Hartono")


class TestUpdateCase:
    """PUT /admins/moderasi/<case_id>"""

    def test_a_decision_can_be_changed_until_the_post_is_deleted(self, client, siti, budi, admin):
        thread_id = write_thread(siti)["id"]
        report(budi, f"threads/{thread_id}")
        path = f"/admins/moderasi/{cases(admin)[0]['id']}"
        for decision, state, title, by in (
            ("hide", "hidden", HIDDEN, "moderator"), ("keep", "kept", "Menu harian", None),
        ) * 2:  # fmt: skip
            case = admin.put(path, {"decision": decision, "reason": f"Karena {decision}."}).json
            assert (case["state"], case["reason"], case["hidden_by"]) == (state, f"Karena {decision}.", by)
            assert case == cases(admin)[0]
            assert read_thread(client, thread_id)["title"] == title
        siti.delete(f"/forum/threads/{thread_id}")
        assert cases(admin) == []
        assert_error(admin.put(path, {"decision": "keep", "reason": "Maaf."}), 404, "not_found")

    def test_the_audit_log_has_the_decision_without_the_author(self, siti, admin):
        thread_id = write_thread(siti, use_pseudonym=True)["id"]
        case = moderate(admin, "hide", thread_id=thread_id)
        (entry,) = db.session.scalars(sa.select(AuditEntry))
        assert (entry.actor_id, entry.action, entry.subject) == (admin.id, "moderated", f"post:{thread_id}")
        assert entry.details == {"decision": "hide", "case": case["id"]}

    def test_a_case_goes_with_its_post_also_with_a_stub(self, siti, budi, admin):
        thread_id = write_thread(siti)["id"]
        reply_id = write_reply(budi, thread_id)["id"]
        write_reply(siti, thread_id, parent_id=reply_id)
        case = moderate(admin, "hide", reply_id=reply_id)
        assert budi.delete(f"/forum/replies/{reply_id}").status_code == 200
        assert cases(admin) == []
        path = f"/admins/moderasi/{case['id']}"
        assert_error(admin.put(path, {"decision": "hide", "reason": "x"}), 404, "not_found")
