"""Helper for answers by the owner of a reminder."""

from __future__ import annotations

from typing import Any

from tests.helpers.client import Client


class Reminder:
    def __init__(self, client: Client, id_: int) -> None:
        self.client, self.id = client, id_

    def say(self, status: str, **data: Any) -> Any:
        return self.client.post(f"/pengingat/{self.id}/konfirmasi", {"status": status, **data})

    @property
    def is_done(self) -> bool:
        return bool(self.client.get(f"/pengingat/{self.id}").json["is_done"])
