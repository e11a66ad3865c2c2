"""Messages that the providers received. Each must be one of the messages that the model allows now."""

import re
from dataclasses import dataclass

from tests.helpers.controlled import Providers
from tests.pengingat.net.model import DAY, LONGEST_RETRY, MINUTE, Ledger
from tests.pengingat.net.plans import DAILY, ZONE

#: Title of a reminder. Each has its own.
NAME = re.compile(r"Judul K\d+")
CLOCK = re.compile(r"pukul (\d\d\.\d\d) WIB")
REMINDS = re.compile(r"waktunya|Waktunya|jadwal kontrol")
#: The worker's retries after a death take up to this time.
AFTER_DEATH = 5 * MINUTE
#: Days of stock at which the notice is sent.
STOCK_DAYS = 2


@dataclass
class Received:
    """All messages so far. `phone` is the patient's number, and `caregiver` that of the caregiver."""

    ledger: Ledger
    phone: str
    caregiver: str
    providers: Providers
    chats: int = 0
    replies: int = 0

    def match(self, sent):
        """Check one message. Return the bell that it was, or None if it is no reminder."""
        if sent.to == self.caregiver:
            self._check_alert(sent)
        elif "kira-kira habis" in sent.text:
            self._check_stock_notice(sent)
        elif REMINDS.search(sent.text):
            return self._match_reminder(sent)
        else:
            self.replies += 1
            assert sent.channel == "messaging", sent
            assert self.replies <= 2 * self.chats, f"nobody asked for this: {sent}"
        return None

    def _match_reminder(self, sent):
        candidates = list(self._candidates(sent))
        allowed = [(time, bell) for time, bell in candidates if self.ledger.may_be_sent(time, bell)]
        assert allowed, f"{self.ledger.now}: {sent} may not leave. It could be {candidates}"
        time, bell = max(allowed, key=lambda each: self._likelihood(*each))
        bell.sent_at.append(self.ledger.now)
        bell.is_lost, bell.is_unknown, bell.is_unsure = self.providers.mood == "silent", False, False
        assert sent.token
        time.tokens[sent.channel] = sent.token
        return bell

    def _likelihood(self, time, bell):
        """Return a value to compare bells by. The texts of a first and a second push are the same."""
        is_plausible = bell.kind != "again" or bool(time.first(bell.channel).sent_at)
        return self.ledger.must_be_sent(time, bell), is_plausible, bell.at

    def _candidates(self, sent):
        (name,), clocks = set(NAME.findall(sent.text)), CLOCK.findall(sent.text)
        for time, bell in self.ledger.bells():
            is_kind = sent.channel == "push" or (bell.kind == "again") == ("sekali lagi" in sent.text)
            is_time = time.reminder.plan.title == name and [f"{time.due.about.astimezone(ZONE):%H.%M}"] == clocks
            if bell.channel == sent.channel and is_kind and is_time:
                yield time, bell

    def _check_alert(self, sent):
        assert not self.ledger.is_withdrawn, sent
        wanted = "done" if "sudah menandai" in sent.text else "missed"
        states = {}
        for time in self.ledger.times():
            if self.ledger.now - 2 * DAY < time.due.at <= self.ledger.now:
                clock = f"{time.due.about.astimezone(ZONE):%H.%M}"
                states.setdefault(clock, set()).add(time.state)
        for clock in CLOCK.findall(sent.text):
            assert wanted in states.get(clock, ()), f"{self.ledger.now}: {sent}, but {states}"

    def _check_stock_notice(self, sent):
        assert not self.ledger.is_withdrawn, sent
        (name,) = set(NAME.findall(sent.text))
        (reminder,) = (each for each in self.ledger.reminders if each.plan.title == name)
        assert not reminder.is_deleted, sent
        assert reminder.left <= (STOCK_DAYS + 1) * len(DAILY["stok"][0]), sent

    def close(self, new, *, is_finished):
        """Check that nothing is missing among the messages of one run of the worker."""
        for time, bell in self.ledger.bells():
            if not bell.is_within(self.ledger.now) or bell in new:
                continue
            if not self.ledger.may_be_sent(time, bell):
                bell.is_spent = bell.is_spent or (is_finished and not bell.sent_at)
            elif not is_finished:
                bell.waits_until, bell.deaths = self.ledger.now + AFTER_DEATH, bell.deaths + 1
            elif self.providers.mood == "down":
                bell.waits_until = self.ledger.now + LONGEST_RETRY
            else:
                assert not self.ledger.must_be_sent(time, bell), f"{self.ledger.now}: {time} was not sent: {bell}"
        if self.providers.mood == "silent":
            for bell in new:
                bell.is_unknown = len(bell.sent_at) == 1
        elif new and not is_finished:
            new[-1].is_unsure, new[-1].is_unknown = True, len(new[-1].sent_at) == 1
