"""A furnished world: people with reminders, caregivers, posts and sessions. Limits are one row away."""

import base64
import secrets
from datetime import timedelta
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.accounts import verification
from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import now
from app.identity import tokens
from app.identity.dependents import MAX_DEPENDENTS
from app.identity.models import PasswordReset, RoleName
from app.inbox import conversation
from app.notifications.models import Inbound, InboundKind
from app.pengingat.ledger.tokens import hash_of
from app.pengingat.timetable.limits import MAX_REMINDERS
from app.push.service import MAX_PER_USER
from tests.helpers.factories import PASSWORD
from tests.races.meeting import Job, Person, Scene

#: Numbers of phones that nobody has at first.
FREE_NUMBER, OTHER_NUMBER = "087812340001", "087812340002"
SITI = "081200000000"
TOKEN = "tautan-obat-siti-00001"


def medicine(*hours):
    """Return details of a medicine with doses these hours from now."""
    jadwal = [{"jam": f"{(now().hour + hour) % 24:02d}:00", "jumlah": 1, "satuan": "tablet"} for hour in hours]
    return {"nama_obat": "Metformin", "frekuensi": len(hours), "aturan": "saat makan", "jadwal": jadwal}


def remind(person, judul="Obat", query="", sisa=None):
    stock = {} if sisa is None else {"persediaan": {"sisa": sisa}}
    return person.post(f"/pengingat/obat{query}", judul=judul, details={**medicine(5, 11, 17), **stock})


def confirm(person, id_, status, **data):
    return person.post(f"/pengingat/{id_}/konfirmasi", status=status, **data)


def write(author, category_id=1, **data):
    return author.post("/forum/threads", category_id=category_id, title="Menu harian", content="Apa?", **data)


def answer(author, thread_id, **data):
    return author.post(f"/forum/threads/{thread_id}/reply", content="Kurangi gula.", **data)


def report(who, path, reason="spam"):
    return who.post(f"{path}/lapor", reason=reason)


def browser():
    point = ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(
        Encoding.X962, PublicFormat.UncompressedPoint
    )  # fmt: skip
    keys = {"p256dh": point, "auth": secrets.token_bytes(16)}
    return {
        "endpoint": f"https://push.example.com/{secrets.token_hex(8)}",
        "keys": {name: base64.urlsafe_b64encode(key).rstrip(b"=").decode() for name, key in keys.items()},
    }


def hear(nomor_hp, text):
    """Return a job that receives a message from this number. The job's result is the outcome of the message."""

    def work():
        values = {"provider": "test", "event_key": str(uuid4()), "kind": InboundKind.MESSAGE}
        with unit_of_work():
            row = Inbound(phone=f"+62{nomor_hp[1:]}", text=text, payload={"type": "text"}, **values)
            db.session.add(row)
            db.session.flush()
            row.outcome = conversation.handle(row)
            row.handled_at = row.received_at
            return row.outcome

    return Job(work, text)


def word(scene, person, nomor_hp):
    """Return a job that proves a phone number by an incoming message with the person's code."""
    code = scene.send(person.post("/profile/phone/verification", nomor_hp=nomor_hp)).body["code"]

    def work():
        with unit_of_work():
            return verification.confirm_by_message(f"+62{nomor_hp[1:]}", code)

    return Job(work, f"VERIFIKASI {nomor_hp}")


def fall_due(scene, id_, minutes=1):
    """Move the first occurrence of a reminder, and its bells, to some minutes ago."""
    scene.change(
        """
        WITH first AS (SELECT id, user_id, due_at FROM occurrences WHERE reminder_id = :id ORDER BY id LIMIT 1),
            moved AS (
                UPDATE deliveries d SET due_at = date_trunc('second', now()) - :minutes * interval '1 minute'
                FROM first WHERE d.user_id = first.user_id AND d.due_at = first.due_at)
        UPDATE occurrences o SET due_at = date_trunc('second', now()) - :minutes * interval '1 minute'
        FROM first WHERE o.id = first.id""",
        id=id_,
        minutes=minutes,
    )


