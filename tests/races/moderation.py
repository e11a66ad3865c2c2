"""Concurrent requests in moderation: many reports, and posts that are changed or deleted during a decision."""

from app.identity.models import RoleName
from tests.races.forum import answer, reply, thread, write
from tests.races.meeting import encounter, statuses
from tests.races.people import remove


def reporters(scene, count=3):
    """Create people whose accounts are old enough to report."""
    people = [scene.person() for _ in range(count)]
    for person in people:
        scene.change("UPDATE users SET created_at = now() - interval '30 days' WHERE id = :id", id=person.id)
    return people


def report(who, path, reason="spam"):
    return who.post(f"{path}/lapor", reason=reason)


def decide(scene, admin, decision, post_id, noun="threads"):
    """Return the call that decides the case of a post. If the post has no case, somebody reports the post first."""
    which = "SELECT id FROM cases WHERE post_id = :id"
    if scene.sql(which, id=post_id) is None:
        scene.new(report(scene.person(), f"/forum/{noun}/{post_id}"))
    return admin.put(f"/admins/moderasi/{scene.sql(which, id=post_id)}", decision=decision, reason="Diperiksa.")


def cases_of(scene, thread_id):
    return scene.sql(
        "SELECT count(*) FROM cases WHERE post_id IN (SELECT id FROM posts WHERE id = :id OR root_id = :id)",
        id=thread_id,
    )


@encounter(201)
def three_reports_at_once_are_one_case_and_hide_once(scene):
    scene.person(RoleName.ADMIN, preferences={"moderation": True})
    thread_id = scene.new(write(scene.person()))
    yield [report(who, thread(thread_id)) for who in reporters(scene)]
    assert cases_of(scene, thread_id) == 1
    assert scene.sql("SELECT hidden_by IS NOT NULL FROM posts WHERE id = :id", id=thread_id)


@encounter(201)
def three_reports_at_once_hide_a_reply_once(scene):
    author = scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    yield [report(who, reply(reply_id)) for who in reporters(scene)]
    assert scene.sql("SELECT count(*) FROM cases WHERE post_id = :id", id=reply_id) == 1
    assert scene.sql("SELECT hidden_by IS NOT NULL FROM posts WHERE id = :id", id=reply_id)


@encounter(200, 201)
def one_person_reports_many_times_at_once(scene):
    thread_id = scene.new(write(scene.person()))
    (who,) = reporters(scene, 1)
    responses = yield [report(who, thread(thread_id)) for _ in range(4)]
    assert statuses(responses) == [200, 200, 200, 201]
    assert scene.sql("SELECT hidden_by IS NULL FROM posts WHERE id = :id", id=thread_id)


@encounter(200, 201)
def a_decision_meets_reports(scene):
    admin, thread_id = scene.admin(), scene.new(write(scene.person()))
    yield [*(report(who, thread(thread_id)) for who in reporters(scene)), decide(scene, admin, "keep", thread_id)]
    assert cases_of(scene, thread_id) == 1


@encounter(200, 201)
def a_keep_meets_the_report_that_would_hide(scene):
    """The moderator's decision to keep the post counts, whether it comes before or after the third report.

    Reports from before the decision do not hide a kept post.
    """
    admin, thread_id = scene.admin(), scene.new(write(scene.person()))
    first, second, third = reporters(scene)
    for who in (first, second):
        scene.new(report(who, thread(thread_id)))
    yield [report(third, thread(thread_id)), decide(scene, admin, "keep", thread_id)]
    hidden = "SELECT hidden_by IS NULL FROM posts WHERE id = :id"
    assert scene.sql(hidden, id=thread_id)


@encounter(200, 201, 409)
def an_appeal_meets_the_decision(scene):
    """If the author appeals first, the decision settles the appeal.

    If the author appeals later, the post is visible again, or the appeal waits for a moderator.
    """
    admin, author = scene.admin(), scene.person()
    thread_id = scene.new(write(author))
    case_id = scene.new(decide(scene, admin, "hide", thread_id))
    other_id = scene.new(write(author))
    scene.new(decide(scene, admin, "hide", other_id))
    yield [
        author.post(f"{thread(thread_id)}/banding", note="Mengapa?"),
        admin.put(f"/admins/moderasi/{case_id}", decision="keep", reason="Maaf."),
        author.post(f"{thread(other_id)}/banding", note="Mengapa?"),
        decide(scene, admin, "hide", other_id),
    ]
    assert scene.sql("SELECT (appeal IS NULL) = (state <> 'open') FROM cases WHERE id = :id", id=case_id)
    told = "SELECT count(*) FROM deliveries WHERE user_id = :id AND kind = 'post_moderated'"
    told += " AND (payload ->> 'about_id')::bigint = :case_id"
    told += " AND state = 'pending'"
    assert scene.sql(told, id=author.id, case_id=case_id) == 2


