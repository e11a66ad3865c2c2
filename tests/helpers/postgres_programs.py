"""Search path (PATH) that contains the PostgreSQL programs of the project's wheel."""

import os

from dev.servers import programs

#: Value of PATH. The programs of the wheel come before those of the machine.
PATH = f"{programs()}:{os.environ['PATH']}"
