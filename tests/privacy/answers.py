"""Expected fields of the responses about the caller's own data."""

from tests.helpers.factories import PASSWORD

DEFAULTS = {"messages": True, "push": True, "quiet_hours": None, "broadcasts": True}
PURPOSES = ["health_data", "broadcasts"]
ANDROID = (
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
)


def listed(client):
    return client.get("/profile/sesi").json


def log_in(client, path="/login", **headers):
    body = {"username": "siti", "password": PASSWORD}
    response = client.post(path, body, headers=headers)
    return client.with_token(response.json["access_token"]), response.json


def lines(client):
    return client.get("/profile/akses").json


def said(client):
    return {row["purpose"]: row for row in client.get("/profile/persetujuan").json}


def granted(client):
    return {purpose: row["granted"] for purpose, row in said(client).items()}
