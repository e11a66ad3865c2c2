"""Concurrent requests in the forum: likes, replies to deleted posts, and requests that could cause deadlocks."""

from app.identity.models import RoleName
from tests.races.meeting import encounter
from tests.races.people import remove


def write(author, category_id=1):
    return author.post("/forum/threads", category_id=category_id, title="Menu harian", content="Apa?")


def answer(author, thread_id, **data):
    return author.post(f"/forum/threads/{thread_id}/reply", content="Kurangi gula.", **data)


def thread(thread_id):
    return f"/forum/threads/{thread_id}"


def reply(reply_id):
    return f"/forum/replies/{reply_id}"


@encounter(201)
def replies_to_many_threads_are_two_messages(scene):
    author = scene.person()
    threads = [scene.new(write(author)) for _ in range(4)]
    yield [answer(scene.person(), thread_id) for thread_id in threads]
    waiting = "SELECT count(*) FROM deliveries WHERE user_id = :id AND kind = 'forum_reply'"
    assert scene.sql(waiting, id=author.id) in (2, 3)  # 3 if a bucket ends meanwhile


@encounter(200)
def double_taps_on_a_thread(scene):
    author, fan = scene.person(), scene.person()
    thread_id = scene.new(write(author))
    yield [fan.post(f"{thread(thread_id)}/like")] * 3 + [fan.post(f"{thread(thread_id)}/save")] * 3
    assert scene.sql("SELECT likes_count + saves_count FROM posts WHERE id = :id", id=thread_id) == 2


@encounter(200)
def taps_of_many_on_a_reply(scene):
    fans = [scene.person() for _ in range(6)]
    reply_id = scene.new(answer(fans[0], scene.new(write(fans[0]))))
    yield [fan.post(f"{reply(reply_id)}/like") for fan in fans]
    assert scene.sql("SELECT likes_count FROM posts WHERE id = :id", id=reply_id) == len(fans)


@encounter(200, 404)
def taps_meet_delete_of_the_thread(scene):
    author, fan = scene.person(), scene.person()
    thread_id = scene.new(write(author))
    reply_id = scene.new(answer(author, thread_id))
    yield [
        fan.post(f"{thread(thread_id)}/like"),
        fan.post(f"{reply(reply_id)}/like"),
        author.delete(thread(thread_id)),
        author.post(f"{reply(reply_id)}/save"),
    ]


@encounter(201)
def replies_of_many_to_one_thread(scene):
    author = scene.person()
    thread_id = scene.new(write(author))
    yield [answer(scene.person(), thread_id) for _ in range(4)]
    assert scene.sql("SELECT replies_count FROM posts WHERE id = :id", id=thread_id) == 4


@encounter(200, 201, 404)
def reply_is_written_while_the_thread_is_deleted(scene):
    author, other = scene.person(), scene.person()
    thread_id = scene.new(write(author))
    yield [answer(other, thread_id), author.delete(thread(thread_id)), answer(other, thread_id)]


@encounter(200, 404)
def reply_is_edited_while_the_thread_is_deleted(scene):
    """The edit of a reply replaces a pending notice. The deletion of the thread locks the same notice.

    The edit must therefore lock the thread first.
    """
    author, other = scene.person(), scene.person()
    thread_id = scene.new(write(author))
    replies = [scene.new(answer(other, thread_id)) for _ in range(3)]
    yield [author.delete(thread(thread_id)), *(other.put(reply(each), content="Lain.") for each in replies)]


@encounter(200, 404)
def reply_is_edited_while_it_is_deleted(scene):
    author, other = scene.person(), scene.person()
    reply_id = scene.new(answer(other, scene.new(write(author))))
    yield [other.put(reply(reply_id), content="Lain."), other.delete(reply(reply_id)), other.delete(reply(reply_id))]


@encounter(200, 201, 400)
def reply_is_written_below_one_that_is_deleted(scene):
    author, other = scene.person(), scene.person()
    thread_id = scene.new(write(author))
    parent_id = scene.new(answer(other, thread_id))
    yield [answer(author, thread_id, parent_id=parent_id), other.delete(reply(parent_id))]


@encounter(200)
def parent_and_child_are_deleted(scene):
    author, other = scene.person(), scene.person()
    thread_id = scene.new(write(author))
    parent_id = scene.new(answer(other, thread_id))
    child_id = scene.new(answer(author, thread_id, parent_id=parent_id))
    yield [other.delete(reply(parent_id)), author.delete(reply(child_id))]
    assert scene.sql("SELECT count(*) FROM posts WHERE root_id = :id", id=thread_id) == 0


@encounter(200, 404)
def thread_is_changed_while_it_is_deleted(scene):
    author = scene.person()
    path = thread(scene.new(write(author)))
    yield [author.put(path, title="Lain"), author.delete(path), author.delete(path), author.put(path, category_id=2)]


@encounter(200)
def threads_change_places(scene):
    """Try to cause a deadlock: each move of a thread decreases the counter that the other move increases."""
    author = scene.person()
    one, two = scene.new(write(author, 1)), scene.new(write(author, 2))
    yield [author.put(thread(one), category_id=2), author.put(thread(two), category_id=1)]


@encounter(200, 201, 401, 404)
def forum_meets_delete_of_its_author(scene):
    """Try to cause a deadlock.

    The deletion of a person removes likes, and unlinks the person from threads in which others have replied.
    """
    admin, leaving, other = scene.admin(), scene.person(RoleName.ADMIN), scene.person()
    own, foreign = scene.new(write(leaving)), scene.new(write(other))
    reply_id = scene.new(answer(leaving, foreign))
    scene.send(leaving.post(f"{thread(foreign)}/like"))
    scene.send(leaving.post(f"{reply(reply_id)}/like"))
    yield [
        remove(admin, leaving),
        answer(other, own),
        other.delete(thread(foreign)),
        leaving.post(f"{thread(foreign)}/like"),
        leaving.post(f"{thread(own)}/save"),
        answer(leaving, own),
    ]


@encounter(200, 201)
def two_answer_each_other(scene):
    a, b = scene.person(), scene.person()
    one, two = scene.new(write(a)), scene.new(write(b))
    yield [answer(b, one), answer(a, two), a.post(f"{thread(two)}/like"), b.post(f"{thread(one)}/like")]


@encounter(200, 404)
def two_admins_who_like_the_same_are_deleted(scene):
    admin, a, b = scene.admin(), scene.admin(), scene.admin()
    one, two = scene.new(write(a)), scene.new(write(b))
    for thread_id in (one, two):
        for fan in (a, b):
            scene.send(fan.post(f"{thread(thread_id)}/like"))
    yield [remove(admin, a), remove(admin, b)]
