"""Timeouts of test clients for providers.

A provider that responds gets a long timeout, so that a busy machine causes no timeout error. A provider that never
responds gets a short one, because such a test checks only that the call times out.
"""

#: `Http` settings for responses that arrive.
PATIENT = {"connect_s": 60, "read_s": 60, "budget_s": 120}
#: `Http` settings for responses that never finish. The simulators keep them open for a minute.
HURRIED = {"connect_s": 0.3, "read_s": 0.4, "budget_s": 0.9}


def patience_with(fault):
    return HURRIED if fault in ("hang", "slow") else PATIENT
