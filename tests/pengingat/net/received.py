"""Messages that the providers received. Each must be one of the messages that the model allows now."""

import re
from dataclasses import dataclass, field

from tests.helpers.controlled import Providers
from tests.pengingat.net.model import DAY, LONGEST_RETRY, MINUTE, Ledger
from tests.pengingat.net.plans import DAILY, ZONE
from tests.pengingat.net.times import Message

#: Title of a reminder. Each has its own.
NAME = re.compile(r"Judul K\d+")
CLOCK = re.compile(r"pukul (\d\d\.\d\d) WIB")
#: Line of a list.
LINE = re.compile(r"^(\d+)\. (.*)", re.MULTILINE)
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
    #: All reminders so far. A repeat is the same message.
    messages: list[Message] = field(default_factory=list)

    def match(self, sent):
        """Check one message. Return the bells that it was. This is an empty list if the message is no reminder."""
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
        return []

    def _match_reminder(self, sent):
        known = next((each for each in self.messages if each.token == sent.token), None)
        lines = LINE.findall(sent.text) or [("1", sent.text)]
        choices = [self._choices(sent, text, known) for _, text in lines]
        common = set.intersection(*(set(each) for each in choices))
        assert common, f"{self.ledger.now}: {sent} may not leave. It could be {choices}"
        which = max(common, key=lambda each: max(self._likelihood(*choice[each]) for choice in choices))
        named = [choice[which] for choice in choices]
        if known is None:
            assert sent.token
            assert named == sorted(named, key=lambda each: (each[0].reminder.id, each[0].due.slot)), sent
            known = Message(sent.channel, *which, sent.token, named)
            self.messages.append(known)
        assert named == [known.said[int(number) - 1] for number, _ in lines], (sent, known)
        for _, bell in known.said:
            bell.is_lost, bell.is_unknown, bell.is_unsure = self.providers.mood == "silent", False, False
        for time, bell in named:
            bell.sent_at.append(self.ledger.now)
            time.messages[sent.channel] = known
        return [bell for _, bell in named]

    def _choices(self, sent, text, known):
        """Return the times and bells that this line of a message may be, by kind and moment of the message.

        Each moment has one message of each kind, and its repeats have the same token.
        """
        return {
            (bell.kind, bell.at): (time, bell)
            for time, bell in self._candidates(sent, text)
            if self.ledger.may_be_sent(time, bell)
            and known is next((each for each in self.messages if each.is_of(bell)), None)
        }

    def _likelihood(self, time, bell):
        """Return a value to compare bells by. The texts of a first and a second push are the same."""
        is_plausible = bell.kind != "again" or bool(time.first(bell.channel).sent_at)
        return self.ledger.must_be_sent(time, bell), is_plausible, bell.at

    def _candidates(self, sent, text):
        (name,), clocks = set(NAME.findall(text)), CLOCK.findall(text)
        for time, bell in self.ledger.bells():
            is_kind = sent.channel == "push" or (bell.kind == "again") == ("sekali lagi" in text)
            is_time = time.reminder.plan.title == name and [f"{time.due.about.astimezone(ZONE):%H.%M}"] == clocks
            if bell.channel == sent.channel and is_kind and is_time:
                yield time, bell

    def _check_alert(self, sent):
        assert not self.ledger.is_withdrawn, sent
        now = self.ledger.now
        near = [time for time in self.ledger.times() if now - 2 * DAY < time.due.at <= now]
        for line in filter(CLOCK.search, sent.text.splitlines()):
            wanted = "done" if "sudah menandai" in line else "missed"
            clocks, names = CLOCK.findall(line), NAME.findall(line)
            assert wanted in {
                time.state
                for time in near
                if [f"{time.due.at.astimezone(ZONE):%H.%M}"] == clocks
                and (not names or names == [time.reminder.plan.title])
            }, f"{now}: {sent}, but {near}"

    def _check_stock_notice(self, sent):
        assert not self.ledger.is_withdrawn, sent
        (name,) = set(NAME.findall(sent.text))
        (reminder,) = (each for each in self.ledger.reminders if each.plan.title == name)
        assert not reminder.is_deleted, sent
        assert reminder.left <= (STOCK_DAYS + 1) * len(DAILY["stok"][0]), sent

    def close(self, new, *, is_finished):
        """Check that nothing is missing among the messages of one run of the worker. `new` are the bells of each."""
        rang = [bell for bells in new for bell in bells]
        for time, bell in self.ledger.bells():
            if not bell.is_within(self.ledger.now) or bell in rang:
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
            for bell in rang:
                bell.is_unknown = len(bell.sent_at) == 1
        elif new and not is_finished:
            for bell in new[-1]:
                bell.is_unsure, bell.is_unknown = True, len(bell.sent_at) == 1