@encounter(200, 201, 404, 409)
def a_hiding_meets_the_authors_deletion(scene):
    """A deleted thread takes its replies and cases along. A notice about it has no text when it leaves."""
    admin, author = scene.admin(), scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    yield [
        decide(scene, admin, "hide", reply_id, "replies"),
        author.delete(reply(reply_id)),
        decide(scene, admin, "hide", thread_id),
        author.delete(thread(thread_id)),
    ]
    left = "SELECT count(*) FROM posts LEFT JOIN cases ON cases.post_id = posts.id WHERE posts.user_id = :id"
    assert scene.sql(left, id=author.id) == 0


@encounter(200, 201)
def a_cry_for_help_meets_the_report_that_would_hide(scene):
    author = scene.person()
    thread_id = scene.new(write(author))
    first, second, third = reporters(scene)
    for who in (first, second):
        scene.new(report(who, thread(thread_id)))
    yield [report(third, thread(thread_id)), author.put(thread(thread_id), content="Aku ingin mati.")]
    assert scene.sql("SELECT hidden_by IS NULL FROM posts WHERE id = :id", id=thread_id)


@encounter(204, 404)
def a_block_is_lifted_once(scene):
    who, thread_id = scene.person(), scene.new(write(scene.person()))
    scene.send(who.post(f"{thread(thread_id)}/blokir"))
    block_id = scene.sql("SELECT id FROM blocks WHERE user_id = :id", id=who.id)
    responses = yield [who.delete(f"/forum/blokir/{block_id}")] * 3
    assert statuses(responses) == [204, 404, 404]


@encounter(200, 201, 404)
def a_deletion_meets_reports(scene):
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
def two_moderators_decide_at_once(scene):
    one, two = scene.admin(), scene.admin()
    author = scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    yield [
        decide(scene, one, "hide", thread_id),
        decide(scene, two, "keep", thread_id),
        decide(scene, one, "hide", reply_id, "replies"),
        decide(scene, two, "hide", reply_id, "replies"),
    ]
    assert cases_of(scene, thread_id) == 2


@encounter(200, 201, 403, 404, 409)
def a_decision_meets_its_author(scene):
    """Try to cause a deadlock: authors move and edit posts while a moderator hides and deletes them."""
    admin, author, other = scene.admin(), scene.person(), scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(other, thread_id))
    yield [
        decide(scene, admin, "hide", thread_id),
        author.put(thread(thread_id), category_id=2),
        decide(scene, admin, "keep", reply_id, "replies"),
        other.put(reply(reply_id), content="Lain."),
        answer(other, thread_id),
        author.post(f"{thread(thread_id)}/banding", note="Mengapa?"),
        other.post(f"{thread(thread_id)}/like"),
    ]


@encounter(200, 201, 401, 404, 409)
def moderation_meets_delete_of_the_author(scene):
    """Try to cause a deadlock: an account is deleted while people report its post and moderators decide about it."""
    one, two, leaving = scene.admin(), scene.admin(), scene.admin()
    sent = leaving.post("/forum/threads", category_id=1, title="T", content="C", use_pseudonym=True)
    thread_id = scene.new(sent)
    case_id = scene.new(decide(scene, one, "keep", thread_id))
    who, blocker = scene.person(), scene.person()
    yield [
        remove(one, leaving),
        two.put(f"/admins/moderasi/{case_id}", decision="hide", reason="x"),
        report(who, thread(thread_id)),
        blocker.post(f"{thread(thread_id)}/blokir"),
    ]


@encounter(200, 201, 401, 404, 409)
def reporting_and_blocking_meet_delete_of_who_does_it(scene):
    admin, leaving, author = scene.admin(), scene.admin(), scene.person()
    thread_id = scene.new(write(author))
    yield [
        remove(admin, leaving),
        report(leaving, thread(thread_id)),
        leaving.post(f"{thread(thread_id)}/blokir"),
        decide(scene, admin, "hide", thread_id),
    ]


def crowd(scene, author, thread_id):
    """Return concurrent calls to one thread: like, save, reply, edit, report, block, hide and delete."""
    admin, other, *fans = scene.admin(), *(scene.person() for _ in range(4))
    first, second = (scene.new(answer(other, thread_id)) for _ in range(2))
    of_fans = [
        lambda fan: fan.post(f"{thread(thread_id)}/like"),
        lambda fan: fan.post(f"{reply(first)}/like"),
        lambda fan: fan.post(f"{reply(first)}/save"),
        lambda fan: answer(fan, thread_id, parent_id=first),
    ]
    of_reporters = [
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
        decide(scene, admin, "hide", first, "replies"),
        decide(scene, admin, "keep", thread_id),
    ]


@encounter(200, 201, 400, 404, 409)
def crowd_meets_in_a_thread(scene):
    author = scene.person()
    yield crowd(scene, author, scene.new(write(author)))


@encounter(200, 201, 404, 409)
def crowd_meets_delete_of_the_thread(scene):
    author = scene.person()
    thread_id = scene.new(write(author))
    yield [*crowd(scene, author, thread_id), author.delete(thread(thread_id))]
