"""Chaos experiment: the same faults as in the module `kills`, but the provider sends receipts.

WhatsApp's receipts contain the id of our delivery. Each receipt arrives twice, in any order. If a worker is killed
while it sends a delivery, a receipt settles the delivery before the delivery's lease (time limit) ends. Only calls that
did not reach the provider are retried.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench.chaos.kills import Kills
from bench.chaos.outcome import ExperimentOutcome, ExperimentPlan
from bench.chaos.world import opened
from bench.environment import Result
from dev.simulators import webhooks

SETTINGS = {
    **webhooks.settings(),
    "MESSAGING_PROVIDER": "whatsapp_cloud",
    # Nobody has written to the service, so reminders and alerts are sent as templates.
    "WHATSAPP_TEMPLATES": '{"reminder": "pengingat", "alert": "kabar"}',
}

WHOLE = ExperimentPlan(reminders=700, seconds=100, faults=30)
SHORT = ExperimentPlan(reminders=300, seconds=30, faults=14)


def run(plan: ExperimentPlan) -> Iterator[Result]:
    outcome = play(plan)
    print(outcome)
    yield from outcome.results(f"{plan.faults} faults with receipts", doubled=0)


def play(plan: ExperimentPlan) -> ExperimentOutcome:
    with opened(plan, settings=SETTINGS) as world:
        url = world.start_web()
        world.sim.messaging.call_back(url, told=["sent", "delivered"], times=2, shuffled=True, late_s=2)
        return Kills(world).play()
