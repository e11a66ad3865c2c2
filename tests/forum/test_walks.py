"""Two scenarios in the forum: a wrongly reported author, and a person in crisis."""

import sqlalchemy as sa

from app.core.database.session import db
from app.forum.service import crisis
from app.forum.service.reads import HIDDEN
from app.notifications.models import Delivery
from tests.forum.people import report_by_three
from tests.forum.posts import cases, read_thread, write_reply, write_thread
from tests.helpers.client import assert_error
from tests.helpers.factories import make_user
from tests.notifications.deliveries import words_of
from tests.routes.requests import undone


def arrive(who):
    """Mark a person's waiting moderation messages as sent. Return their texts."""
    waiting = sa.select(Delivery).filter_by(user_id=who.id, kind="post_moderated", state="pending", channel="messaging")
    texts = [words_of(row)["text"] for row in db.session.scalars(waiting)]
    db.session.execute(sa.update(Delivery).where(Delivery.user_id == who.id).values(state="sent"))
    db.session.commit()
    return texts


def test_a_wrongly_reported_post_is_kept_after_the_appeal(client, siti, budi, admin):
    """Siti posts under her pseudonym. Three people report her post."""
    thread_id = write_thread(siti, title="Insulin di kulkas?", content="Apakah rusak?", use_pseudonym=True)["id"]
    path = f"/forum/threads/{thread_id}"
    report_by_three(client, f"threads/{thread_id}")
    # The post is now hidden. Siti gets a message with the reason, and still sees the post in the list of her threads.
    assert read_thread(client, thread_id)["title"] == HIDDEN
    (text,) = arrive(siti)
    assert "Beberapa orang melaporkan tulisan ini." in text
    assert "ajukan banding" in text
    assert "Insulin" not in text
    (row,) = siti.get("/forum/threads?mine=true").json
    assert (row["title"], row["is_hidden"], row["hidden_reason"]) == (
        "Insulin di kulkas?", True, "Beberapa orang melaporkan tulisan ini."
    )  # fmt: skip
    for reader in (client, budi, admin):
        assert reader.get("/forum/threads").json == []
    # Siti appeals. The moderator sees the appeal and the pseudonym, but not the name.
    assert siti.post(f"{path}/banding", {"note": "Saya hanya bertanya."}).status_code == 201
    (case,) = cases(admin, "?banding=true")
    assert (case["hidden_by"], case["appeal"], case["author_name"]) == ("reports", "Saya hanya bertanya.", "Melati")
    decided = admin.put(f"/admins/moderasi/{case['id']}", {"decision": "keep", "reason": "Pertanyaan biasa."}).json
    assert (decided["state"], decided["hidden_by"]) == ("kept", None)
    # The moderator has kept the post. Siti gets one more message, and new reports do not hide the post again.
    (text,) = arrive(siti)
    assert "Pertanyaan biasa." in text
    assert arrive(siti) == []
    report_by_three(client, f"threads/{thread_id}")
    assert read_thread(budi, thread_id)["title"] == "Insulin di kulkas?"
    assert_error(siti.post(f"{path}/banding", {"note": "Lagi?"}), 409, "not_hidden")


#: For each province, and for people without one: the phone numbers that administrators have added, and the number that
#: the crisis help must show last.
PROVINCES = {
    "Aceh": ([("0651-118", "ambulance"), ("0651-34565", "hospital")], "0651-118"),
    "Bali": ([("0361-227911", "hospital"), ("0361-110", "police")], "0361-227911"),
    "Papua": ([("0967-110", "police"), ("0967-113", "fire"), ("0967-222", "other")], "119"),
    "DKI Jakarta": ([], "119"),
    "Maluku": ([("119", "ambulance"), ("0911-353118", "hospital")], "0911-353118"),
    None: ([], "119"),
    "Banten": ([("0254-1", "hospital"), ("0254-118", "ambulance"), ("0254-119", "ambulance")], "0254-118"),
}


def test_a_person_in_crisis_gets_the_help_numbers_of_their_province(client, budi, admin, subtests):
    thread_id = write_thread(budi)["id"]
    for province, (numbers, nearest) in PROVINCES.items():
        with subtests.test(province), undone():
            for phone, kind in numbers:
                number = {"province": province, "phone": phone, "kind": kind}
                assert admin.post("/emergency/admin", number).status_code == 201
            person = client.as_(make_user(domicile=province))
            # The crisis line is the first number. The numbers of police and fire brigade are not part of the help.
            reply = write_reply(person, thread_id, content="Saya capek hidup.")
            phones = [row["phone"] for row in reply["help"]["phones"]]
            assert phones == ["119 ext. 8", "112", nearest]
            assert reply["help"]["url"] == "https://www.healing119.id"
            # The help in the chat has the same numbers. The help for an emergency has the ambulance of the province.
            assert [line.split(":")[0] for line in crisis.help_lines(province).split("\n")[1:]] == phones
            ambulance = next((phone for phone, kind in numbers if kind == "ambulance" and phone != "119"), None)
            assert (f"Ambulans di {province}: {ambulance}" in crisis.emergency_lines(province)) is bool(ambulance)
            assert "telepon 119 sekarang" in crisis.emergency_lines(province)


def test_the_author_of_a_cry_for_help_is_not_told_that_moderators_kept_it(siti, admin):
    write_thread(siti, content="Saya capek hidup.")
    (case,) = cases(admin)
    admin.put(f"/admins/moderasi/{case['id']}", {"decision": "keep", "reason": "Kami sudah menyapa."})
    assert arrive(siti) == []
