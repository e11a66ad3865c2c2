"""Tests of the erasure after seven days. No data of the person remains, even if the erasure is killed at any point."""

import io
import re
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
import sqlalchemy as sa

from app.core.database.personal import Custom, personal_tables
from app.core.database.session import Base, db, unit_of_work
from app.core.media import pictures, storage
from app.core.media.storage import Area
from app.forum.models import Post
from app.identity import audit, erasure, own_pictures
from app.identity.models import AuditEntry, RoleName, User
from app.identity.roles import roles_named
from app.logs import jobs as log_jobs
from app.notifications import outbox
from app.notifications.delivery import claims, settlements
from app.notifications.models import Broadcast, Channel, Delivery, DeliveryState, Inbound, deliveries
from app.personal_data import erasers, jobs
from tests.core.media.samples import plain
from tests.helpers.client import assert_error
from tests.helpers.controlled import WorkerKilled
from tests.helpers.factories import make_admin, make_user
from tests.personal_data.leaving import MARKS, OBAT, PERSON, leave, let_the_grace_pass
from tests.personal_data.traces import MARK, fill, found


def erased(mine, user_id, forum):
    leave(mine, forum)
    let_the_grace_pass(user_id)
    jobs.erase_due()
    jobs.erase(user_id)


def test_erasure_deletes_all_picture_files(mine, monkeypatch):
    monkeypatch.setattr(erasers, "FILES", 1)
    before = set(pictures.store().names())
    with unit_of_work():
        for _ in range(9):
            own_pictures.keep(mine.id, {"image": pictures.save(io.BytesIO(plain()))})
    assert len(set(pictures.store().names()) - before) == 9
    erased(mine, mine.id, "delete")
    assert set(pictures.store().names()) - before == set()


@pytest.mark.parametrize("forum", ["anonymise", "delete"])
def test_erasure_leaves_no_data_of_the_person_in_any_store(mine, forum):
    budi = make_user()
    fill(mine.user, budi)
    with unit_of_work():
        name = pictures.save(io.BytesIO(plain()))
        own_pictures.keep(mine.id, {"image": name})
    db.session.execute(sa.update(User).where(User.id == mine.id).values(image=name))
    audit.record(None, audit.AuditAction.USER_CHANGED, f"user:{mine.id}", fields=["nama_ktp"])
    budi_id = budi.id
    with unit_of_work():
        outbox.send(
            outbox.NewDelivery(
                kind="forum_reply",
                channel=Channel.MESSAGING,
                dedupe_key="sent to another",
                words={"text": f"{PERSON['nama_ktp']} membalas utas Anda."},
                expires_at=datetime.now(UTC) + timedelta(days=1),
                user_id=budi_id,
            )
        )
    db.session.execute(sa.update(Delivery).where(Delivery.user_id == budi_id).values(state=DeliveryState.SENT))
    mine.post("/log/user-log", {"event_type": MARK, "event_name": MARK, "screen_name": MARK, "session_id": MARK})
    assert {"users", "activity_logs", "reminders", "idempotency_keys", "redis"} <= set(found(mine.app, *MARKS))
    erased(mine, mine.id, forum)
    log_jobs.ingest()  # the record of the erased person still waited
    left = found(mine.app, *MARKS)
    if forum == "anonymise":  # anonymised posts stay, and contain the marked texts that `fill` inserted
        left.pop("posts", None)
    assert left == {}, str(left)
    assert name not in {stored for stored, _ in pictures.store().names()}
    referring = [
        (table.name, column.name)
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if any(key.target_fullname == "users.id" for key in column.foreign_keys)
        and db.session.scalar(sa.select(sa.func.count()).select_from(table).where(column == mine.id))
    ]
    assert referring == []


def test_anonymised_posts_stay_with_a_deleted_account_as_author(mine, client):
    thread_id = mine.post("/forum/threads", {"category_id": 1, "title": "Halo", "content": "Isi"}).json["id"]
    mine.post(f"/forum/threads/{thread_id}/reply", {"content": "Balasan", "use_pseudonym": True})
    budi = client.as_(make_user())
    budi.post(f"/forum/threads/{thread_id}/reply", {"content": "Semangat"})
    other_id = budi.post("/forum/threads", {"category_id": 1, "title": "Lain", "content": "Isi"}).json["id"]
    mine.post(f"/forum/threads/{other_id}/like")
    erased(mine, mine.id, "anonymise")
    thread = client.get(f"/forum/threads/{thread_id}").json
    assert thread["author"] == {"id": None, "name": "Akun dihapus", "image": None}
    assert thread["content"] == "Isi"
    assert [reply["author"]["name"] for reply in thread["replies"]].count("Akun dihapus") == 1
    assert thread["replies_count"] == 2
    assert client.get(f"/forum/threads/{other_id}").json["likes_count"] == 0


