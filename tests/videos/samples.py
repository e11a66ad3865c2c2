"""Sample videos, simulated and stored."""

CHANNEL = "UCkemenkesSimulasi0000001"
ONE = "/videoplatform/videos/hdMaxres001/detail"
MAXRES = "https://i.ytimg.com/vi/hdMaxres001/maxresdefault.jpg"
SAVE = {"video_id": "abc", "title": "Senam", "channel_title": "Kanal"}


def rows(client, path):
    body = client.get(path).ok()
    return body if isinstance(body, list) else [body]
