"""Helper that reads a person's history by a request."""


def rows(client, query="", path="/pengingat/riwayat"):
    return [(row["due_at"][5:16], row["state"]) for row in client.get(path + query).json]