def test_posts_are_deleted_where_the_person_wants_it(mine, client):
    thread_id = mine.post("/forum/threads", {"category_id": 1, "title": "Halo", "content": "Isi"}).json["id"]
    budi = client.as_(make_user())
    other_id = budi.post("/forum/threads", {"category_id": 1, "title": "Lain", "content": "Isi"}).json["id"]
    reply_id = mine.post(f"/forum/threads/{other_id}/reply", {"content": "Balasan"}).json["id"]
    budi.post(f"/forum/threads/{other_id}/reply", {"content": "Di bawahnya", "parent_id": reply_id})
    erased(mine, mine.id, "delete")
    assert_error(client.get(f"/forum/threads/{thread_id}"), 404)
    announced = set(db.session.scalars(sa.select(Broadcast.about_id)))
    assert announced == {other_id}
    other = client.get(f"/forum/threads/{other_id}").json
    assert (other["replies_count"], other["replies"][0]["is_deleted"]) == (1, True)
    assert other["replies"][0]["replies"][0]["content"] == "Di bawahnya"


@pytest.mark.parametrize("is_taken", [True, False])
def test_messages_of_a_former_number_are_deleted_unless_another_person_has_the_number(mine, is_taken):
    former = mine.user.phone
    assert mine.put("/profile", {"nomor_hp": "081377778888"}).status_code == 200
    if is_taken:
        make_user(nomor_hp=PERSON["nomor_hp"])
    db.session.add(Inbound(provider="test", event_key="1", kind="message", phone=former, text="sudah"))
    erased(mine, mine.id, "delete")
    assert db.session.scalars(sa.select(Inbound.text)).all() == ["sudah"] * is_taken


def test_a_batch_has_the_same_size_with_any_query_plan(mine):
    values = {"queue": "urgent", "channel": Channel.PUSH, "kind": "x", "user_id": mine.id, "payload": {}}
    times = dict.fromkeys(("due_at", "expires_at", "next_try_at"), datetime.now(UTC))
    rows = [{**values, **times, "dedupe_key": str(n)} for n in range(1200)]
    db.session.execute(sa.insert(Delivery), rows)
    for way in ("hashjoin", "mergejoin", "hashagg", "sort", "material", "memoize"):
        db.session.execute(sa.text(f"SET LOCAL enable_{way} = off"))
    erasers._delete(deliveries, Delivery.__personal__, erasure.subject_of(mine.user))
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 1200 - erasers.BATCH


def test_an_erasure_leaves_audit_entries_about_others_unchanged(mine, client):
    db.session.execute(sa.update(User).where(User.id == mine.id).values(nik="1"))
    budi, rina = make_user(username="budi"), client.as_(make_admin(username="rina"))
    assert rina.get(f"/admins/users/{budi.id}").status_code == 200
    rina.delete(f"/admins/users/{budi.id}/sesi", {"reason": 'Ponsel "A-1." hilang.'})
    stored = sa.select(AuditEntry.subject, AuditEntry.details).where(AuditEntry.subject == f"user:{budi.id}")
    before = db.session.execute(stored.order_by(AuditEntry.id)).all()
    assert before
    erased(mine, mine.id, "delete")
    assert db.session.get(User, mine.id) is None
    assert db.session.execute(stored.order_by(AuditEntry.id)).all() == before


def test_the_audit_log_keeps_entries_about_and_by_an_erased_person(mine, client):
    admin_id = make_admin(username="rina").id
    client.as_(db.session.get_one(User, admin_id)).get(f"/admins/users/{mine.id}")
    db.session.add(
        AuditEntry(actor_id=mine.id, action=audit.AuditAction.EXPORT, subject="export:users", ip="192.0.2.1")
    )
    db.session.flush()
    erased(mine, mine.id, "delete")
    entries = {row.action: row for row in db.session.scalars(sa.select(AuditEntry))}
    read = entries[audit.AuditAction.NIK_READ]
    assert (read.actor_id, read.subject, read.details) == (admin_id, f"user:{mine.id}", {})
    assert read.ip is not None
    assert (entries[audit.AuditAction.EXPORT].actor_id, entries[audit.AuditAction.EXPORT].ip) == (mine.id, None)
    assert entries[audit.AuditAction.ERASED].subject == f"user:{mine.id}"


