"""Test of all account routes on real processes, in the order in which a single-page application calls them."""

import io
import re
import time

import jwt
import pytest
from PIL import Image

from app.identity import tokens
from dev.stack.waiting import wait_until

pytestmark = pytest.mark.processes


def register(stack, sim, username, role, phone):
    """Register with one request that contains the data of three form steps."""
    account = {"username": username, "password": "rahasia123", "nomor_hp": phone, "role": role}
    identity = {"nama_ktp": username.title(), "nama_samaran": f"Samaran {username}", "domicile": "Jawa Barat"}
    preferences = {"preferences": {"medical": True, "religion": ["islam"]}}
    body = {**account, **identity, **preferences, "captcha-response": sim.captcha.solve()}
    response = stack.call("POST", "/register", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def reset_code(sim, phone):
    """Wait for the message that a worker sends, and return the code in the message."""

    def codes():
        texts = "\n".join(message.text for message in sim.messaging.to(phone))
        return re.findall(r"https://app\.example\.org/reset-password\?code=([\w-]+)", texts)

    wait_until(lambda: codes() != [])
    return codes()[-1]


def test_a_client_uses_all_account_routes_in_order(stack, sim):
    assert stack.call("POST", "/auth/check-username", json={"username": "siti"}).json()["available"] is True
    siti = register(stack, sim, "siti", "pasien", "081234567890")
    budi = register(stack, sim, "budi", "pendamping", "+62 812-9876-5432")
    assert stack.call("POST", "/auth/check-username", json={"username": "Siti"}).json()["available"] is False

    # Log in by phone, then change the profile with a picture.
    login = stack.call("POST", "/login", json={"username": "0812 3456 7890", "password": "rahasia123"})
    access, refresh = login.json()["access_token"], login.json()["refresh_token"]
    picture = io.BytesIO()
    Image.new("RGB", (1200, 800), "teal").save(picture, "PNG")
    form = {"nama_ktp": "Siti Aminah", "preferences": '{"medical": true}'}
    changed = stack.call("PUT", "/profile", access, data=form, files={"image": ("foto.png", picture.getvalue())})
    assert changed.status_code == 200, changed.text
    assert changed.json()["nama_ktp"] == "Siti Aminah"
    served = stack.call("GET", f"/..{changed.json()['image']}")
    assert served.headers["Content-Type"] == "image/webp"

    # Call with an expired access token. After a 401 the client refreshes the token once and repeats the request.
    expired = _expired(stack, access)
    assert stack.call("GET", "/profile", expired).json()["error"] == "token_expired"
    access = stack.call("POST", "/refresh", json={"refresh_token": refresh}).json()["access_token"]
    assert stack.call("GET", "/profile", access).json()["username"] == "siti"

    # Link a caregiver and a patient.
    patient_id = stack.call("GET", "/profile", access).json()["id"]
    link = stack.call("POST", "/caregiver/patients", budi["access_token"], json={"patient_id": patient_id})
    assert link.status_code == 201, link.text
    assert [row["username"] for row in stack.call("GET", "/patient/caregivers", access).json()] == ["budi"]
    assert stack.call("DELETE", f"/caregiver/patients/{patient_id}", budi["access_token"]).status_code == 200
    assert stack.call("GET", "/caregiver/patients", budi["access_token"]).json() == []

    # Reset a forgotten password.
    assert stack.call("GET", "/send-verification-code", params={"phone": "081234567890"}).status_code == 200
    body = {"code": reset_code(sim, "6281234567890"), "new_password": "baru-sekali"}
    assert stack.call("POST", "/update-password", json=body).status_code == 200
    assert stack.call("GET", "/profile", access).status_code == 401
    assert stack.call("GET", "/profile", siti["access_token"]).status_code == 401
    assert stack.call("POST", "/refresh", json={"refresh_token": refresh}).status_code == 401

    # Log in with the new password, and log out.
    again = stack.call("POST", "/login", json={"username": "siti", "password": "baru-sekali"}).json()
    assert stack.call("POST", "/logout", again["access_token"]).status_code == 200
    assert stack.call("GET", "/profile", again["access_token"]).status_code == 401
    assert stack.call("POST", "/refresh", json={"refresh_token": again["refresh_token"]}).status_code == 401

    # Assert that the log has a line of this route, and that the log contains no secrets.
    log = stack.log.read_text()
    assert '"route":"/api/send-verification-code"' in log
    for secret in ("081234567890", "6281234567890", body["code"], "rahasia123", refresh):
        assert secret not in log


def _expired(stack, access):
    """Return the token with an expiry time one minute ago, signed with the key of the running service."""
    key = stack.env["JWT_SECRET_KEYS"]
    claims = jwt.decode(access, options={"verify_signature": False})
    return jwt.encode({**claims, "exp": int(time.time()) - 60}, key, headers={"kid": tokens.key_id(key)})
