"""Tests of long messages. The whole text is checked for a crisis or an emergency before it is shortened for storage."""

from __future__ import annotations

import pytest

from app.inbox import jobs
from tests.helpers.client import Client
from tests.inbox.bodies import fonnte_message, heard, message, post_fonnte, post_whatsapp, whatsapp
from tests.inbox.phones import rows

CRISIS, EMERGENCY = "saya mau bunuh diri", "tolong, ibu saya pingsan"


@pytest.mark.parametrize(("cry", "outcome"), [(CRISIS, "answered:crisis"), (EMERGENCY, "answered:emergency")])
def test_danger_is_detected_in_the_whole_text_before_it_is_shortened(
    provider: Client, siti: Client, cry: str, outcome: str
) -> None:
    sender = str(siti.user.phone)[1:]
    long = f"{'panjang ' * 150}{cry}"
    post_whatsapp(provider, whatsapp(heard(messages=[message(long, sender=sender)])))
    (row,) = rows()
    assert (row.text, row.handled_at) == (long[:1000], None)
    jobs.handle()
    assert rows()[0].outcome == outcome


def test_danger_is_detected_in_a_long_fonnte_message(provider: Client, siti: Client) -> None:
    post_fonnte(provider, "message", fonnte_message("x " * 900 + CRISIS, sender=str(siti.user.phone)[1:]))
    assert rows()[0].payload["danger"] == "crisis"


def test_danger_is_detected_at_the_end_of_the_longest_possible_message(provider: Client, siti: Client) -> None:
    text = f"{'x ' * 32_000} {CRISIS}"
    post_fonnte(provider, "message", fonnte_message(text, sender=str(siti.user.phone)[1:]))
    assert rows()[0].payload["danger"] == "crisis"


def test_a_long_text_without_danger_is_shortened_and_not_flagged(provider: Client, siti: Client) -> None:
    post_whatsapp(provider, whatsapp(heard(messages=[message("sudah " * 500)])))
    (row,) = rows()
    assert len(str(row.text)) == 1000
    assert "danger" not in row.payload
