"""Crisis help: the author gets crisis numbers, and moderators get an urgent case."""

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service import crisis, crisis_phrases
from app.notifications.broadcasts import fan_out
from app.notifications.models import Broadcast, Delivery
from dev.counters import wrong_counters
from tests.forum.people import report_by_three
from tests.forum.posts import cases, category_id, moderate, report, write_post, write_reply, write_thread
from tests.helpers.factories import make_admin
from tests.helpers.language import assert_readable
from tests.notifications.deliveries import words_of

CRY = "Aku pengen mati aja."


def test_help_for_the_chat_has_one_line_for_each_number(app, admin):
    number = {"province": "Bali", "phone": "0361-118", "title": "Nomor ambulance", "kind": "ambulance"}
    assert admin.post("/emergency/admin", number).status_code == 201
    first, *numbers = crisis.help_lines("Bali").split("\n")
    assert first == f"{crisis.TITLE}. {crisis.TEXT}"
    assert_readable(first)
    assert numbers == [
        "119 ext. 8: Layanan Kesehatan Jiwa Healing119 (dahulu SEJIWA), https://www.healing119.id",
        "112: Panggilan Darurat",
        "0361-118: Nomor ambulance",
    ]
    assert crisis.help_lines(None).endswith("119: Ambulans")


def test_a_crisis_phrase_takes_precedence_over_an_emergency_phrase(app):
    for texts, kind in (
        (("Ibu saya pingsan!",), "emergency"), (("sesaaak nafas",), "emergency"),
        (("Bapak tdk sadarkan diri",), "emergency"),
        (("saya mau bunuh diri",), "crisis"), (("Ibu pingsan, saya ingin mati",), "crisis"),
        (("Ibu pingsan", "ingin mati"), "crisis"), (("overdosis saja",), "emergency"), (("sakit dada",), "emergency"),
        (("sudah minum",), None), (("sadar diri",), None), ((), None),
    ):  # fmt: skip
        assert crisis.kind_of(*texts) == kind, texts


def test_every_emergency_phrase_is_an_emergency_and_not_a_crisis(app, statements):
    assert {crisis.kind_of(f"Tolong, {phrase}.") for phrase in crisis_phrases.EMERGENCY} == {"emergency"}
    with statements.at_most(0):
        crisis.kind_of("Ibu pingsan", "stroke")


def test_an_emergency_phrase_in_a_thread_gives_no_help_and_no_case(siti, admin):
    assert "help" not in write_thread(siti, title="Stroke", content="Ayah pingsan dan kejang.")
    assert cases(admin) == []


def test_help_is_only_in_the_response_to_the_author(client, siti, budi, admin):
    thread_id = write_thread(budi)["id"]
    written = write_thread(siti, content=CRY)
    reply = write_reply(siti, thread_id, content=CRY)
    assert {"help"} <= set(written) & set(reply)
    assert "help" in siti.put(f"/forum/replies/{reply['id']}", {"content": f"Sungguh. {CRY}"}).json
    assert "help" not in siti.put(f"/forum/replies/{reply['id']}", {"use_pseudonym": True}).json
    for reader in (client, siti, budi, admin):
        for path in ("threads", f"threads/{written['id']}", f"threads/{thread_id}"):
            assert '"help"' not in reader.get(f"/forum/{path}").text
    assert "help" not in write_reply(budi, thread_id, content="Kaki saya mati rasa.")


def test_an_edit_with_a_crisis_phrase_reopens_the_case(siti, admin):
    thread_id = write_thread(siti)["id"]
    assert cases(admin) == []
    assert "help" in siti.put(f"/forum/threads/{thread_id}", {"content": CRY}).json
    moderate(admin, "keep", thread_id=thread_id)
    assert "help" in siti.put(f"/forum/threads/{thread_id}", {"content": f"{CRY} Lagi."}).json
    (case,) = cases(admin)
    assert (case["urgent"], case["state"]) == (True, "open")


def test_a_crisis_post_notifies_an_admin_who_opted_in_and_not_the_author(client, siti):
    wants = make_admin(preferences={"moderation": True})
    thread_id = write_thread(siti, content=CRY)["id"]
    write_reply(siti, thread_id, content=CRY)
    rows = db.session.scalars(sa.select(Delivery)).all()
    assert {(row.user_id, row.kind, words_of(row)["title"]) for row in rows} == {
        (wants.id, "moderation", "Kasus mendesak")
    }
    assert "mati" not in str([words_of(row) for row in rows])


