"""Helper for answers by the owner of a reminder."""


class Reminder:
    def __init__(self, client, id_):
        self.client, self.id = client, id_

    def say(self, status, **data):
        return self.client.post(f"/pengingat/{self.id}/konfirmasi", {"status": status, **data})

    @property
    def is_done(self):
        return bool(self.client.get(f"/pengingat/{self.id}").json["is_done"])
