"""Helpers that return results of the SQL console and the table browser."""


def run(client, sql):
    return client.post("/superadmin/query", {"query": sql}).ok()


def rows(client, table, **query):
    return client.get(f"/superadmin/tables/{table}", query_string=query).ok()
