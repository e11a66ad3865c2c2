"""Acts on the furnished world: requests, jobs and messages that may happen at the same moment."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Condition

from app.notifications.broadcasts import fan_out
from app.notifications.delivery import drain
from app.notifications.models import Channel
from app.pengingat import jobs as pengingat_jobs
from tests.helpers.factories import PASSWORD
from tests.races import world
from tests.races.meeting import NOBODY, Job


@dataclass(frozen=True)
class Act:
    """An act. `status` is the status of its response if nothing else happens."""

    name: str
    make: Callable
    status: int


ACTS = []


def act(status):
    """Register an act, a function that returns a call on the furnished world."""

    def register(make):
        ACTS.append(Act(make.__name__, make, status))
        return make

    return register


# --- reminders of Siti ----------------------------------------------------------------------------------------------


@act(200)
def answer_done(w):
    return world.confirm(w.siti, w.due, "done", due_at=w.due_at)


@act(200)
def snooze(w):
    return world.confirm(w.siti, w.due, "snooze", due_at=w.due_at)


@act(200)
def undo(w):
    return world.confirm(w.siti, w.done, "undo", due_at=w.done_at)


@act(200)
def tap_skip(w):
    return NOBODY.post(f"/konfirmasi/{world.TOKEN}", status="skipped")


@act(200)
def skip_overdue(w):
    return world.confirm(w.siti, w.overdue, "skipped", due_at=w.overdue_at)


@act(200)
def hear_sudah(w):
    return world.hear(world.SITI, "SUDAH")


@act(200)
def edit_times(w):
    return w.siti.put(f"/pengingat/{w.due}", details=world.medicine(7, 13))


@act(200)
def caregiver_renames(w):
    return w.budi.put(f"/pengingat/{w.due}?patient_id={w.siti.id}", judul="Obat baru")


@act(200)
def delete_reminder(w):
    return w.siti.delete(f"/pengingat/{w.due}")


@act(201)
def create_last_reminder(w):
    return world.remind(w.siti)


@act(200)
def add_stock(w):
    return w.siti.post(f"/pengingat/{w.done}/persediaan", tambah=2.5)


@act(200)
def withdraw_consent(w):
    return w.siti.put("/profile/persetujuan", health_data=False)


# --- jobs -----------------------------------------------------------------------------------------------------------


@act(200)
def tick(w):
    return Job(pengingat_jobs.miss_overdue, "tick")


@act(200)
def top_up(w):
    return Job(pengingat_jobs.top_up, "top up")


@act(200)
def drain_urgent(w):
    def work():
        lane = drain.Lane("urgent", Channel.MESSAGING, Condition(), threads=0)
        while lane.send_next():
            pass

    return Job(work, "drain")


@act(200)
def fan_out_broadcast(w):
    return Job(partial(fan_out.fan_out, w.broadcast), "broadcast")


@act(200)
def delete_siti(w):
    return w.rina.delete(f"/admins/{w.siti.id}")


#: Acts on reminders, and jobs. Their pairs are the most.
REMINDERS = tuple(ACTS)


# --- forum ----------------------------------------------------------------------------------------------------------


@act(200)
def like(w):
    return w.siti.post(f"/forum/threads/{w.thread}/like")


@act(201)
def reply(w):
    return world.answer(w.siti, w.thread, parent_id=w.reply)


@act(200)
def delete_reply(w):
    return w.siti.delete(f"/forum/replies/{w.reply}")


@act(201)
def third_report(w):
    return world.report(w.eka, f"/forum/threads/{w.thread}")


@act(200)
def decide_keep(w):
    return w.rina.put(f"/admins/moderasi/{w.case}", decision="keep", reason="Baik.")


@act(200)
def move_thread(w):
    return w.ana.put(f"/forum/threads/{w.thread}", category_id=2)


@act(200)
def delete_thread(w):
    return w.ana.delete(f"/forum/threads/{w.thread}")


# --- people ---------------------------------------------------------------------------------------------------------


@act(200)
def log_in(w):
    return w.siti.log_in()


@act(200)
def refresh(w):
    return NOBODY.post("/refresh", refresh_token=w.other_session)


@act(200)
def end_other_sessions(w):
    return w.siti.delete("/profile/sesi")


@act(200)
def change_password(w):
    return w.siti.put("/profile", password="sandi-baru-9")


@act(202)
def leave(w):
    return w.siti.delete("/profile", password=PASSWORD, forum="delete")


@act(200)
def take_number(w):
    return w.siti.put("/profile", nomor_hp=world.FREE_NUMBER)


@act(200)
def prove_number(w):
    return w.proof


@act(200)
def unlink_caregiver(w):
    return w.budi.delete(f"/caregiver/patients/{w.siti.id}")


@act(201)
def redeem_invitation(w):
    return w.tono.post("/caregiver/invitations", code=w.code)


#: Acts in the forum and on accounts.
OTHERS = tuple(ACTS[len(REMINDERS) :])
