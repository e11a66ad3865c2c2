"""Helper for reminders of a person, and for the answers of their owner."""

from tests.helpers.client import assert_error


class Reminder:
    def __init__(self, client, id_):
        self.client, self.id, self.path = client, id_, f"/pengingat/{id_}"

    def say(self, status, **data):
        return self.client.post(f"{self.path}/konfirmasi", {"status": status, **data})

    def answer(self, status, **data):
        """Check that an answer is accepted. Return the occurrence."""
        return self.say(status, **data).ok()

    def buy(self, amount):
        return self.client.post(f"{self.path}/persediaan", {"tambah": amount}).ok()

    def refuses(self, code, status, **data):
        """Check that an answer is 409 with this code."""
        assert_error(self.say(status, **data), 409, code)

    def put(self, **fields):
        return self.client.put(self.path, fields).ok()

    @property
    def record(self):
        return self.client.get(self.path).json

    @property
    def is_done(self):
        return bool(self.record["is_done"])

    @property
    def left(self):
        """What is left of the medicine."""
        return self.record["details"]["persediaan"]["sisa"]


def create(client, body, **details):
    """Create a reminder of any type, by default a medicine. Add these details to its body."""
    answer = client.post("/pengingat", {"tipe": "obat", **body, "details": {**body["details"], **details}}).ok(201)
    return Reminder(client, answer["id"])


def dose(jam, jumlah=1):
    return {"jam": jam, "jumlah": jumlah, "satuan": "tablet"}


def with_doses(obat, *doses, **fields):
    """Return the details of the medicine with other doses. A text is the time of one tablet, in UTC."""
    jadwal = [dose(each) if isinstance(each, str) else each for each in doses]
    return {**obat["details"], "frekuensi": len(jadwal), "jadwal": jadwal, **fields}
