"""Search path with the PostgreSQL programs of our wheel."""

from __future__ import annotations

import os

from dev.servers import programs

#: These programs come first.
PATH = f"{programs()}:{os.environ['PATH']}"
