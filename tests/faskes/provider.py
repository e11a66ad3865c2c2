"""Helpers that search near a hospital of the simulated provider."""

JAYAPURA = (-2.533, 140.718)
HOSPITAL = "ChIJsimulasiJayapura"


def around(client, at, radius=5000, **query):
    response = client.get("/faskes/nearby", query_string={"lat": at[0], "lng": at[1], "radius": radius, **query})
    assert response.status_code == 200, response.json
    return response.json


def ids(body):
    return [row["id"] for row in body["results"]]
