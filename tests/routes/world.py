"""One small world for the checks of all routes: a few people, and one record of each kind."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pyotp

from app.core.database.session import db
from app.identity import sessions
from tests.accounts import resets
from tests.articles.samples import first
from tests.faskes.places import make_faskes
from tests.forum.posts import category_id, moderate, report, write_reply, write_thread
from tests.helpers.factories import PASSWORD, make_admin, make_article, make_superadmin, make_user, make_video
from tests.inbox.phones import FONNTE_TOKEN
from tests.pengingat.falling_due import fall_due
from tests.pengingat.links import payloads
from tests.personal_data.leaving import OBAT
from tests.videos.samples import CHANNEL

#: A part of the names of Siti and of the dependent. No stranger may read it.
PRIVATE = "Rahasia Aminah"
NIK = "3273014502900001"


def build(client, outside, push_key):
    """Return the clients of the people, and the values that paths, queries and bodies of the registry name."""
    world = SimpleNamespace(nobody=client)
    _people(world, client)
    _health(world)
    _forum(world)
    _content(world, outside)
    _accounts(world, outside, push_key)
    db.session.commit()
    return world


def _people(world, client):
    names = {"username": "siti", "nama_ktp": PRIVATE, "nama_samaran": "Melati"}
    siti = make_user(**names, nomor_hp="081234567890", nik=NIK)
    world.siti, world.user_id = client.as_(siti), siti.id
    world.budi = client.as_(make_user("pendamping", username="budi", nama_ktp="Budi Hartono"))
    world.rina, world.username = client.as_(make_admin(username="rina")), "wati"
    world.dewi = client.as_superadmin(make_superadmin(username="dewi"))
    world.admin_id, world.outsider_id = make_admin(username="wati").id, make_user("pendamping").id
    world.caregiver_id = world.other_id = world.budi.id


def _health(world):
    """Add reminders of Siti and of Budi's dependent, and what caregivers and patients share."""
    siti, budi = world.siti, world.budi
    world.invitation_id = _made(siti.post("/patient/invitations", {"scopes": ["alerts"]}))["id"]
    budi.post("/caregiver/patients", {"patient_id": siti.id})
    siti.put(f"/patient/caregivers/{budi.id}", {"scopes": ["alerts"]})
    world.dependent_id = _made(budi.post("/caregiver/dependents", {"nama_ktp": f"Ibu {PRIVATE}"}))["id"]
    _made(budi.post(f"/pengingat/obat?patient_id={world.dependent_id}", OBAT))
    stock = {**OBAT, "details": {**OBAT["details"], "persediaan": {"sisa": 10}}}
    world.pengingat_id, *_ = [_made(siti.post("/pengingat/obat", stock))["id"] for _ in range(3)]
    fall_due(siti.id)
    texts = (str(each["text"]) for each in payloads("messaging") if "text" in each)
    world.token = next(found[1] for text in texts if (found := re.search(r"/k/([\w-]{22})", text)))
    world.code = _made(siti.post("/patient/invitations", {"scopes": ["history"]}))["code"]


def _forum(world):
    siti, budi = world.siti, world.budi
    world.category_id = category_id()
    threads = [write_thread(siti, use_pseudonym=True)["id"] for _ in range(3)]
    world.thread_id, world.hidden_thread, _ = threads
    replies = [write_reply(siti, world.thread_id, use_pseudonym=True)["id"] for _ in range(3)]
    world.reply_id, world.hidden_reply, _ = replies
    moderate(world.rina, "hide", thread_id=world.hidden_thread)
    moderate(world.rina, "hide", reply_id=world.hidden_reply)
    report(budi, f"threads/{threads[2]}")
    world.case_id = world.rina.get("/admins/moderasi").json[0]["id"]
    theirs = write_thread(budi)["id"]
    siti.post(f"/forum/threads/{theirs}/blokir")
    world.block_id = siti.get("/forum/blokir").json[0]["id"]


def _content(world, outside):
    """Add three records of each kind of content and place."""
    rina = world.rina
    for n in range(3):
        world.role_id = _made(rina.post("/roles", {"name": f"relawan-{n}"}))["id"]
        world.kategori_id = _made(rina.post("/kategori", {"nama_kategori": f"Gizi {n}"}))["id"]
        world.komunitas_id = _made(rina.post("/komunitas", {"nama": f"Sahabat {n}"}))["id"]
        world.faskes_id = make_faskes(id=f"rs-{n}").id
        world.dokter_id = _made(rina.post("/dokter", {"nama": f"dr. {n}", "faskes_ids": [world.faskes_id]}))["id"]
        number = {"province": "Jawa Barat", "phone": f"022-{n}"}
        world.number_id = _made(rina.post("/emergency/admin", number))["id"]
        article, video = make_article(), make_video()
        world.siti.post("/articles/save", {"url": article.url, "title": article.title})
        world.siti.post("/videoplatform/save", {"video_id": video.video_id, "title": video.title})
    world.article_id, world.article_url, world.stored_video = article.id, article.url, video.id
    world.video_id, world.channel_id, world.live_url = "hdMaxres001", CHANNEL, first(outside)
    world.province, world.report, world.table_name = "Jawa Barat", "users", "users"
    rina.put("/province-config/Jawa Barat", {"sections": [{"id": "video", "enabled": True}]})


def _accounts(world, outside, push_key):
    """Add what people have beside their records: sessions, codes, browsers, a second factor, an own copy."""
    siti, client = world.siti, world.nobody
    world.reset_code = resets.ask(client, siti.user.phone)
    world.refresh_token = sessions.begin(siti.user).refresh_token
    world.session_id = siti.get("/profile/sesi").json[-1]["id"]
    world.export_id = _made(siti.post("/profile/ekspor", {"password": PASSWORD}))["id"]
    world.browser = outside.push.subscribe(push_key)
    world.subscribed = outside.push.subscribe(push_key)
    siti.post("/push/subscribe", world.subscribed)
    world.starting, _, world.first_digits = _second_factor(client)
    world.careful, codes, digits = _second_factor(client)
    world.careful.put("/profile/otp", {"otp": digits})
    world.fonnte = FONNTE_TOKEN
    world.careful_id, world.recovery_code = world.careful.id, codes[0]


def _second_factor(client):
    """Begin the setup of a second factor of a new administrator."""
    admin = client.as_(make_admin())
    setup = admin.post("/profile/otp", {"password": PASSWORD}).json
    (secret,) = parse_qs(urlsplit(setup["uri"]).query)["secret"]
    return admin, setup["recovery_codes"], pyotp.TOTP(secret).now()


def _made(response):
    assert response.status_code in (201, 202), response.text
    return response.json