def test_reports_do_not_hide_a_crisis_post_even_after_an_edit(client, siti, admin, noun):
    thread_id = write_thread(siti, content="Halo." if noun == "replies" else CRY)["id"]
    post_id = thread_id if noun == "threads" else write_reply(siti, thread_id, content=CRY)["id"]
    path = f"{noun}/{post_id}"
    report_by_three(client, path)
    assert "help" not in siti.put(f"/forum/{path}", {"content": "Maaf, sudah."}).json
    report_by_three(client, path)
    (case,) = cases(admin)
    assert (case["hidden_by"], case["state"], len(case["reports"])) == (None, "open", 6)
    assert "[disembunyikan moderator]" not in client.get(f"/forum/threads/{thread_id}").text
    admin.put(f"/admins/moderasi/{case['id']}", {"decision": "hide", "reason": "Menyebut cara."})
    assert cases(admin)[0]["hidden_by"] == "moderator"
    assert "[disembunyikan moderator]" in client.get(f"/forum/threads/{thread_id}").text


def test_an_edit_with_a_crisis_phrase_unhides_a_post_hidden_by_reports(client, siti, budi, admin, noun):
    thread_id, post_id = write_post(noun, siti)
    report_by_three(client, f"{noun}/{post_id}")
    assert cases(admin)[0]["hidden_by"] == "reports"
    changes = {"content": CRY, **({"category_id": category_id("Islam")} if noun == "threads" else {})}
    assert "help" in siti.put(f"/forum/{noun}/{post_id}", changes).json
    assert CRY in client.get(f"/forum/threads/{thread_id}").text
    (case,) = cases(admin)
    assert (case["hidden_by"], case["state"], case["urgent"]) == (None, "open", True)
    told = db.session.scalars(sa.select(Delivery).filter_by(kind="post_moderated")).all()
    assert not any(map(words_of, told)), "no moderator has looked at the post"
    assert db.session.scalars(sa.select(Broadcast.state)).all() == ["held" if noun == "threads" else "open"]
    assert wrong_counters() == {"forum_categories": 0, "posts": 0}


def test_a_crisis_edit_does_not_unhide_a_post_hidden_by_a_moderator(client, siti, admin):
    thread_id = write_thread(siti)["id"]
    moderate(admin, "hide", thread_id=thread_id)
    assert "help" in siti.put(f"/forum/threads/{thread_id}", {"content": CRY}).json
    assert CRY not in client.get(f"/forum/threads/{thread_id}").text
    assert (cases(admin)[0]["hidden_by"], cases(admin)[0]["state"]) == ("moderator", "open")


def test_the_broadcast_of_a_crisis_post_is_held_until_the_post_is_kept(client, siti, budi, admin):
    thread_id = write_thread(siti, content=CRY, category_id=category_id("Umum"))["id"]
    broadcast_id, state = db.session.execute(sa.select(Broadcast.id, Broadcast.state)).one()
    db.session.execute(sa.update(Broadcast).values(starts_at=sa.func.now() - sa.func.make_interval(0, 0, 0, 1)))
    db.session.commit()
    assert state == "held"
    fan_out.fan_out(broadcast_id)
    assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 0
    moderate(admin, "keep", thread_id=thread_id)
    fan_out.fan_out(broadcast_id)
    assert {row.kind for row in db.session.scalars(sa.select(Delivery))} == {"broadcast"}


def test_a_broadcast_is_not_sent_twice_after_a_hide_and_a_keep(siti, budi, admin):
    thread_id = write_thread(siti, category_id=category_id("Umum"))["id"]
    broadcast_id = db.session.scalars(sa.select(Broadcast.id)).one()
    report(budi, f"threads/{thread_id}")
    fan_out.fan_out(broadcast_id)
    db.session.execute(sa.update(Delivery).values(state="sent"))
    broadcast = sa.select(Delivery.state).where(Delivery.kind == "broadcast")
    before = db.session.scalars(broadcast).all()
    assert before
    for decision in ("hide", "keep"):
        moderate(admin, decision, thread_id=thread_id)
    fan_out.fan_out(broadcast_id)
    assert db.session.scalars(broadcast).all() == before
