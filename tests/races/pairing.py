"""Pairs of acts, and the comparison of both at once with one after the other."""

from tests.races.acts import ACTS

#: Pairs that may leave something else than their two orders, and why.
OTHERWISE = {
    # A message is read before its lock is taken, and it is the person's own last word.
    ("tap_skip", "hear_sudah"),
    ("answer_done", "hear_sudah"),
    ("hear_sudah", "delete_reminder"),
    ("hear_sudah", "delete_siti"),
    # Bells that are added in the moment of the wish to leave stay. The renderer leaves them out.
    ("snooze", "leave"),
    ("top_up", "leave"),
    # A drain commits after each delivery, and its texts are read without a lock.
    *((act.name, "drain_urgent") for act in ACTS),
    *(("drain_urgent", act.name) for act in ACTS),
}


def assert_as_one_after_the_other(world, pairs, couples):
    """Check that two acts at once leave what one after the other leaves, for each couple of acts."""
    faults = []
    for one, other in couples:
        a = one.make(world)
        b = a if one is other else other.make(world)
        is_compared = (one.name, other.name) not in OTHERWISE
        # A fault shows twice. A difference that shows once is one of the clock, for example at a full ten minutes.
        if pairs.faults(a, b, is_compared) and (found := pairs.faults(a, b, is_compared)):
            faults += [f"{one.name} & {other.name}: {fault}" for fault in found]
    assert not faults, "\n\n".join(faults)