def test_an_erasure_can_only_empty_ip_in_the_audit_log(mine):
    entry = AuditEntry(actor_id=mine.id, action=audit.AuditAction.USER_CHANGED, subject="user:1", ip="192.0.2.1")
    db.session.add(entry)
    leave(mine)
    own = f"UPDATE audit_entries SET {{}} WHERE id = {entry.id}"

    def refused(change):
        with pytest.raises(sa.exc.ProgrammingError, match="append-only"), db.session.begin_nested():
            db.session.execute(sa.text(own.format(change)))

    columns = ("action = 'x'", "subject = 'x'", "actor_id = 1", "ip = 'x'", "created_at = 'epoch'")
    for moment in ("now() + interval '1 day'", "now()"):
        db.session.execute(sa.text(f"UPDATE users SET erasure_due_at = {moment} WHERE id = {mine.id}"))
        for change in (*columns, "details = '{\"other\": 1}'"):
            refused(change)
    with db.session.begin_nested() as savepoint:
        db.session.execute(sa.text(own.format("ip = NULL")))
        savepoint.rollback()
    db.session.execute(sa.text("UPDATE users SET erasure_due_at = NULL"))
    refused("ip = NULL")


def test_each_table_with_custom_erasure_has_an_eraser(app):
    custom = {table.name for table, declared in personal_tables(Base.metadata) if isinstance(declared.erase, Custom)}
    assert custom - {"users"} == set(erasers.ERASERS)


@pytest.mark.processes
@pytest.mark.parametrize("forum", ["anonymise", "delete"])
def test_an_erasure_killed_at_any_transaction_can_be_continued(mine, forum):
    budi = make_user()
    fill(mine.user, budi)
    leave(mine, forum)
    let_the_grace_pass(mine.id)
    kills = 0
    for deadly in range(1, 200):
        left = deadly

        def dying_unit():
            nonlocal left
            left -= 1
            if left == 0:
                raise WorkerKilled
            return unit_of_work()

        with mock.patch.object(jobs, "unit_of_work", dying_unit):
            try:
                jobs.erase(mine.id)
            except WorkerKilled:
                kills += 1
        db.session.rollback()
        db.session.execute(sa.select(sa.func.pg_advisory_unlock_all()))
        if db.session.get(User, mine.id) is None:
            break
    assert kills > 20
    assert found(mine.app, PERSON["username"], "3273014502907788") == {}


def test_a_long_erasure_enqueues_its_own_continuation(mine):
    row = {"user_id": mine.id, "category_id": 1, "title": "T", "content": "I"}
    db.session.execute(sa.insert(Post), [row] * 3)
    leave(mine, "delete")
    let_the_grace_pass(mine.id)
    with mock.patch.object(jobs, "_enqueue_erase") as enqueued, mock.patch.object(jobs, "SLICE_S", 0.0):
        jobs.erase(mine.id)
        assert [call.args for call in enqueued.call_args_list] == [(mine.id,)]
    assert db.session.get(User, mine.id) is not None
    jobs.erase(mine.id)
    assert db.session.get(User, mine.id) is None


def test_a_deleted_administrator_leaves_only_the_posts(client):
    rina = make_admin(**PERSON)
    rina_id, budi, boss = rina.id, make_user(), client.as_(make_admin(username="bos"))
    fill(rina, budi)
    db.session.expire(rina)
    rina.roles, rina.is_staff = roles_named([RoleName.ADMIN]), True  # `fill` gave another role
    theirs = client.as_(rina)
    theirs.post("/log/admin-log", {"event_type": MARK, "event_name": MARK, "screen_name": MARK, "session_id": MARK})
    response = boss.delete(f"/admins/{rina_id}")
    assert response.status_code == 200, response.json
    log_jobs.ingest()
    left = found(client.app, *MARKS)
    left.pop("posts", None)  # the person asked to keep the posts
    assert left == {}, str(left)


def test_a_claimed_delivery_is_not_sent_after_the_erasure(mine):
    mine.post("/pengingat/obat", OBAT)
    db.session.execute(sa.update(Delivery).values(next_try_at=sa.func.now(), due_at=sa.func.now()))
    claimed = claims.claim("urgent", Channel.MESSAGING)
    assert claimed is not None
    erased(mine, mine.id, "delete")
    with pytest.raises(claims.ClaimLostError):
        claims.begin(claimed)
    settlements.record_sent(claimed, "ref")
    assert db.session.scalar(sa.select(sa.func.count()).select_from(Delivery)) == 0


def test_a_tombstone_is_stored_with_the_chosen_treatment_of_posts(mine):
    erased(mine, mine.id, "delete")
    names = [name for name, _ in storage.area(Area.TOMBSTONES).names()]
    assert any(storage.area(Area.TOMBSTONES).get(name) == b"delete" for name in names)
    assert all(re.fullmatch(r"[0-9a-f]{64}\.\w+", name) for name in names), "only a keyed hash names the person"
