"""Helpers that return results of the SQL console and the table browser."""


def run(client, sql):
    response = client.post("/superadmin/query", {"query": sql})
    assert response.status_code == 200, response.json
    return response.json


def rows(client, table, **query):
    response = client.get(f"/superadmin/tables/{table}", query_string=query)
    assert response.status_code == 200, response.json
    return response.json
