"""Tests of forum blocks in an export. The exported blocks must not reveal which person uses a pseudonym."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import User
from tests.forum.posts import moderate, write_thread
from tests.helpers.factories import make_admin, make_user
from tests.personal_data.exports import exported, rows


def exported_blocks(client):
    with exported(client) as file:
        return rows(file, "blocks")


def block(who, author, *, use_pseudonym):
    thread_id = int(write_thread(author, use_pseudonym=use_pseudonym)["id"])
    assert who.post(f"/forum/threads/{thread_id}/blokir").status_code == 200
    return thread_id


@pytest.mark.parametrize("first", [("Ani", "Zebra"), ("Zul", "Apel")])
def test_exported_blocks_do_not_link_names_to_pseudonyms(client, mine, first):
    for nama_ktp, nama_samaran in sorted((("Ani", "Zebra"), ("Zul", "Apel")), key=lambda names: names != first):
        author = client.as_(make_user(nama_ktp=nama_ktp, nama_samaran=nama_samaran))
        block(mine, author, use_pseudonym=False)
        block(mine, author, use_pseudonym=True)
    blocks = exported_blocks(mine)
    assert [(row["kind"], row["shown_as"]) for row in blocks] == [
        ("alias", "Apel"), ("alias", "Zebra"), ("name", "Ani"), ("name", "Zul")
    ]  # fmt: skip
    assert {tuple(row) for row in blocks} == {("kind", "shown_as", "created_at")}


def test_blocks_by_other_people_are_not_exported(client, mine):
    block(client.as_(make_user()), mine, use_pseudonym=False)
    assert exported_blocks(mine) == []


@pytest.mark.parametrize("how", ["deleted", "hidden"])
def test_an_exported_block_has_the_pseudonym_at_the_time_of_blocking(client, mine, how):
    author = make_user(nama_samaran="Melati")
    author_id, theirs = author.id, client.as_(author)
    thread_id = block(mine, theirs, use_pseudonym=True)
    write_thread(theirs)
    if how == "deleted":
        assert theirs.delete(f"/forum/threads/{thread_id}").status_code == 200
    else:
        moderate(client.as_(make_admin()), "hide", thread_id=thread_id)
    db.session.execute(sa.update(User).where(User.id == author_id).values(nama_samaran="Kenanga"))
    assert [(row["kind"], row["shown_as"]) for row in exported_blocks(mine)] == [("alias", "Melati")]
