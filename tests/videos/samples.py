"""Sample videos, simulated and stored."""

CHANNEL = "UCkemenkesSimulasi0000001"
ONE = "/videoplatform/videos/hdMaxres001/detail"
MAXRES = "https://i.ytimg.com/vi/hdMaxres001/maxresdefault.jpg"
SAVE = {"video_id": "abc", "title": "Senam", "channel_title": "Kanal"}


def rows(client, path):
    response = client.get(path)
    assert response.status_code == 200, response.get_data(as_text=True)
    body = response.json or []
    return body if isinstance(body, list) else [body]
