"""A player that also answers: by the application, the link, the push, the chat, and as the caregiver."""

from collections.abc import Callable
from typing import Any

from werkzeug.test import TestResponse

from tests.helpers.controlled import WEBHOOK_TOKEN
from tests.pengingat.net.model import DAY, HOUR, MINUTE, Unclear
from tests.pengingat.net.player import Player, pick
from tests.pengingat.net.shown import code, ok

WORDS = {"done": "SUDAH", "skipped": "LEWATI", "snooze": "NANTI"}
SNOOZE = 30
#: Function that sends the body of an answer.
Send = Callable[[dict[str, Any]], TestResponse]


class AnsweringPlayer(Player):
    def answer(self, way, which, status):
        """Answer one time by the application, the link, the push, or as the caregiver."""
        channel = {"link": "messaging", "push": "push"}.get(way)
        times = [time for time in self._near() if channel is None or channel in time.tokens]
        if (time := pick(times, which)) is None:
            return
        if channel:
            send = self._tap(time.tokens[channel])
        elif (send := self._confirm(time, self.siti if way == "app" else self.budi)) is None:
            return
        try:
            self._record(time, status, way, send)
        except Unclear:
            return

    def _record(self, time, status, via, send):
        until = max(self.ledger.now, time.due.at) + SNOOZE * MINUTE
        is_snooze = status == "snooze"
        refusal = self.ledger.refusal_of_snooze(time, until) if is_snooze else self.ledger.refusal(time, status)
        if via == "caregiver" and self.ledger.is_withdrawn:
            refusal = "not_found"
        if via in ("link", "push"):
            if time.reminder.is_deleted:
                refusal = "refused"
            elif time.due.at + DAY <= self.ledger.now:
                refusal = "gone"
        response = send({"status": status, **({"minutes": SNOOZE} if is_snooze else {})})
        self._note(f"{status} {via}", time, refusal)
        if refusal and refusal != "same":
            assert refusal in ("refused", code(response)), (time, response.text)
            return
        shown = ok(response)
        if refusal is None:
            self.ledger.snooze(time, until) if is_snooze else self.ledger.answer(time, status, via)
        assert shown["state"] == time.state

    def _note(self, what, time, expected):
        self.played[f"{what} {time.state}: {expected}"] += 1
        self.log.append(f"  {what} {time}: expect {expected}")

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
        try:
            self._record(last, status, "app", lambda body: self.siti.post(path, body))
        except Unclear:
            return

    def answer_offline(self, which, status, ago):
        """Send an answer that was given some minutes ago."""
        time, at = pick(self._near(), which), self.ledger.now - ago * MINUTE
        if time is None or (time.is_answered and not self.ledger.may_be_undone(time)):
            return
        if at < time.due.at - HOUR or (send := self._confirm(time, self.siti)) is None:
            return
        try:
            refusal = self.ledger.refusal(time, status, at)
        except Unclear:
            return
        response = send({"status": status, "answered_at": at.isoformat()})
        self._note(f"{status} offline", time, refusal)
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
            self._note("undo", time, None)
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
        self._note("marked", time, None)
        self.ledger.answer(time, "done", "app") if is_done else self.ledger.undo(time)
        assert ok(response)["is_done"] == is_done

    def chat(self, status):
        """Write to the service. The words are about the last message with a pending time, or else a missed time."""
        now, day_ago = self.ledger.now, self.ledger.now - DAY
        said = [(at, time) for time, bell in self.ledger.bells() for at in bell.sent_at if bell.channel == "messaging"]
        latest = [(at, time) for at, time in said if at > day_ago and time.state != "void"]
        is_sure = not any(bell.is_unknown for _, bell in self.ledger.bells())
        for state in ("pending", "missed"):
            if found := [(at, time) for at, time in latest if time.state == state]:
                break
        else:
            return
        last = max(at for at, _ in found)
        times = {id(time): time for at, time in found if at == last}
        (time,) = times.values() if len(times) == 1 else (None,)
        if time is None or not is_sure or now - self.chatted_at < 3 * MINUTE:
            return
        until = max(now, time.due.at) + SNOOZE * MINUTE
        try:
            is_snooze = status == "snooze"
            refusal = self.ledger.refusal_of_snooze(time, until) if is_snooze else self.ledger.refusal(time, status)
        except Unclear:
            return
        self._note(f"{status} chat", time, refusal)
        if refusal is None and not time.reminder.is_deleted:
            self.ledger.snooze(time, until) if is_snooze else self.ledger.answer(time, status, "message")
        self.chatted_at, self.received.chats = now, self.received.chats + 1
        body = {
            "device": "6281100000000", "sender": self.received.phone.removeprefix("+"), "message": WORDS[status],
            "timestamp": int(now.timestamp()), "inboxid": next(self._chats),
        }  # fmt: skip
        ok(self.siti.with_token("").post(f"/webhooks/fonnte/{WEBHOOK_TOKEN}/message", body))
        self.service.read_inbox()

    def _near(self):
        """Return the times around now, the last one first. Reminders that were edited have times of both versions."""
        now = self.ledger.now
        times = [each for each in self.ledger.times() if now - 30 * HOUR < each.due.at < now + 90 * MINUTE]
        return sorted(times, key=lambda each: (abs(each.due.at - now), each.reminder.id))
