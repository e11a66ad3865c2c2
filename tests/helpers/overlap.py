"""Two transactions that overlap in a fixed order."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import sqlalchemy as sa

from app.core.database.session import db, unit_of_work
from dev.stack.waiting import wait_until

IS_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def done_twice_at_once(app, work):
    """Run `work` in two transactions. The second begins before the first commits.

    The first commits when the second has ended or waits for a lock. Return the future of the second.
    """

    def again():
        with app.app_context(), unit_of_work():
            work()

    def is_waiting():
        with db.engine.connect() as connection:
            return bool(connection.execute(sa.text(IS_WAITING)).scalar())

    with ThreadPoolExecutor(1) as pool, unit_of_work():
        work()
        second = pool.submit(again)
        wait_until(lambda: second.done() or is_waiting())
        db.session.commit()
        second.exception()
    return second


def run_together(app, *works):
    start = Barrier(len(works))
    errors = []

    def run(work):
        with app.app_context():
            start.wait()
            try:
                work()
            except BaseException as error:  # noqa: BLE001  # reported below
                errors.append(error)

    threads = [Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
