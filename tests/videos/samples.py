"""Sample videos, simulated and stored."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client

CHANNEL = "UCkemenkesSimulasi0000001"
ONE = "/videoplatform/videos/hdMaxres001/detail"
MAXRES = "https://i.ytimg.com/vi/hdMaxres001/maxresdefault.jpg"
SAVE = {"video_id": "abc", "title": "Senam", "channel_title": "Kanal"}


def rows(client: Client, path: str) -> list[dict[str, Any]]:
    response = client.get(path)
    assert response.status_code == 200, response.get_data(as_text=True)
    body = response.json or []
    return body if isinstance(body, list) else [body]
