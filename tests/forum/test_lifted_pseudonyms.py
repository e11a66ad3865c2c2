"""Who is behind a pseudonym: a moderator learns it once, it is written down, and the author is told."""

from __future__ import annotations

import sqlalchemy as sa

from app.core.database.session import db
from app.identity.access_log import AccessLogEntry
from app.identity.models import AuditEntry, User
from app.notifications.models import Delivery
from tests.forum.posts import cases, moderate, write_thread
from tests.helpers.client import Client, assert_error
from tests.helpers.factories import make_user


def test_a_pseudonym_is_lifted_once_written_down_and_told(client: Client, siti: Client, admin: Client) -> None:
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
    told = db.session.scalars(sa.select(Delivery).where(Delivery.user_id == siti.id).order_by(Delivery.channel)).all()
    assert [(each.channel, each.kind) for each in told] == [
        ("messaging", "pseudonym_lifted"), ("push_fan_out", "pseudonym_lifted")
    ]  # fmt: skip
    for each in told:
        assert "nama samaran" in str(each.payload)
        assert "Siti" not in str(each.payload)
    # Everywhere else they stay who they were.
    assert "Siti" not in admin.get("/admins/moderasi").text
    assert "Siti" not in admin.get("/admins/audit").text


def test_there_is_no_pseudonym_to_lift_of_who_writes_under_their_name(siti: Client, admin: Client) -> None:
    case = moderate(admin, "hide", thread_id=write_thread(siti)["id"])
    path = f"/admins/moderasi/{case['id']}/identitas"
    assert_error(admin.post(path, {"reason": "x"}), 409, "no_pseudonym")


def test_a_pseudonym_can_be_lifted_after_a_moderator_deleted_the_post(siti: Client, admin: Client) -> None:
    case = moderate(admin, "delete", thread_id=write_thread(siti, use_pseudonym=True)["id"])
    assert case["author_name"] == "Melati"
    lifted = admin.post(f"/admins/moderasi/{case['id']}/identitas", {"reason": "x"})
    assert lifted.json["user_id"] == siti.id


def test_of_an_author_who_is_gone_nobody_learns_anything(siti: Client, admin: Client) -> None:
    case = moderate(admin, "delete", thread_id=write_thread(siti, use_pseudonym=True)["id"])
    db.session.execute(sa.delete(User).where(User.id == siti.id))
    db.session.commit()
    assert [each["author_name"] for each in cases(admin)] == ["Akun dihapus"]
    assert_error(admin.post(f"/admins/moderasi/{case['id']}/identitas", {"reason": "x"}), 409, "author_gone")
