"""Erasing somebody empties the deliveries to others that name them, and changes no other delivery."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from app.core.database.session import db, unit_of_work
from app.identity.models import RoleName, User
from app.notifications import outbox
from app.notifications.broadcasts import fan_out
from app.notifications.messages import message_user
from app.notifications.models import About, Broadcast, Channel, Delivery, State
from app.personal_data import erasers, jobs
from tests.forum.posts import category_id, write_reply, write_thread
from tests.helpers.client import Client
from tests.helpers.factories import PASSWORD, make_user
from tests.inbox.phones import Phone
from tests.personal_data.leaving import OBAT, PERSON, leave, let_the_grace_pass

#: Longer than a message shows it.
LONG_NAME = "Jejakqx Wulandari Kusumaningrum Prawirodirdjo"


def erased(theirs: Client, user_id: int, forum: str = "anonymise") -> None:
    leave(theirs, forum)
    let_the_grace_pass(user_id)
    jobs.erase(user_id)
    db.session.expire_all()
    assert db.session.get(User, user_id) is None


def sent() -> dict[str, dict[str, object]]:
    """Let every delivery have left; returns their payloads by their keys."""
    db.session.execute(sa.update(Delivery).values(state=State.SENT, settled_at=sa.func.now()))
    db.session.commit()
    return payloads()


def payloads() -> dict[str, dict[str, object]]:
    rows = db.session.execute(sa.select(Delivery.dedupe_key, Delivery.payload))
    return {row.dedupe_key: row.payload for row in rows}


def texts(said: dict[str, dict[str, object]]) -> list[str]:
    return [str(payload["text"]) for payload in said.values() if "text" in payload]


@pytest.mark.parametrize("forum", ["anonymise", "delete"])
def test_no_delivery_changes_that_is_not_about_the_person(client: Client, forum: str) -> None:
    """The person's names are a letter, a word of every message, and the name of somebody who stays."""
    leaver = make_user(username="akun", nama_ktp="Siti", nama_samaran="e")
    leaver_id, theirs = leaver.id, client.as_(leaver)
    hers = client.as_(make_user(nama_ktp="Rina"))
    namesake = client.as_(make_user(nama_ktp="Siti", nama_samaran="e"))
    obat = {**OBAT, "judul": "Vitamin E", "details": {**OBAT["details"], "nama_obat": "Vitamin E"}}
    assert hers.post("/pengingat/obat", obat).status_code == 201
    for use_pseudonym in (False, True):
        thread = write_thread(hers, title="Vitamin E, e, Siti, akun")
        write_reply(namesake, thread["id"], use_pseudonym=use_pseudonym)
    changed = hers.put("/profile", {"password": "baru-sekali-9", "current_password": PASSWORD})
    assert changed.status_code == 200, changed.json
    before = sent()
    assert {text[:14] for text in texts(before)} >= {"Siti membalas ", "e membalas uta", "Data akun Anda"}
    assert any("Vitamin E" in text for text in texts(before))
    erased(theirs, leaver_id, forum)
    assert payloads() == before


@pytest.mark.parametrize("forum", ["anonymise", "delete"])
def test_what_others_were_sent_about_the_person_is_emptied(client: Client, forum: str) -> None:
    leaver = make_user(RoleName.PASIEN, RoleName.PENDAMPING, nama_ktp=LONG_NAME, nama_samaran="e")
    rina = make_user(nama_ktp="Rina")
    leaver_id, rina_id, number = leaver.id, rina.id, str(rina.phone)
    theirs, hers = client.as_(leaver), client.as_(rina)
    for use_pseudonym in (False, True):
        thread = write_thread(hers, title="Halo")
        reply_id = write_reply(theirs, thread["id"], use_pseudonym=use_pseudonym)["id"]
    stays = write_reply(client.as_(make_user(nama_ktp="Budi")), write_thread(hers, title="Halo")["id"])
    code = hers.post("/patient/invitations", {"scopes": ["alerts"]}).json["code"]
    assert theirs.post("/caregiver/invitations", {"code": code}).status_code == 201
    assert "Jejakqx" in str(Phone(number).write("PUTUS").text)
    thread = write_thread(theirs, title="Menu Jejakqx", category_id=category_id("Umum"))
    announced = sa.select(Broadcast.id).where(Broadcast.about_id == thread["id"])
    fan_out.fan_out(db.session.scalars(announced).one())
    with unit_of_work():
        outbox.add(
            outbox.Draft(
                kind="alert",
                channel=Channel.MESSAGING,
                dedupe_key="alert:1:messaging",
                payload={"text": "Jejakqx belum menandai obat pukul 07.00 WIB.", "patient_id": leaver_id},
                expires_at=datetime.now(UTC) + timedelta(hours=12),
                user_id=rina_id,
                about=About("patient", leaver_id),
            )
        )
    before = sent()
    assert sum("Jejakqx" in text for text in texts(before)) >= 5
    assert any(text.startswith("e membalas") for text in texts(before))
    assert theirs.delete(f"/forum/replies/{reply_id}").status_code == 200
    erased(theirs, leaver_id, forum)
    after = payloads()
    assert "Jejakqx" not in str(after)
    assert not any(text.startswith("e membalas") for text in texts(after))
    assert after[f"forum_reply:{stays['id']}"] == before[f"forum_reply:{stays['id']}"]


def test_many_deliveries_are_emptied_in_small_transactions(client: Client) -> None:
    leaver, rina = make_user(nama_ktp="Jejakqx"), make_user()
    leaver_id, theirs = leaver.id, client.as_(leaver)
    draft = {"kind": "forum_reply", "channel": Channel.MESSAGING, "user_id": rina.id, "expires_at": datetime.now(UTC)}
    said = {"text": "Jejakqx membalas utas Anda di forum."}
    with unit_of_work():
        outbox.add_all([outbox.Draft(**draft, dedupe_key=f"forum_reply:{n}", payload=said) for n in range(1200)])
    assert len(sent()) == 1200
    emptied: list[int] = []

    def count(_: object, cursor: object, statement: str, *__: object) -> None:
        if statement.startswith("UPDATE deliveries"):
            emptied.append(cursor.rowcount)

    connection = db.session.connection()
    event.listen(connection, "after_cursor_execute", count)
    erased(theirs, leaver_id)
    event.remove(connection, "after_cursor_execute", count)
    assert max(emptied) <= erasers.BATCH
    assert set(map(str, payloads().values())) == {"{}"}


@pytest.mark.parametrize(
    ("text", "is_emptied"),
    [
        ("Hubungi 081277660044.", True),
        ("Hubungi +6281277660044, ya", True),
        ("Nomor 6281277660044", True),
        ("Tulis ke JEJAKQX@contoh.id.", True),
        ("Nomor 0812776600445", False),
        ("Nomor 90081277660044", False),
        ("Tulis ke x.jejakqx@contoh.id", False),
    ],
)
def test_a_number_or_an_address_is_found_as_a_whole_word(client: Client, text: str, is_emptied: bool) -> None:
    leaver, rina = make_user(**PERSON), make_user()
    leaver_id, rina_id, theirs = leaver.id, rina.id, client.as_(leaver)
    with unit_of_work():
        message_user(rina_id, text, kind="answer", dedupe_key="said", expires_in=timedelta(hours=1))
    sent()
    erased(theirs, leaver_id)
    assert payloads() == {"said": {} if is_emptied else {"text": text}}
