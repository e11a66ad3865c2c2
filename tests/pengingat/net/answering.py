"""A player that also answers: by the application, the link, the push, the chat, and as the caregiver."""

from tests.helpers.controlled import WEBHOOK_TOKEN
from tests.pengingat.net.model import DAY, MINUTE, SNOOZE
from tests.pengingat.net.player import Player, pick
from tests.pengingat.net.shown import code, ok
from tests.pengingat.net.times import HOUR

WORDS = {"done": "SUDAH", "skipped": "LEWATI", "snooze": "NANTI"}


class AnsweringPlayer(Player):
    def answer(self, way, which, status):
        """Answer by the application or as the caregiver, or all times of a message by its link or push."""
        channel = {"link": "messaging", "push": "push"}.get(way)
        times = [time for time in self._near() if channel is None or channel in time.messages]
        if (time := pick(times, which)) is None:
            return
        if channel:
            message = time.messages[channel]
            self._record(message.times, status, way, self._tap(message.token))
        elif send := self._confirm(time, self.siti if way == "app" else self.budi):
            self._record([time], status, way, send)

    def _record(self, times, status, via, send):
        changed, same, refusal = self.ledger.outcome(times, status)
        if via == "caregiver" and self.ledger.is_withdrawn:
            refusal = "not_found"
        if via in ("link", "push") and max(time.due.at for time in times) + DAY < self.ledger.now:
            refusal = "gone"
        response = send({"status": status, **({"minutes": SNOOZE} if status == "snooze" else {})})
        self._note(f"{status} {via}", changed or same or times, refusal if refusal or changed else "same")
        if refusal:
            assert refusal in ("refused", code(response)), (times, response.text)
            return
        self.ledger.answer_all(changed, status, via)
        assert ok(response)["state"] == (changed or same)[0].state

    def _note(self, what, times, expected):
        self.played[f"{what} {times[0].state}: {expected}"] += 1
        self.played[f"{what} of several: {expected}"] += len(times) > 1
        self.log.append(f"  {what} {times}: expect {expected}")

    def _confirm(self, time, client):
        if time.reminder.is_deleted:
            return None
        path = f"/pengingat/{time.reminder.id}/konfirmasi"
        whose = "" if client is self.siti else f"?patient_id={self.siti.id}"
        named = {"slot": time.due.slot, "due_at": time.due.at.isoformat()}
        return lambda body: client.post(f"{path}{whose}", {**named, **body})

    def _tap(self, token):
        return lambda body: self.siti.with_token("").post(f"/konfirmasi/{token}", body)

    def answer_now(self, which, status):
        """Answer the present time without naming it."""
        reminder = pick(self.ledger.alive, which)
        if reminder is None:
            return
        last = reminder.last(self.ledger.now)
        if last is None or last.state not in ("pending", "missed"):
            return
        path = f"/pengingat/{reminder.id}/konfirmasi"
        self._record([last], status, "app", lambda body: self.siti.post(path, body))

    def answer_offline(self, which, status, ago):
        """Send an answer that was given some minutes ago."""
        time, at = pick(self._near(), which), self.ledger.now - ago * MINUTE
        if time is None or (time.is_answered and not self.ledger.may_be_undone(time)):
            return
        if at < time.due.at - HOUR or (send := self._confirm(time, self.siti)) is None:
            return
        refusal = self.ledger.refusal(time, status, at)
        response = send({"status": status, "answered_at": at.isoformat()})
        self._note(f"{status} offline", [time], refusal)
        if refusal and refusal != "same":
            assert code(response) == refusal, (time, response.text)
            return
        ok(response)
        if refusal is None:
            self.ledger.answer(time, status, "app", at)

    def undo(self, which, *, is_named):
        times = [each for each in self.ledger.times() if each.came_at and not each.reminder.is_deleted]
        time = pick(sorted(times, key=lambda each: each.due.at, reverse=True), which)
        if time is None or (time.due.at > self.ledger.now and not time.reminder.is_planned(time)):
            return
        named = {"slot": time.due.slot, "due_at": time.due.at.isoformat()} if is_named else {}
        if not is_named and any(
            each.came_at >= time.came_at for each in times if each is not time and each.reminder is time.reminder
        ):
            return
        path = f"/pengingat/{time.reminder.id}/konfirmasi"
        response = self.siti.post(path, {"status": "undo", **named})
        if self.ledger.is_withdrawn:
            assert code(response) == "consent_withdrawn"
        elif self.ledger.may_be_undone(time):
            self.ledger.undo(time)
            self._note("undo", [time], None)
            if named:
                assert code(self.siti.post(path, {"status": "undo", **named})) == "nothing_to_undo"
            assert ok(response)["state"] == time.state
        else:
            assert code(response) == "nothing_to_undo"

    def mark(self, which):
        """Set `is_done`: answer the last due time, or before the first one the next, or take this back."""
        reminder, now = pick(self.ledger.alive, which), self.ledger.now
        if reminder is None or reminder.plan.kind == "kontrol" or (time := reminder.present(now)) is None:
            return
        is_done = time.state != "done"
        response = self.siti.put(f"/pengingat/{reminder.id}", {"is_done": is_done})
        if self.ledger.is_withdrawn:
            assert code(response) == "consent_withdrawn"
            return
        self._note("marked", [time], None)
        self.ledger.answer(time, "done", "app") if is_done else self.ledger.undo(time)
        assert ok(response)["is_done"] == is_done

    def chat(self, status, chosen):
        """Write to the service about the last message with a pending time, or else with a missed time.

        `chosen` are numbers between 0 and 1. If the message is a list, the text has the numbers at these places.
        """
        now = self.ledger.now
        known = [each for each in self.received.messages if each.channel == "messaging" and each.at > now - DAY]
        last = self._last(known)
        if last is None or any(bell.is_unknown for _, bell in self.ledger.bells()):
            return
        if now - self.chatted_at < 3 * MINUTE:
            return
        times, text = last.times, WORDS[status]
        if len(times) > 1 and chosen and status != "snooze":
            numbers = sorted({int(each * len(times)) + 1 for each in chosen})
            times = [times[number - 1] for number in numbers]
            text = " ".join([*([text] if status == "skipped" else []), *map(str, numbers)])
            self.played[f"numbers {status}"] += 1
        changed, same, refusal = self.ledger.outcome(times, status)
        if not any(self._is_open(time) for message in known for time in message.times):
            changed, refusal = [], "nothing is open"
        self._note(f"{status} chat", changed or same or times, refusal if refusal or changed else "same")
        self.ledger.answer_all(changed, status, "message")
        self.chatted_at, self.received.chats = now, self.received.chats + 1
        body = {
            "device": "6281100000000", "sender": self.received.phone.removeprefix("+"), "message": text,
            "timestamp": int(now.timestamp()), "inboxid": next(self._chats),
        }  # fmt: skip
        ok(self.siti.with_token("").post(f"/webhooks/fonnte/{WEBHOOK_TOKEN}/message", body))
        self.service.read_inbox()

    def _last(self, messages):
        """Return the message that a text is about, or None if there is none, or if two have the same moment."""
        for state in ("pending", "missed"):
            if found := [each for each in messages if any(time.state == state for time in each.times)]:
                last = max(each.at for each in found)
                of_moment = [each for each in found if each.at == last]
                return of_moment[0] if len(of_moment) == 1 else None
        return None

    def _is_open(self, time):
        is_missed = time.state == "missed" and not time.reminder.is_deleted
        return time.state == "pending" or (is_missed and not time.reminder.after(time, self.ledger.now))

    def _near(self):
        """Return the times around now, the last one first. Reminders that were edited have times of both versions."""
        now = self.ledger.now
        times = [each for each in self.ledger.times() if now - 30 * HOUR < each.due.at < now + 90 * MINUTE]
        return sorted(times, key=lambda each: (abs(each.due.at - now), each.reminder.id))
