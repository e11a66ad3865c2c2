"""A player that uses the service in a random order, and compares it with the model after each step.

The steps keep to what the rules demand. They also have these limits:

- After an undo, the second message may come or not. A first message that a worker dropped may come or not.
- No answer is undone of a coming time that an edit removed.
- An answer names its time, unless the last due time is open.
- A stock notice is checked for truth, not for its moment. An alert is checked for truth too.
- A chat message is sent if only one message can be meant, and three minutes after the last one.
"""

from itertools import count

from app.identity.models import RoleName
from tests.helpers.client import Client
from tests.helpers.factories import make_user
from tests.pengingat.net.model import DAY, MINUTE, Ledger, Reminder
from tests.pengingat.net.plans import ZONE, Plan
from tests.pengingat.net.received import Received
from tests.pengingat.net.shown import Shown, code, ok
from tests.pengingat.net.times import HOUR

KEYS = {
    "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
}
BOUGHT = 9.0


class Player:
    def __init__(self, service, played):
        #: `played` counts what happened, for the check that enough did.
        self.service, self.played = service, played
        #: Steps so far, for the report of a failure.
        self.log = []
        start = service.now
        service.set_time(start - 3 * HOUR)
        self.siti = Client(service.app).as_(make_user(nama_ktp="Siti Aminah"))
        self.budi = Client(service.app).as_(make_user(RoleName.PENDAMPING, nama_ktp="Budi Hartono"))
        invitation = ok(self.siti.post("/patient/invitations", {"scopes": ["manage", "history", "alerts"]}))
        ok(self.budi.post("/caregiver/invitations", {"code": invitation["code"]}))
        ok(self.siti.post("/push/subscribe", {"endpoint": "https://fcm.googleapis.com/fcm/send/1", "keys": KEYS}))
        service.set_time(start)
        service.work()  # sends the notice about the caregiver
        service.providers.sent.clear()
        self.ledger = Ledger(start)
        self.shown = Shown(self.siti, self.ledger)
        self.received = Received(
            self.ledger, *(str(each.user.phone) for each in (self.siti, self.budi)), service.providers
        )
        self.killed_at = self.chatted_at = start - DAY
        self._names, self._chats = count(1), count(1)

    # --- time and the worker -----------------------------------------------------------------------------------------

    def pass_time(self, minutes, *, works=True):
        """Let the time pass. The worker runs whenever a message falls due or a time is missed."""
        until = self.ledger.now + minutes * MINUTE
        while works and (stops := [at for at in self._stops() if self.ledger.now < at < until]):
            self._move(min(stops))
            self.work()
        self._move(until)
        if works:
            self.work()

    def pass_to_the_next_time(self, minutes, *, works=True):
        """Let the time pass to the next due time, and by these minutes more or less."""
        now = self.ledger.now
        coming = [time.due.at for time in self.ledger.times() if time.state == "pending" and time.due.at > now]
        until = min(coming, default=now + DAY) + minutes * MINUTE
        if now + MINUTE < until < now + DAY:
            self.pass_time((until - now) // MINUTE - 1, works=works)
            self.pass_time(1, works=works)

    def change_the_providers(self, mood):
        providers = self.service.providers
        providers.mood = mood if providers.mood == "up" else "up"
        self.log.append(f"  providers: {providers.mood}")

    def _stops(self):
        """Return when something happens. Also return a minute before, when a message would be too early."""
        pending = [time for time in self.ledger.times() if time.state == "pending"]
        moments = {bell.at for time in pending for bell in time.bells}
        later = {bell.at for time in pending for bell in time.bells if bell.kind != "first"}
        return moments | {at - MINUTE for at in later} | {time.over_at for time in pending}

    def _move(self, now):
        self.ledger.now = now
        self.log.append(f"  {now:%a %H:%M}")
        self.ledger.extend()
        self.service.set_time(now)

    def work(self, statements=None):
        """Run the worker, and check what it sent. With `statements`, kill it after that number of SQL statements."""
        before = len(self.service.providers.sent)
        is_finished = self.service.work(statements)
        self.played["killed"] += not is_finished
        self.log += [f"  killed: {not is_finished}"] * bool(statements)
        self.log += [f"  {sent.channel}: {sent.text!r}" for sent in self.service.providers.sent[before:]]
        if not is_finished:
            self.killed_at = self.ledger.now
        if self.ledger.now - self.killed_at < HOUR:
            self._miss_what_is_missed()
        else:
            self.ledger.miss()
        bells = [self.received.match(sent) for sent in self.service.providers.sent[before:]]
        new = [each for each in bells if each]
        self.played["repeated in part"] += any(
            len({len(bell.sent_at) for _, bell in each.said}) > 1 for each in self.received.messages
        )
        for bell, *others in new:
            self.played[f"several {bell.kind} {bell.channel}"] += bool(others)
            self.played[f"sent {bell.kind} {bell.channel} {len(bell.sent_at)} {self.service.providers.mood}"] += 1
        self.received.close(new, is_finished=is_finished)

    def _miss_what_is_missed(self):
        """After a death of a worker, times may become missed later than usual."""
        shown = self.shown.rows(self.ledger.now) | self.shown.rows(self.ledger.now - DAY)
        for time in self.ledger.times():
            row = shown.get((time.reminder.plan.title, time.due.at, time.due.slot))
            if row and row["state"] == "missed" and time.state == "pending" and self.ledger.now >= time.over_at:
                time.state = "missed"

    # --- changes -----------------------------------------------------------------------------------------------------

    def create(self, kind):
        if any(each.plan.kind == kind for each in self.ledger.alive):
            return
        plan = Plan(kind, f"Judul K{next(self._names)}", self.ledger.now.astimezone(ZONE).date())
        response = self.siti.post("/pengingat", plan.body(BOUGHT))
        if self.ledger.is_withdrawn:
            assert code(response) == "consent_withdrawn"
            return
        reminder = Reminder(ok(response)["id"], plan, BOUGHT)
        self.ledger.reminders.append(reminder)
        self.ledger.extend()

    def edit(self, which):
        reminder = pick(self.ledger.alive, which)
        if reminder is None:
            return
        now = self.ledger.now
        edited = Reminder(reminder.id, reminder.plan, reminder.left)
        edited.edit(now)
        if edited.plan.kind == "kontrol" and edited.plan.visit - DAY <= now:
            return
        response = self.siti.put(f"/pengingat/{reminder.id}", edited.plan.body(BOUGHT))
        if self.ledger.is_withdrawn:
            assert code(response) == "consent_withdrawn"
            return
        ok(response)
        self.played["edited"] += 1
        reminder.left = BOUGHT
        reminder.edit(now)

    def delete(self, which):
        if reminder := pick(self.ledger.alive, which):
            self.played["deleted"] += 1
            ok(self.siti.delete(f"/pengingat/{reminder.id}"))
            self.ledger.delete(reminder)

    def change_the_consent(self):
        is_given = self.ledger.is_withdrawn
        ok(self.siti.put("/profile/persetujuan", {"health_data": is_given}))
        self.played["withdrawn"] += not is_given
        self.log.append(f"  consent: {is_given}")
        self.ledger.resume() if is_given else self.ledger.withdraw()


def pick(some, which):
    return some[which % len(some)] if some else None
