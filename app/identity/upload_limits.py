"""How many pictures a person may upload: each costs up to a second of a core and has to be kept somewhere."""

from __future__ import annotations

from flask import request

from app.core.web.rate_limits import limit
from app.identity.access import by_caller


def _has_no_file() -> bool:
    """A browser sends an empty part for a file input that was left alone."""
    return not any(file.filename for file in request.files.values())


#: For the routes of people's own pictures, all counted together.
limit_uploads = limit("20 per minute; 50 per day", key=by_caller, counter="uploads", exempt_when=_has_no_file)

#: For the routes of administrators, who may fill a whole directory in a day.
limit_admin_uploads = limit("30 per minute", key=by_caller, counter="admin_uploads", exempt_when=_has_no_file)
