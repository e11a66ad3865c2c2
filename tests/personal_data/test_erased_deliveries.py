"""Stored deliveries contain no names or texts. Deliveries to others do not name an erased person."""

import pytest
import sqlalchemy as sa

from app.core.database.session import db
from app.identity.models import RoleName, User
from app.notifications.models import Delivery, DeliveryState
from app.personal_data import jobs
from tests.forum.posts import write_reply, write_thread
from tests.helpers.factories import PASSWORD, make_user
from tests.notifications.deliveries import words_of
from tests.personal_data.leaving import OBAT, leave, let_the_grace_pass

#: A name so long that messages shorten it.
LONG_NAME = "Jejakqx Wulandari Kusumaningrum Prawirodirdjo"


def erased(theirs, user_id, forum="anonymise"):
    leave(theirs, forum)
    let_the_grace_pass(user_id)
    jobs.erase(user_id)
    db.session.expire_all()
    assert db.session.get(User, user_id) is None


def rows():
    """Return the whole row of each delivery as text, by dedupe key."""
    db.session.commit()
    everything = sa.select(Delivery.dedupe_key, sa.func.to_jsonb(sa.literal_column("deliveries")).cast(sa.Text))
    return {key: row for key, row in db.session.execute(everything)}  # noqa: C416


def said():
    """Return the current text of each pending delivery, by dedupe key."""
    waiting = sa.select(Delivery).where(Delivery.state == DeliveryState.PENDING)
    return {row.dedupe_key: str(words_of(row)) for row in db.session.scalars(waiting).all()}


@pytest.mark.parametrize("forum", ["anonymise", "delete"])
def test_deliveries_not_about_the_erased_person_do_not_change(client, forum):
    """The person has names that also occur in other texts: one letter, and the name of another user."""
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
    before = (rows(), said())
    assert all(
        any(words in text for text in before[1].values()) for words in ("balasan dari Siti ", "Vitamin E", "Data")
    )
    erased(theirs, leaver_id, forum)
    assert (rows(), said()) == before


@pytest.mark.parametrize("forum", ["anonymise", "delete"])
def test_pending_messages_to_others_no_longer_name_the_erased_person(client, forum):
    leaver = make_user(RoleName.PASIEN, RoleName.PENDAMPING, nama_ktp=LONG_NAME, nama_samaran="e")
    rina = make_user(nama_ktp="Rina")
    leaver_id = leaver.id
    theirs, hers = client.as_(leaver), client.as_(rina)
    for use_pseudonym in (False, True):
        thread = write_thread(hers, title="Halo")
        write_reply(theirs, thread["id"], use_pseudonym=use_pseudonym)
    write_reply(client.as_(make_user(nama_ktp="Budi")), write_thread(hers, title="Halo")["id"])
    code = hers.post("/patient/invitations", {"scopes": ["alerts"]}).json["code"]
    assert theirs.post("/caregiver/invitations", {"code": code}).status_code == 201
    assert any("Jejakqx" in text and "pendamping" in text for text in said().values())
    assert "Jejakqx" not in str(rows())
    erased(theirs, leaver_id, forum)
    after = {key: text for key, text in said().items() if not key.startswith("answer")}
    assert "Jejakqx" not in str(after)
    assert "e membalas" not in str(after)
    assert any("Budi membalas" in text for key, text in after.items() if key.startswith("forum_reply"))