def send_with_link(scene, id_, token):
    """Record that the bell of a reminder's due dose was sent, with a link that has this token."""
    scene.change(
        """UPDATE deliveries SET state = 'sent', settled_at = o.due_at, claim_token = gen_random_uuid(),
            due_at = o.due_at, said = ARRAY[o.id], link_hash = :hash, provider_ref = :token
        FROM (SELECT id, user_id, due_at FROM occurrences WHERE reminder_id = :id AND due_at <= now()) AS o
        WHERE deliveries.id = (
            SELECT min(id) FROM deliveries d WHERE d.user_id = o.user_id AND channel = 'messaging' AND kind = 'reminder'
            AND d.state = 'pending')""",
        id=id_,
        token=token,
        hash=hash_of(token),
    )


class World(Scene):
    """The furnished world. Its attributes are people and ids of records."""

    def furnish(self):
        self._add_people()
        self._add_reminders()
        self._add_posts()
        self._add_records()
        self.change("UPDATE users SET created_at = now() - interval '30 days'")
        # Nothing more falls due or may be sent while the tests run.
        self.change("UPDATE deliveries SET next_try_at = now() + interval '1 day' WHERE next_try_at > now()")
        self.forget()

    def _add_people(self):
        # Siti is a staff account, so an administrator can delete her and all that she has in one transaction.
        self.siti = self.person(RoleName.PASIEN, RoleName.ADMIN, nomor_hp=SITI, domicile="Jawa Barat")
        self.change("UPDATE users SET is_staff = true WHERE id = :id", id=self.siti.id)
        self.ana, self.dewi, self.eka = (self.person(nomor_hp=f"08120000000{n}") for n in range(1, 4))
        self.budi = self.person(RoleName.PENDAMPING, nomor_hp="081200000005")
        self.tono = self.person(RoleName.PENDAMPING, RoleName.PASIEN, nomor_hp="081200000006")
        self.lina = self.person(RoleName.PENDAMPING, RoleName.PASIEN)
        self.gone = self.person(nomor_hp="081200000008")
        self.rina, self.wati = self.admin(), self.admin()
        self.pasien = self.sql("SELECT id FROM roles WHERE name = 'pasien'")
        self.other_session = self.send(self.siti.log_in()).body["refresh_token"]
        self.new(self.budi.post("/caregiver/patients", patient_id=self.siti.id))
        scopes = ["alerts", "history", "manage"]
        self.send(self.siti.put(f"/patient/caregivers/{self.budi.id}", scopes=scopes))
        made = self.send(self.siti.post("/patient/invitations", scopes=scopes)).body
        self.invitation, self.code = made["id"], made["code"]
        kept = [self.new(self.budi.post("/caregiver/dependents", nama_ktp="Ibu")) for _ in range(MAX_DEPENDENTS - 1)]
        self.dependent = Person(kept[0])
        self.proof = word(self, self.ana, FREE_NUMBER)
        self.other_proof = word(self, self.dewi, FREE_NUMBER)
        self.swaps = word(self, self.eka, "081200000006"), word(self, self.tono, "081200000003")
        self.reset_code = tokens.new_opaque()
        with unit_of_work():
            expires_at = now() + timedelta(minutes=30)
            code = {"token_hash": tokens.digest(self.reset_code), "expires_at": expires_at}
            db.session.add(PasswordReset(user_id=self.ana.id, **code))
        self.new(remind(self.lina))
        self.send(self.lina.put("/profile/persetujuan", health_data=False))
        old = "UPDATE consents SET created_at = now() - interval '73 hours' WHERE user_id = :id"
        self.change(old, id=self.lina.id)
        for _ in range(MAX_PER_USER - 1):
            self.send(self.siti.post("/push/subscribe", **browser()))
        self.browser = browser()

    def _add_reminders(self):
        """Add a dose that is due, one that is answered and one that is overdue, and all reminders but the last."""
        self.due = self.new(remind(self.siti, "Jatuh tempo", sisa=10))
        self.done = self.new(remind(self.siti, "Terjawab", sisa=10))
        self.overdue = self.new(remind(self.siti, "Terlewat"))
        fall_due(self, self.due)
        fall_due(self, self.done, 2)
        fall_due(self, self.overdue, 70)
        dose = 'SELECT to_char(due_at, \'YYYY-MM-DD"T"HH24:MI:SS"Z"\') FROM occurrences'
        self.due_at, self.done_at, self.overdue_at = (
            self.sql(f"{dose} WHERE reminder_id = :id ORDER BY id", id=id_)
            for id_ in (self.due, self.done, self.overdue)
        )
        send_with_link(self, self.due, TOKEN)
        self.send(confirm(self.siti, self.done, "done", due_at=self.done_at))
        self.change("UPDATE deliveries SET next_try_at = now() WHERE kind = 'reminder' AND due_at <= now()")
        self.change(
            """
            INSERT INTO reminders
                (user_id, tipe, judul, waktu, timezone, details, active_from, planned_until, is_finished)
            SELECT :id, 'kontrol', 'Kontrol', now() + n * interval '30 days', 'UTC', '{}', now(), '9999-01-01', true
            FROM generate_series(1, :count) AS n""",
            id=self.siti.id,
            count=MAX_REMINDERS - 4,
        )
        self.of_dependent = self.new(remind(self.budi, "Ibu", f"?patient_id={self.dependent.id}"))
        self.change("UPDATE reminders SET planned_until = now() + interval '1 minute' WHERE NOT is_finished")

    def _add_posts(self):
        """Add a thread of Ana with replies, which the next report hides, and a thread that is hidden."""
        self.thread = self.new(write(self.ana))
        self.reply = self.new(answer(self.siti, self.thread))
        self.below = self.new(answer(self.dewi, self.thread, parent_id=self.reply))
        self.hidden, self.second, self.gone_thread = (
            self.new(write(who, 2)) for who in (self.siti, self.dewi, self.gone)
        )
        self.send(self.eka.post(f"/forum/threads/{self.second}/blokir"))
        self.block = self.sql("SELECT id FROM blocks")
        self.send(self.gone.delete("/profile", password=PASSWORD, forum="delete"))
        self.change("UPDATE users SET erasure_due_at = now() WHERE id = :id", id=self.gone.id)
        self.change("UPDATE users SET created_at = now() - interval '30 days'")
        for who in (self.tono, self.budi):
            self.new(report(who, f"/forum/threads/{self.thread}"))
        self.new(report(self.eka, f"/forum/threads/{self.hidden}"))
        cases = "SELECT id FROM cases WHERE post_id = :id"
        self.case, self.hidden_case = (self.sql(cases, id=post) for post in (self.thread, self.hidden))
        self.send(self.rina.put(f"/admins/moderasi/{self.hidden_case}", decision="hide", reason="Iklan."))
        self.change("UPDATE broadcasts SET starts_at = now() WHERE about_id = :id", id=self.thread)
        self.broadcast = self.sql("SELECT id FROM broadcasts WHERE about_id = :id", id=self.thread)

    def _add_records(self):
        self.kategori = self.new(self.rina.post("/kategori", nama_kategori="Gizi"))
        self.faskes = self.new(self.rina.post("/faskes", id="a", nama="A", lat=-6.9, lng=107.6))
        self.new(self.rina.post("/faskes", id="b", nama="B", lat=-6.9, lng=107.6))
        self.dokter = self.new(self.rina.post("/dokter", nama="dr. Ani", faskes_ids=["a"]))
        self.article = self.new(self.rina.post("/articles", title="Artikel", content="x", url="https://contoh.id/1"))
        self.role = self.new(self.rina.post("/roles", name="khusus"))
