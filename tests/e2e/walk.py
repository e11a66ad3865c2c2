"""The main actions of a person, through nginx and the deployed service."""

import io
from datetime import UTC, datetime, timedelta

from PIL import Image

from app.core.lib.local_time import rfc3339
from dev.stack.waiting import wait_until

PERSON = {"username": "siti", "password": "rahasia123", "nama_ktp": "Siti Aminah", "nama_samaran": "Melati",
          "nomor_hp": "081234567890"}  # fmt: skip


def walk(site, sim):
    """Register a person, upload a picture, write to the forum and receive a reminder. All requests go through nginx."""
    assert site.call("POST", "/register", json=PERSON).status_code == 201
    access = site.call("POST", "/login", json={"username": "siti", "password": "rahasia123"}).json()["access_token"]

    picture = io.BytesIO()
    Image.new("RGB", (900, 700), "teal").save(picture, "PNG")
    changed = site.call("PUT", "/profile", access, files={"image": ("foto.png", picture.getvalue())})
    assert changed.status_code == 200, changed.text
    served = site.call("GET", f"/..{changed.json()['image']}", headers={"Origin": "https://app.example.org"})
    assert served.status_code == 200
    assert Image.open(io.BytesIO(served.content)).format == "WEBP"
    assert served.headers["Content-Type"] == "image/webp"
    assert served.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert served.headers["X-Content-Type-Options"] == "nosniff"
    assert served.headers["Access-Control-Allow-Origin"] == "https://app.example.org"
    assert "X-Request-ID" not in served.headers  # nginx sent the picture, not the application

    category = site.call("GET", "/forum/categories").json()[0]["id"]
    form = {"category_id": str(category), "title": "Menu sehat", "content": "Apa menu Anda?", "use_pseudonym": "true"}
    thread = site.call("POST", "/forum/threads", access, data=form)
    assert thread.status_code == 201, thread.text
    assert site.call("GET", f"/forum/threads/{thread.json()['id']}").json()["author"]["name"] == "Melati"

    # Create a doctor's visit in an hour and five seconds, with a reminder an hour before.
    at = rfc3339(datetime.now(UTC) + timedelta(hours=1, seconds=5))
    reminder = {
        "tipe": "kontrol", "judul": "Kontrol gula darah", "waktu": at,
        "details": {"nama_dokter": "dr. Ani", "datetime": at, "reminder_offsets": [{"offset": "1h"}]},
    }  # fmt: skip
    assert site.call("POST", "/pengingat/", access, json=reminder).status_code == 201
    wait_until(lambda: bool(sim.messaging.to("6281234567890")))
    assert "dr. Ani" in sim.messaging.to("6281234567890")[-1].text
