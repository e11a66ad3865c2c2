"""Requests of the marked person and of other people, including requests that fail. At the end the person leaves."""

import io
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from zipfile import ZipFile

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from app.core.lib.local_time import rfc3339
from app.identity.models import User
from app.logs import jobs as logs
from app.notifications import jobs
from app.notifications.models import Delivery
from app.personal_data import jobs as personal_data
from tests.core.media.samples import plain
from tests.helpers.client import Client
from tests.helpers.factories import make_admin, make_superadmin, make_user
from tests.inbox.phones import Phone
from tests.pengingat.falling_due import fall_due
from tests.personal_data.traces import dump, places_of
from tests.privacy.marks import MARKS, PERSON
from tests.routes.registry import ACCESS

#: An operator's SQL statement that fails. PostgreSQL's error message contains values of the row.
CARELESS = "SELECT nama_ktp::integer FROM users WHERE username LIKE 'penanda%'"

#: Who reads a route, by its `callers` in the registry of routes. The tests of all routes refuse the others.
READERS = {
    "public": ("nobody",), "optional": ("nobody", "pasien", "pendamping", "admin"), "pasien": ("pasien",),
    "anybody": ("pasien", "pendamping", "admin"), "pendamping": ("pendamping",), "admin": ("admin", "superadmin"),
    "superadmin": ("superadmin",),
}  # fmt: skip


@dataclass
class Answer:
    reader: str
    method: str
    path: str
    status: int
    text: str


