"""Sample videos, simulated and stored."""

CHANNEL = "UCkemenkesSimulasi0000001"
ONE = "/videoplatform/videos/hdMaxres001/detail"
MAXRES = "https://i.ytimg.com/vi/hdMaxres001/maxresdefault.jpg"
SAVE = {"video_id": "abc", "title": "Senam", "channel_title": "Kanal"}


def rows(client, path):
    response = client.get(path)
    assert response.status_code == 200, response.get_data(as_text=True)
    return response.json if isinstance(response.json, list) else [response.json]
