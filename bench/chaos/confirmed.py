"""Kills as in `kills`, by a provider that tells of each message: a call that was cut is confirmed, and not repeated.

WhatsApp's receipts carry our delivery's id to a web process, each twice and in any order. What its worker died over is
settled by them before its lease ends; only what was cut before the provider had it is sent again.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.chaos.kills import Kills
from bench.chaos.outcome import Outcome, Plan
from bench.chaos.world import opened
from bench.environment import Result
from dev.simulators import webhooks

SETTINGS = {
    **webhooks.settings(),
    "MESSAGING_PROVIDER": "whatsapp_cloud",
    # Nobody has written to us, so each reminder and each alert leaves as a template.
    "WHATSAPP_TEMPLATES": '{"reminder": "pengingat", "alert": "kabar"}',
}

WHOLE = Plan(reminders=2000, seconds=300, faults=80)
SHORT = Plan(reminders=300, seconds=30, faults=12)


def run(plan: Plan) -> Iterator[Result]:
    outcome = play(plan)
    print(outcome)
    yield from outcome.results(f"{plan.faults} kills with receipts", doubled=0)


def play(plan: Plan) -> Outcome:
    with opened(plan, settings=SETTINGS) as world:
        url = world.start_web()
        world.sim.messaging.call_back(url, told=["sent", "delivered"], times=2, shuffled=True, late_s=2)
        return Kills(world).play()