@dataclass
class Traces:
    answers: list[Answer] = field(default_factory=list)
    endpoint: str = ""
    redis: list[str] = field(default_factory=list)
    metrics: str = ""
    #: Recipient number and text of each message to other people.
    messages: list[tuple[str, str]] = field(default_factory=list)
    pushes: list[tuple[str, str]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    #: Log of PostgreSQL. None if PostgreSQL runs on another machine, where the tests cannot read the log.
    postgres_log: list[str] | None = None
    #: Tables, keys of Redis and files that contain a mark, by mark: before the erasure, and after it.
    stored: dict[str, set[str]] = field(default_factory=dict)
    left: dict[str, set[str]] = field(default_factory=dict)
    #: Content of each file of the person's own copy.
    copy: dict[str, bytes] = field(default_factory=dict)


class Walk:
    def __init__(self, app, sim, push_key):
        self.app, self.sim, self.push_key = app, sim, push_key
        self.traces = Traces()
        self.nobody = Client(app)
        self.others = {
            "nobody": self.nobody,
            "pasien": self.nobody.as_(make_user(nomor_hp="081300000001")),
            "pendamping": self.nobody.as_(make_user("pendamping", nomor_hp="081300000002")),
            "admin": self.nobody.as_(make_admin(nomor_hp="081300000003", preferences={"moderation": True})),
            "superadmin": self.nobody.as_superadmin(make_superadmin(nomor_hp="081300000004")),
        }
        db.session.commit()

    def play(self):
        self.person_comes()
        self.person_writes()
        self.others_meet_them()
        self.statements_break()
        self.moderators_look()
        self.others_read()
        self.password_is_reset()
        self.look()
        self.person_leaves()
        return self.traces

    def call(self, reader, method, path, json=None, **options):
        """Send a request as another person, and store the response."""
        response = self.others[reader].open(method, path, json, **options)
        text = response.get_data().decode("utf-8", "replace") + str(response.headers)
        self.traces.answers.append(Answer(reader, method, path, response.status_code, text))
        return response

    # --- the person ---

    def person_comes(self):
        assert self.nobody.post("/register", PERSON).status_code == 201
        login = {"username": PERSON["username"], "password": PERSON["password"]}
        # At the end the person types the password into the field of the username.
        for username in (PERSON["username"], PERSON["email"], PERSON["nomor_hp"], PERSON["password"]):
            wrong = self.call("nobody", "POST", "/login", {"username": username, "password": "salah"})
            assert wrong.status_code == 401
        tokens = self.nobody.post("/login", login).json
        assert self.nobody.post("/refresh", {"refresh_token": tokens["refresh_token"]}).status_code == 200
        self.person = self.nobody.with_token(tokens["access_token"])
        self.id = db.session.scalars(sa.select(User.id).filter_by(username=PERSON["username"])).one()
        changes = {name: PERSON[name] for name in ("nik", "preferences", "domicile", "email")}
        assert self.person.put("/profile", changes).status_code == 200
        self.traces.endpoint = self.subscribe(self.person)
        self.subscribe(self.others["pasien"])
        self.subscribe(self.others["admin"])

    def subscribe(self, client):
        """Subscribe a client's browser to pushes. Return the mark (unique word) in its endpoint."""
        browser = self.sim.push.subscribe(self.push_key)
        assert client.post("/push/subscribe", browser).status_code == 201
        return str(browser["endpoint"]).rpartition("/")[2]

    def person_writes(self):
        at = rfc3339(datetime.now(UTC) + timedelta(minutes=5))
        reminder = {"tipe": "terapi", "judul": f"Minum {MARKS['medicine']}", "waktu": at, "details": {}}
        self.reminder = self.person.post("/pengingat", reminder).json["id"]
        assert self.others["pasien"].post("/pengingat", {**reminder, "judul": "Jalan pagi"}).status_code == 201
        category = self.nobody.get("/forum/categories").json[0]["id"]
        thread = {"category_id": category, "title": "Menu sehat", "content": "Apa menu Anda?", "use_pseudonym": True}
        self.thread = self.person.post("/forum/threads", thread).json["id"]
        self.theirs = self.others["pasien"].post("/forum/threads", {**thread, "use_pseudonym": False}).json["id"]
        reply = {"content": "Sayur asem.", "use_pseudonym": True}
        self.reply = self.person.post(f"/forum/threads/{self.theirs}/reply", reply).json["id"]
        assert self.person.post("/log/user-log", {"event_type": "page"}).status_code == 202
        response = self.call("pendamping", "POST", "/caregiver/patients", {"patient_id": self.id})
        assert response.status_code == 201, response.text

        theirs = f"/forum/threads/{self.theirs}"
        picture = {"image": (io.BytesIO(plain()), "saya.png")}
        assert self.person.put("/profile", data=picture, content_type="multipart/form-data").status_code == 200
        for method, path, body in (
            ("PUT", "/profile/notifikasi", {"quiet_hours": {"start": "22:00", "end": "05:00"}}),
            ("PUT", "/profile/persetujuan", {"health_data": True, "broadcasts": True}),
            ("POST", "/articles/save", {"url": "https://kemkes.go.id/id/artikel-1", "title": "Menu sehat"}),
            ("POST", "/videoplatform/save", {"video_id": "dQw4w9WgXcQ", "title": "Menu sehat"}),
            ("POST", f"{theirs}/like", None),
            ("POST", f"{theirs}/save", None),
        ):
            assert self.person.open(method, path, body).status_code in (200, 201), path

    # --- other people ---

    def others_meet_them(self):
        """Try to register, and to update other profiles, with the person's username, phone number and e-mail."""
        twin = {"username": "kembar", "password": "kembar-yang-lain-1", "nama_ktp": "Kembar", "nama_samaran": "Kembar",
                "nomor_hp": "081300000009", "email": "kembar@contoh.id"}  # fmt: skip
        for name in ("username", "nomor_hp", "email"):
            taken = {name: PERSON[name]}
            assert self.call("nobody", "POST", "/register", {**twin, **taken}).status_code == 409
            if name != "username":
                assert self.call("pasien", "PUT", "/profile", taken).status_code == 409
            response = self.call("admin", "POST", "/admins", {**twin, **taken})
            assert response.status_code == 409, response.text
        self.call("nobody", "POST", "/auth/check-username", {"username": PERSON["username"]})
        for method, path in [("PUT", "/pengingat"), ("DELETE", "/pengingat"), ("GET", "/pengingat")]:
            body = {"judul": "Lain"} if method == "PUT" else None
            assert self.call("pasien", method, f"{path}/{self.reminder}", body).status_code == 404
        assert self.call("pasien", "PUT", f"/forum/threads/{self.thread}", {"title": "x"}).status_code == 403

    @contextmanager
    def broken(self):
        """Make every write of the person's row fail with status 500. The error's message contains the row."""
        name = MARKS["name"]
        self.alter(f"ALTER TABLE users ADD CONSTRAINT broken CHECK (nama_ktp NOT LIKE '{name}%') NOT VALID")
        try:
            yield
        finally:
            self.alter("ALTER TABLE users DROP CONSTRAINT broken")

    def alter(self, statement):
        db.session.remove()
        with db.engine.begin() as connection:
            connection.execute(sa.text(statement))

    def statements_break(self):
        with self.broken():
            assert self.person.put("/profile", {"preferences": [MARKS["religion"]]}).status_code == 500
            assert self.nobody.post("/register", {**PERSON, "username": "lainqx", "nomor_hp": "081277660055",
                                                  "email": "lainqx@contoh.id"}).status_code == 500  # fmt: skip
            update = self.call("admin", "PUT", f"/admins/users/{self.id}", {"is_verified": True})
            assert update.status_code == 500, update.text
        refused = self.others["superadmin"].post("/superadmin/query", {"query": CARELESS})
        assert (refused.status_code, refused.json["error"]) == (400, "sql_error"), refused.text

    def moderators_look(self):
        """Report, block, decide and appeal posts that the person wrote under the pseudonym."""
        report = {"reason": "self_harm", "note": "Tolong dilihat."}
        for path in (f"/forum/threads/{self.thread}", f"/forum/replies/{self.reply}"):
            for reader in ("pasien", "pendamping"):
                assert self.call(reader, "POST", f"{path}/lapor", report).status_code == 201
            assert self.call("pendamping", "POST", f"{path}/blokir").status_code == 200
            for reading in ("threads", f"threads/{self.theirs}", "blokir"):
                blocks = self.call("pendamping", "GET", f"/forum/{reading}").json
            for block in blocks:
                assert self.call("pendamping", "DELETE", f"/forum/blokir/{block['id']}").status_code == 204
            assert self.call("pasien", "POST", f"{path}/banding", {"note": "x"}).status_code == 403
        newest, first = (case["id"] for case in self.call("admin", "GET", "/admins/moderasi").json)
        for case, decision in ((newest, "hide"), (newest, "keep"), (first, "hide")):
            body = {"decision": decision, "reason": "Diperiksa."}
            assert self.call("admin", "PUT", f"/admins/moderasi/{case}", body).status_code == 200
        assert self.person.post(f"/forum/threads/{self.thread}/banding", {"note": "Bukan iklan."}).status_code == 201
        for action, body in (("lapor", {"reason": "spam"}), ("blokir", None)):
            assert self.person.post(f"/forum/threads/{self.theirs}/{action}", body).status_code in (200, 201)
        cry = {"content": "Aku ingin mati.", "use_pseudonym": True}
        assert "help" in self.person.post(f"/forum/threads/{self.theirs}/reply", cry).json

    def others_read(self):
        """Call every GET route as each reader whom it lets in, with the person's ids."""
        ids = {"user_id": self.id, "pengingat_id": self.reminder, "thread_id": self.thread, "patient_id": self.id}
        ids["username"] = MARKS["username"]
        for route, callers in ACCESS.items():
            method, path = route.split()
            if method != "GET" or path == "/send-verification-code":  # excluded, because this route sends a message
                continue
            path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: str(ids.get(match[1], "1")), path)
            for reader in READERS[callers]:
                if reader == "superadmin" and "<table_name>" in route:
                    continue  # super-admins may read every table
                query = {"q": MARKS["phone"]} if path in ("/patients", "/caregivers") else None
                assert self.call(reader, method, path, query_string=query).status_code != 500
                if path.startswith("/pengingat"):
                    in_their_place = self.call(reader, method, path, query_string={"patient_id": self.id})
                    assert in_their_place.status_code == 404
        for report in ("users", "admins", "activity-logs", "domicile"):
            assert self.call("admin", "GET", f"/admins/export/{report}").status_code == 200

    def password_is_reset(self):
        for phone in (PERSON["nomor_hp"], "081277660077"):
            assert (
                self.call("nobody", "GET", "/send-verification-code", query_string={"phone": phone}).status_code == 200
            )
        jobs.drain("urgent")
        (text,) = (message.text for message in self.sim.messaging.to(f"62{MARKS['phone']}") if "code=" in message.text)
        code = re.search(r"code=([\w-]+)", text)
        assert code
        body = {"code": code[1], "new_password": MARKS["new password"]}
        assert self.nobody.post("/update-password", body).status_code == 200

    def person_leaves(self):
        """Let the person download the own copy and leave. Search for the marks before and after the erasure."""
        login = {"username": PERSON["username"], "password": MARKS["new password"]}
        person = self.nobody.with_token(self.nobody.post("/login", login).json["access_token"])
        endpoint = self.subscribe(person)  # the first one ended with its session
        assert person.post("/patient/invitations", {"scopes": ["alerts"]}).status_code == 201
        phone = Phone(f"+62{MARKS['phone']}")
        phone.write(f"VERIFIKASI {person.post('/profile/phone/verification', {}).json['code']}")
        phone.write("BANTUAN")
        assert person.post("/profile/phone/verification", {}).status_code == 201  # stays open
        logs.ingest()
        own = {"password": MARKS["new password"]}
        export = person.post("/profile/ekspor", own).json["id"]
        personal_data.make_export(export)
        with ZipFile(io.BytesIO(person.get(f"/profile/ekspor/{export}").data)) as file:
            self.traces.copy = {name: file.read(name) for name in file.namelist()}
        self.traces.stored = self.places(endpoint)
        assert person.delete("/profile", {**own, "forum": "anonymise"}).status_code == 202
        with unit_of_work():
            db.session.execute(sa.update(User).where(User.id == self.id).values(erasure_due_at=sa.func.now()))
        personal_data.erase(self.id)
        self.traces.left = self.places(endpoint)

    def places(self, endpoint):
        marks = {**MARKS, "push endpoint": endpoint}
        places = places_of(self.app, marks.values())
        return {name: places[mark] for name, mark in marks.items()}

    def look(self):
        """Send all deliveries. Then collect everything that the service wrote."""
        with unit_of_work():
            db.session.execute(sa.update(Delivery).values(due_at=sa.func.now(), next_try_at=sa.func.now()))
        fall_due(self.id)
        for queue in ("bulk", "bulk", "bulk", "urgent"):
            jobs.drain(queue)
        self.traces.messages = [(message.target, message.text) for message in self.sim.messaging.sent]
        self.traces.pushes = [(push.endpoint, push.text or "") for push in self.sim.push.messages]
        self.traces.metrics = self.nobody.get("/metrics").text
        redis = self.app.extensions["redis"]
        self.traces.redis = [f"{key!r} {dump(redis, key)!r}" for key in redis.scan_iter()]
