"""Encounters in moderation: storms of reports, and posts that change or go while somebody decides about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.identity.models import RoleName
from tests.races.forum import answer, reply, thread, write
from tests.races.meeting import Call, Person, Scene, Script, encounter, statuses
from tests.races.people import remove


def reporters(scene: Scene, count: int = 3) -> list[Person]:
    """People whose accounts are old enough."""
    people = [scene.person() for _ in range(count)]
    for person in people:
        scene.change("UPDATE users SET created_at = now() - interval '30 days' WHERE id = :id", id=person.id)
    return people


def report(who: Person, path: str, reason: str = "spam") -> Call:
    return who.post(f"{path}/lapor", reason=reason)


def decide(admin: Person, decision: str, **post: Any) -> Call:
    return admin.post("/admins/moderasi", decision=decision, reason="Diperiksa.", **post)


def cases_of(scene: Scene, thread_id: int) -> Any:
    return scene.sql("SELECT count(*) FROM forum_cases WHERE thread_id = :id", id=thread_id)


@encounter(201)
def three_reports_at_once_are_one_case_and_hide_once(scene: Scene) -> Script:
    scene.person(RoleName.ADMIN, preferences={"moderation": True})
    thread_id = scene.new(write(scene.person()))
    yield [report(who, thread(thread_id)) for who in reporters(scene)]
    assert cases_of(scene, thread_id) == 1
    assert scene.sql("SELECT hidden_reason IS NOT NULL FROM forum_threads WHERE id = :id", id=thread_id)


@encounter(201)
def three_reports_at_once_hide_a_reply_once(scene: Scene) -> Script:
    author = scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    yield [report(who, reply(reply_id)) for who in reporters(scene)]
    assert cases_of(scene, thread_id) == 1
    assert scene.sql("SELECT hidden_reason IS NOT NULL FROM forum_replies WHERE id = :id", id=reply_id)


@encounter(200, 201)
def one_person_reports_many_times_at_once(scene: Scene) -> Script:
    thread_id = scene.new(write(scene.person()))
    (who,) = reporters(scene, 1)
    responses = yield [report(who, thread(thread_id)) for _ in range(4)]
    assert statuses(responses) == [200, 200, 200, 201]
    assert scene.sql("SELECT hidden_reason IS NULL FROM forum_threads WHERE id = :id", id=thread_id)


@encounter(200, 201)
def a_decision_meets_reports(scene: Scene) -> Script:
    admin, thread_id = scene.admin(), scene.new(write(scene.person()))
    yield [*(report(who, thread(thread_id)) for who in reporters(scene)), decide(admin, "keep", thread_id=thread_id)]
    assert cases_of(scene, thread_id) == 1


@encounter(200, 201, 404)
def a_deletion_meets_reports(scene: Scene) -> Script:
    author = scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    first, second, third = reporters(scene)
    yield [
        report(first, thread(thread_id)),
        report(second, reply(reply_id)),
        author.delete(thread(thread_id)),
        report(third, thread(thread_id)),
        author.delete(reply(reply_id)),
    ]


@encounter(200, 201)
def two_moderators_decide_at_once(scene: Scene) -> Script:
    one, two = scene.admin(), scene.admin()
    author = scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    yield [
        decide(one, "hide", thread_id=thread_id),
        decide(two, "keep", thread_id=thread_id),
        decide(one, "hide", reply_id=reply_id),
        decide(two, "hide", reply_id=reply_id),
    ]
    assert cases_of(scene, thread_id) == 2


@encounter(200, 201, 403, 404, 409)
def a_decision_meets_its_author(scene: Scene) -> Script:
    """An invitation to deadlock: the author moves, edits and deletes what is hidden, shown and deleted."""
    admin, author, other = scene.admin(), scene.person(), scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(other, thread_id))
    yield [
        decide(admin, "hide", thread_id=thread_id),
        author.put(thread(thread_id), category_id=2),
        decide(admin, "delete", reply_id=reply_id),
        other.put(reply(reply_id), content="Lain."),
        answer(other, thread_id),
        author.post(f"{thread(thread_id)}/banding", note="Mengapa?"),
        other.post(f"{thread(thread_id)}/like"),
    ]


@encounter(200, 404, 409)
def a_pseudonym_is_lifted_once(scene: Scene) -> Script:
    admins = [scene.admin() for _ in range(3)]
    author = scene.person()
    sent = author.post("/forum/threads", category_id=1, title="T", content="C", use_pseudonym=True)
    thread_id = scene.new(sent)
    case_id = scene.new(decide(admins[0], "keep", thread_id=thread_id))
    responses = yield [admin.post(f"/admins/moderasi/{case_id}/identitas", reason="x") for admin in admins]
    assert statuses(responses) == [200, 409, 409]
    told = "SELECT string_agg(channel, ' ' ORDER BY channel) FROM deliveries WHERE user_id = :id"
    assert scene.sql(told, id=author.id) == "messaging push_fan_out"


@encounter(200, 201, 401, 404, 409)
def moderation_meets_delete_of_the_author(scene: Scene) -> Script:
    """An invitation to deadlock: the account goes while its post is decided, reported, blocked and unmasked."""
    one, two, leaving = scene.admin(), scene.admin(), scene.admin()
    sent = leaving.post("/forum/threads", category_id=1, title="T", content="C", use_pseudonym=True)
    thread_id = scene.new(sent)
    case_id = scene.new(decide(one, "keep", thread_id=thread_id))
    who, blocker = scene.person(), scene.person()
    yield [
        remove(one, leaving),
        two.put(f"/admins/moderasi/{case_id}", decision="hide", reason="x"),
        two.post(f"/admins/moderasi/{case_id}/identitas", reason="x"),
        report(who, thread(thread_id)),
        blocker.post(f"{thread(thread_id)}/blokir"),
    ]


@encounter(200, 201, 401, 404, 409)
def reporting_and_blocking_meet_delete_of_who_does_it(scene: Scene) -> Script:
    admin, leaving, author = scene.admin(), scene.admin(), scene.person()
    thread_id = scene.new(write(author))
    yield [
        remove(admin, leaving),
        report(leaving, thread(thread_id)),
        leaving.post(f"{thread(thread_id)}/blokir"),
        decide(admin, "hide", thread_id=thread_id),
    ]


def crowd(scene: Scene, author: Person, thread_id: int) -> list[Call]:
    """Like, save, answer, edit, report, block, hide and delete in one popular thread."""
    admin, other, *fans = scene.admin(), *(scene.person() for _ in range(4))
    first, second = (scene.new(answer(other, thread_id)) for _ in range(2))
    of_fans: list[Callable[[Person], Call]] = [
        lambda fan: fan.post(f"{thread(thread_id)}/like"),
        lambda fan: fan.post(f"{reply(first)}/like"),
        lambda fan: fan.post(f"{reply(first)}/save"),
        lambda fan: answer(fan, thread_id, parent_id=first),
    ]
    of_reporters: list[Callable[[Person], Call]] = [
        lambda who: who.post(f"{thread(thread_id)}/save"),
        lambda who: report(who, thread(thread_id)),
        lambda who: report(who, reply(first)),
    ]
    return [
        *(call(fan) for call in of_fans for fan in fans),
        *(call(who) for call in of_reporters for who in reporters(scene)),
        answer(other, thread_id),
        author.put(thread(thread_id), title="Lain", category_id=2),
        other.put(reply(first), content="Lain."),
        author.post(f"{reply(second)}/blokir"),
        other.delete(reply(second)),
        decide(admin, "hide", reply_id=first),
        decide(admin, "keep", thread_id=thread_id),
    ]


@encounter(200, 201, 400, 404, 409)
def crowd_meets_in_a_thread(scene: Scene) -> Script:
    author = scene.person()
    yield crowd(scene, author, scene.new(write(author)))


@encounter(200, 201, 404, 409)
def crowd_meets_delete_of_the_thread(scene: Scene) -> Script:
    author = scene.person()
    thread_id = scene.new(write(author))
    yield [*crowd(scene, author, thread_id), author.delete(thread(thread_id))]


@encounter(201, 409)
def one_phrase_is_added_twice(scene: Scene) -> Script:
    phrase = f"gelap sekali {scene.number()}"
    responses = yield [scene.admin().post("/admins/moderasi/frasa", phrase=phrase) for _ in range(3)]
    assert statuses(responses) == [201, 409, 409]
