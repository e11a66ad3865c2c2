"""Rate limits for uploads of pictures. They exist because each picture takes storage and CPU time."""

from __future__ import annotations

from flask import request

from app.core.web.rate_limits import limit
from app.identity.access import by_caller


def _has_no_file() -> bool:
    """Return whether the request has no file.

    A part without a file name does not count as a file. A browser sends such a part for an unused file input.
    """
    return not any(file.filename for file in request.files.values())


#: Limit for uploads of pictures in profiles and forum posts. All these routes share one count per person.
limit_uploads = limit("20 per minute; 50 per day", key=by_caller, counter="uploads", exempt_when=_has_no_file)

#: Limit for uploads by administrators. There is no limit per day, because administrators may add many records in a day.
limit_admin_uploads = limit("30 per minute", key=by_caller, counter="admin_uploads", exempt_when=_has_no_file)
