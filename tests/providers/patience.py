"""How long a client of the tests waits for a provider.

One that answers gets all the time it needs, or a busy machine would make a timeout of its answer. One that never will
is given up soon, and that it was given up at all is what such a test is about.
"""

from __future__ import annotations

from typing import Any

#: Settings of `app.providers.http.Http` for answers that come.
PATIENT: dict[str, Any] = {"connect_s": 60, "read_s": 60, "budget_s": 120}
#: And for those that never come whole; the stand-ins go on for a minute.
HURRIED: dict[str, Any] = {"connect_s": 0.3, "read_s": 0.4, "budget_s": 0.9}


def patience_with(fault: str) -> dict[str, Any]:
    return HURRIED if fault in ("hang", "slow") else PATIENT
