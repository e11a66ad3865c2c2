"""Where the programs of PostgreSQL are."""

from __future__ import annotations

import os

from dev.servers import programs

#: A search path that finds them first.
PATH = f"{programs()}:{os.environ['PATH']}"
