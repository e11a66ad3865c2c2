"""The routes of moderators, in the order of `moderation_routes.py`."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.core.media import pictures
from app.forum.models import CrisisPhrase
from app.forum.service.reads.posts import HIDDEN
from app.identity.access_log import AccessLogEntry
from app.identity.models import AuditEntry, User
from app.notifications.models import Delivery
from tests.forum.people import report_by_three
from tests.forum.posts import add_picture, cases, image_path, moderate, read_thread, report, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user
from tests.helpers.for_admins import ForAdmins
from tests.helpers.statements import Statements
from tests.notifications.deliveries import words_of

#: All fields of a case.
CASE = {
    "id", "thread_id", "reply_id", "title", "content", "has_image", "hidden_by", "author_name", "state", "urgent",
    "reports", "appeal", "reason", "created_at",
}  # fmt: skip


class TestListCases(ForAdmins):
    """GET /admins/moderasi"""

    def test_a_case_has_the_post_and_its_reports_but_not_the_reporters(
        self, client: Client, siti: Client, budi: Client, admin: Client
    ) -> None:
        thread_id = write_thread(siti, use_pseudonym=True)["id"]
        report(budi, f"threads/{thread_id}", note="Iklan.")
        (case,) = cases(admin)
        assert set(case) == CASE
        assert case == {
            **case, "thread_id": thread_id, "reply_id": None, "title": "Menu harian", "author_name": "Melati",
            "content": "Apa yang boleh dimakan?", "state": "open", "urgent": False, "appeal": None, "reason": None,
        }  # fmt: skip
        (shown,) = case["reports"]
        assert (set(shown), shown["reason"], shown["note"]) == ({"reason", "note", "at"}, "spam", "Iklan.")
        text = admin.get("/admins/moderasi").text
        assert "Siti" not in text
        assert "Budi" not in text

    def test_urgent_cases_are_first_and_the_list_is_filtered_and_paged(
        self, siti: Client, budi: Client, admin: Client, statements: Statements
    ) -> None:
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

    def test_open_appeals_are_listed_and_each_state_has_its_total(
        self, client: Client, siti: Client, admin: Client
    ) -> None:
        by_reports, by_moderator, again, decided, gone = (write_thread(siti)["id"] for _ in range(5))
        report_by_three(client, f"threads/{by_reports}")
        for thread_id in (by_moderator, again, decided, gone):
            moderate(admin, "hide", thread_id=thread_id)
        for thread_id in (again, decided, gone, by_moderator, by_reports):
            assert siti.post(f"/forum/threads/{thread_id}/banding", {"note": "Mengapa?"}).status_code == 201
        moderate(admin, "hide", thread_id=again)
        assert siti.post(f"/forum/threads/{again}/banding", {"note": "Sungguh."}).status_code == 201
        moderate(admin, "hide", thread_id=decided)
        siti.delete(f"/forum/threads/{gone}")
        appeals = admin.get("/admins/moderasi?banding=true&per_page=2&page=2")
        assert [case["thread_id"] for case in cases(admin, "?banding=true")] == [again, by_moderator, by_reports]
        assert ([case["thread_id"] for case in appeals.json], appeals.headers["X-Total-Count"]) == ([by_reports], "3")
        totals = {
            state: admin.get(f"/admins/moderasi?state={state}&per_page=1").headers["X-Total-Count"]
            for state in ("open", "kept", "hidden", "deleted")
        }
        assert totals == {"open": "1", "kept": "0", "hidden": "3", "deleted": "1"}
        assert {case["thread_id"]: case["hidden_by"] for case in cases(admin)} == {
            by_reports: "reports", by_moderator: "moderator", again: "moderator", decided: "moderator", gone: None
        }  # fmt: skip
        assert moderate(admin, "keep", thread_id=by_reports)["hidden_by"] is None

    def test_a_wrong_query_is_bad_input(self, admin: Client) -> None:
        for query, field in (("banding=mungkin", "banding"), ("state=lama", "state"), ("page=0", "page")):
            assert_error(admin.get(f"/admins/moderasi?{query}"), 400, "validation_error", field)


class TestCreateCase(ForAdmins):
    """POST /admins/moderasi"""

    def test_a_moderator_decides_without_a_report(self, siti: Client, budi: Client, admin: Client) -> None:
        thread_id = write_thread(siti)["id"]
        body = {"thread_id": thread_id, "decision": "hide", "reason": "Iklan."}
        created = admin.post("/admins/moderasi", body)
        assert (created.status_code, created.json["state"], created.json["reports"]) == (201, "hidden", [])
        again = admin.post("/admins/moderasi", {**body, "decision": "keep"})
        assert (again.status_code, again.json["id"], again.json["state"]) == (200, created.json["id"], "kept")

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({"decision": "hide", "reason": "x"}, "thread_id"),
            ({"decision": "hide", "reason": "x", "thread_id": 1, "reply_id": 1}, "thread_id"),
            ({"decision": "ban", "reason": "x", "thread_id": 1}, "decision"),
            ({"decision": "hide", "reason": "", "thread_id": 1}, "reason"),
            ({"decision": "hide", "reason": "x" * 501, "thread_id": 1}, "reason"),
            ({"reason": "x", "thread_id": 1}, "decision"),
        ],
    )
    def test_a_bad_decision_is_400(self, admin: Client, body: dict[str, Any], field: str) -> None:
        assert_error(admin.post("/admins/moderasi", body), 400, "validation_error", field)
        if field != "thread_id":
            assert_error(admin.put("/admins/moderasi/1", body), 400, "validation_error", field)

    def test_an_unknown_post_is_404(self, admin: Client) -> None:
        for post in ("thread_id", "reply_id"):
            body = {"decision": "hide", "reason": "x", post: 999999}
            assert_error(admin.post("/admins/moderasi", body), 404, "not_found")


class TestUpdateCase(ForAdmins):
    """PUT /admins/moderasi/<case_id>"""

    def test_a_decision_can_be_changed_until_the_post_is_deleted(
        self, client: Client, siti: Client, budi: Client, admin: Client
    ) -> None:
        thread_id = write_thread(siti)["id"]
        report(budi, f"threads/{thread_id}")
        path = f"/admins/moderasi/{cases(admin)[0]['id']}"
        for decision, state, title in (("hide", "hidden", HIDDEN), ("keep", "kept", "Menu harian")) * 2:
            case = admin.put(path, {"decision": decision, "reason": f"Karena {decision}."}).json
            assert (case["state"], case["reason"]) == (state, f"Karena {decision}.")
            assert read_thread(client, thread_id)["title"] == title
        case = admin.put(path, {"decision": "delete", "reason": "Iklan."}).json
        assert (case["state"], case["title"], case["content"]) == ("deleted", "Menu harian", "Apa yang boleh dimakan?")
        assert case["author_name"] == "Siti Aminah"
        assert_error(client.get(f"/forum/threads/{thread_id}"), 404, "not_found")
        assert_error(admin.put(path, {"decision": "keep", "reason": "Maaf."}), 409, "post_deleted")
        assert [case["state"] for case in cases(admin)] == ["deleted"]

    def test_an_unknown_case_is_404(self, admin: Client) -> None:
        assert_error(admin.put("/admins/moderasi/999999", {"decision": "hide", "reason": "x"}), 404, "not_found")


class TestGetCaseImage:
    """GET /admins/moderasi/<case_id>/gambar"""

    def test_the_picture_is_the_same_for_a_shown_and_a_hidden_post(
        self, client: Client, siti: Client, admin: Client
    ) -> None:
        thread_id = write_thread(siti)["id"]
        address = add_picture(siti, f"threads/{thread_id}")
        picture = client.get(address).data
        for decision in ("keep", "hide", "keep"):
            case = moderate(admin, decision, thread_id=thread_id)
            assert case["has_image"] is True
            response = admin.get(image_path(case))
            assert (response.status_code, response.mimetype, response.data) == (200, "image/webp", picture)
            assert response.headers["Cache-Control"] == "no-store"
            assert response.headers["Content-Disposition"] == f'inline; filename="kasus-{case["id"]}.webp"'
            assert client.get(address).status_code == (404 if decision == "hide" else 200)

    def test_an_unknown_case_or_a_missing_picture_is_404(self, siti: Client, admin: Client) -> None:
        assert_error(admin.get("/admins/moderasi/999999/gambar"), 404, "not_found")
        thread_id = write_thread(siti)["id"]
        address = add_picture(siti, f"threads/{thread_id}")
        case = moderate(admin, "hide", thread_id=thread_id)
        pictures.remove(address.removeprefix("/media/"))
        assert_error(admin.get(image_path(case)), 404, "not_found")

    def test_non_admins_are_refused(self, client: Client, siti: Client, admin: Client) -> None:
        thread_id = write_thread(siti)["id"]
        add_picture(siti, f"threads/{thread_id}")
        path = image_path(moderate(admin, "hide", thread_id=thread_id))
        assert_error(client.get(path), 401)
        assert_error(siti.get(path), 403)
        assert_error(client.as_(make_user("pendamping")).get(path), 403)


class TestLiftPseudonym(ForAdmins):
    """POST /admins/moderasi/<case_id>/identitas"""

    def test_a_pseudonym_is_lifted_once_with_audit_entry_and_notices(
        self, client: Client, siti: Client, admin: Client
    ) -> None:
        thread_id = write_thread(siti, use_pseudonym=True)["id"]
        assert client.as_(make_user()).post(f"/forum/threads/{thread_id}/lapor", {"reason": "hate"}).status_code == 201
        case_id = cases(admin)[0]["id"]
        path = f"/admins/moderasi/{case_id}/identitas"
        assert_error(admin.post(path, {}), 400, "validation_error", "reason")
        lifted = admin.post(path, {"reason": "Permintaan polisi."})
        assert (lifted.status_code, lifted.json) == (
            200, {"user_id": siti.id, "username": "siti", "nama_ktp": "Siti Aminah"}
        )  # fmt: skip
        assert_error(admin.post(path, {"reason": "Lagi."}), 409, "already_lifted")
        (entry,) = db.session.scalars(sa.select(AuditEntry))
        assert (entry.actor_id, entry.action, entry.subject) == (
            admin.id, "pseudonym_lifted", f"forum_case:{case_id}"
        )  # fmt: skip
        assert (entry.details, "Siti" in str(vars(entry))) == ({"reason": "Permintaan polisi."}, False)
        (access,) = db.session.scalars(sa.select(AccessLogEntry))
        assert (access.user_id, access.actor_id, access.action, access.reason) == (
            siti.id, admin.id, "pseudonym_lifted", "Permintaan polisi."
        )  # fmt: skip
        told = db.session.scalars(
            sa.select(Delivery).where(Delivery.user_id == siti.id).order_by(Delivery.channel)
        ).all()
        assert [(each.channel, each.kind) for each in told] == [
            ("messaging", "pseudonym_lifted"), ("push_fan_out", "pseudonym_lifted")
        ]  # fmt: skip
        for each in told:
            assert "nama samaran" in str(words_of(each))
            assert "Siti" not in str(words_of(each))
        # The list of cases and the audit log still hide the name.
        assert "Siti" not in admin.get("/admins/moderasi").text
        assert "Siti" not in admin.get("/admins/audit").text

    def test_a_post_under_the_real_name_has_no_pseudonym_to_lift(self, siti: Client, admin: Client) -> None:
        case = moderate(admin, "hide", thread_id=write_thread(siti)["id"])
        path = f"/admins/moderasi/{case['id']}/identitas"
        assert_error(admin.post(path, {"reason": "x"}), 409, "no_pseudonym")

    def test_an_unknown_case_is_404(self, admin: Client) -> None:
        assert_error(admin.post("/admins/moderasi/999999/identitas", {"reason": "x"}), 404, "not_found")

    def test_a_pseudonym_can_be_lifted_after_a_moderator_deleted_the_post(self, siti: Client, admin: Client) -> None:
        case = moderate(admin, "delete", thread_id=write_thread(siti, use_pseudonym=True)["id"])
        assert case["author_name"] == "Melati"
        lifted = admin.post(f"/admins/moderasi/{case['id']}/identitas", {"reason": "x"})
        assert lifted.json["user_id"] == siti.id

    def test_the_pseudonym_of_a_deleted_account_cannot_be_lifted(self, siti: Client, admin: Client) -> None:
        case = moderate(admin, "delete", thread_id=write_thread(siti, use_pseudonym=True)["id"])
        db.session.execute(sa.delete(User).where(User.id == siti.id))
        db.session.commit()
        assert [each["author_name"] for each in cases(admin)] == ["Akun dihapus"]
        assert_error(admin.post(f"/admins/moderasi/{case['id']}/identitas", {"reason": "x"}), 409, "author_gone")


class TestListPhrases(ForAdmins):
    """GET /admins/moderasi/frasa"""

    def test_the_list_is_paged(self, admin: Client) -> None:
        response = admin.get("/admins/moderasi/frasa?page=2&per_page=5")
        count = db.session.scalar(sa.select(sa.func.count(CrisisPhrase.id)))
        assert (len(response.json), response.headers["X-Total-Count"]) == (5, str(count))

    def test_a_wrong_page_is_bad_input(self, admin: Client) -> None:
        assert_error(admin.get("/admins/moderasi/frasa?page=0"), 400, "validation_error", "page")


class TestCreatePhrase(ForAdmins):
    """POST /admins/moderasi/frasa"""

    def test_a_new_phrase_gives_help_until_the_phrase_is_deleted(self, siti: Client, admin: Client) -> None:
        text = "Rasanya dunia sudah gelap gulita."
        assert "help" not in write_thread(siti, content=text)
        created = admin.post("/admins/moderasi/frasa", {"phrase": "dunia udah gelap"})
        assert (created.status_code, created.json["phrase"]) == (201, "dunia udah gelap")
        assert created.json["kind"] == "crisis"
        assert admin.get("/admins/moderasi/frasa").json[0] == created.json
        assert [row["id"] for row in admin.get("/admins/moderasi/frasa?q=gelap").json] == [created.json["id"]]
        assert "help" in write_thread(siti, content=text)
        assert_error(admin.post("/admins/moderasi/frasa", {"phrase": "Dunia SUDAH gelap!"}), 409, "phrase_taken")
        path = f"/admins/moderasi/frasa/{created.json['id']}"
        admin.delete(path)
        assert "help" not in write_thread(siti, content=text)

    def test_an_emergency_phrase_gives_no_help_in_the_forum(self, siti: Client, admin: Client) -> None:
        created = admin.post("/admins/moderasi/frasa", {"phrase": "digigit ular", "kind": "emergency"})
        assert (created.status_code, created.json["kind"]) == (201, "emergency")
        assert admin.get("/admins/moderasi/frasa").json[0] == created.json
        assert "help" not in write_thread(siti, content="Saya digigit ular.")
        assert_error(admin.post("/admins/moderasi/frasa", {"phrase": "digigit ular"}), 409, "phrase_taken")

    @pytest.mark.parametrize("kind", ["urgent", None, 5])
    def test_an_unknown_kind_is_400(self, admin: Client, kind: object) -> None:
        body = {"phrase": "digigit ular", "kind": kind}
        assert_error(admin.post("/admins/moderasi/frasa", body), 400, "validation_error", "kind")

    @pytest.mark.parametrize("phrase", ["mati", "Mati!", "m4t1", "modar", "", "  ", "!?", "x" * 101, None, 5])
    def test_a_too_general_or_invalid_phrase_is_400(self, admin: Client, phrase: object) -> None:
        assert_error(admin.post("/admins/moderasi/frasa", {"phrase": phrase}), 400, "validation_error", "phrase")


class TestDeletePhrase(ForAdmins):
    """DELETE /admins/moderasi/frasa/<phrase_id>"""

    def test_deletes_a_phrase_once(self, admin: Client) -> None:
        created = admin.post("/admins/moderasi/frasa", {"phrase": "dunia udah gelap"})
        path = f"/admins/moderasi/frasa/{created.json['id']}"
        assert admin.delete(path).json == {"message": "Frasa dihapus."}
        assert_error(admin.delete(path), 404, "not_found")
