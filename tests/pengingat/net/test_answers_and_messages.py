"""Random sequences of answers, changes and failures, checked against a small model after each step.

`ANSWER_SEQUENCES=2000 .venv/bin/python -m pytest tests/pengingat/net` plays longer. A failure names the seed and the
steps of its sequence. `ANSWER_SEED=7` plays only the sequence with this seed.
"""

import os
import random
from collections import Counter

import pytest

from tests.pengingat.net.answering import AnsweringPlayer
from tests.pengingat.net.model import DAY
from tests.pengingat.net.plans import KINDS
from tests.pengingat.net.times import CHANNELS

pytestmark = pytest.mark.takes(seconds=60)

QUICK, LONG, STEPS = 2, int(os.environ.get("ANSWER_SEQUENCES", "40")), 25
#: Number of sequences that contain everything in `PLAYED`.
ENOUGH = 40
WAYS = ("app", "link", "push", "chat", "caregiver")
MINUTES = (1, 4, 15, 20, 31, 60, 61, 180, 420)
STATUSES = ("done", "done", "skipped", "snooze")
#: Steps by their share of all steps.
SHARES = {
    "pass_time": 5,
    "pass_to_the_next_time": 6,
    "pass_time_without_a_worker": 1,
    "change_the_providers": 2,
    "kill_the_worker": 1,
    "answer_between_two_calls": 1,
    "answer": 8,
    "answer_now": 2,
    "answer_offline": 2,
    "chat": 5,
    "undo": 3,
    "mark": 1,
    "create": 1,
    "edit": 2,
    "delete": 1,
    "consent": 1,
}


class Sequence:
    """One random sequence. Its methods draw the arguments of a step and play it."""

    def __init__(self, player, seed):
        self.player, self.draw = player, random.Random(seed)
        random.seed(seed)  # for the jitter of the service's retries
        for kind in self.draw.sample(KINDS, 4):
            player.create(kind)

    def step(self):
        if self.player.ledger.is_withdrawn and self.draw.random() < 0.3:
            self.player.change_the_consent()
        name = self.draw.choices(list(SHARES), list(SHARES.values()))[0]
        self.player.log.append(name)
        getattr(self, name)()
        self.player.shown.check()

    def _which(self):
        return self.draw.choice((0, 0, 0, 0, 1, 1, 2, 3, 5))

    def pass_time(self):
        self.player.pass_time(self.draw.choice(MINUTES))
        self.player.shown.check(self.player.ledger.now - DAY)

    def pass_to_the_next_time(self):
        self.player.pass_to_the_next_time(self.draw.choice((-20, 0, 0, 0, 2, 25)))

    def pass_time_without_a_worker(self):
        self.player.pass_time(self.draw.choice(MINUTES), works=False)

    def change_the_providers(self):
        self.player.change_the_providers(self.draw.choice(("down", "silent")))

    def kill_the_worker(self):
        self.player.pass_to_the_next_time(0, works=False)
        self.player.work(self.draw.randint(1, 60))

    def answer_between_two_calls(self):
        """Answer one time of a message whose call has an unknown outcome, before the message is repeated."""
        self.player.change_the_providers("silent")
        self.player.pass_to_the_next_time(0)
        self.player.answer("app", self._which(), "done")
        self.player.change_the_providers("silent")
        self.player.pass_time(1)

    def answer(self):
        way = self.draw.choice(("app", "link", "link", "push", "push", "caregiver"))
        self.player.answer(way, self._which(), self.draw.choice(STATUSES))

    def answer_now(self):
        self.player.answer_now(self._which(), self.draw.choice(STATUSES))

    def answer_offline(self):
        ago = self.draw.choice((0, 5, 45, 200, 700))
        self.player.answer_offline(self._which(), self.draw.choice(("done", "skipped")), ago)

    def chat(self):
        chosen = [self.draw.random() for _ in range(self.draw.choice((0, 0, 1, 2)))]
        self.player.chat(self.draw.choice(STATUSES), chosen)

    def undo(self):
        self.player.undo(self._which(), is_named=self.draw.random() < 0.5)

    def mark(self):
        self.player.mark(self.draw.randrange(6))

    def create(self):
        self.player.create(self.draw.choice(KINDS))

    def edit(self):
        self.player.edit(self.draw.randrange(6))

    def delete(self):
        self.player.delete(self.draw.randrange(6))

    def consent(self):
        self.player.change_the_consent()


#: What the long run must contain, by the first words of a line of `Player.played`. Otherwise it would prove little.
PLAYED = (
    *(f"{status} {way} pending: None" for status in ("done", "skipped") for way in WAYS),
    *(f"{what} pending: None" for what in ("done offline", "skipped offline", "snooze app", "snooze chat", "undo")),
    *("done offline missed: None", "done push missed: None", "marked pending", "marked done", "undo missed"),
    *(f"sent {kind} {channel} 1 up" for kind in ("first", "again", "snooze") for channel in CHANNELS),
    *(f"sent first {channel} 2" for channel in CHANNELS),
    *(f"several {kind} {channel}" for kind in ("first", "again", "snooze") for channel in CHANNELS),
    *(
        f"{status} {way} of several: None"
        for status in ("done", "skipped", "snooze")
        for way in ("link", "push", "chat")
    ),
    *("numbers done", "numbers skipped", "repeated in part"),
    *("killed", "edited", "deleted", "withdrawn"),
)


@pytest.mark.parametrize("sequences", [QUICK, pytest.param(LONG, marks=pytest.mark.slow)])
def test_states_stock_and_messages_follow_the_answers(controlled, sequences):
    played = Counter()
    seeds = [int(os.environ["ANSWER_SEED"])] if "ANSWER_SEED" in os.environ else range(sequences)
    for seed in seeds:
        with controlled.rewound():
            sequence = Sequence(player := AnsweringPlayer(controlled, played), seed)
            try:
                for _ in range(STEPS):
                    sequence.step()
            except BaseException as error:
                error.add_note("\n".join([f"seed {seed}:", *player.log]))
                raise
    if len(seeds) >= ENOUGH:
        missing = [each for each in PLAYED if not any(line.startswith(each) for line in +played)]
        assert not missing, missing
