"""Tests of the overview for administrators. Its numbers must equal a live count of the rows."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.database.session import db
from app.core.lib.local_time import now
from app.identity.models import RoleName
from app.logs.models import ActivityLog
from app.personal_data import jobs as personal_data
from tests.admins.activity import record, store
from tests.caregivers.dependents import delete
from tests.forum.posts import category_id, write_reply, write_thread
from tests.helpers.factories import make_user


def get_overview(admin, **query):
    return admin.get("/admins/overview", query_string=query).ok()


def test_people_are_counted_by_role_province_and_verification(admin):
    make_user(domicile="Jawa Barat", is_verified=True)
    make_user(domicile="Jawa Barat")
    make_user(RoleName.PENDAMPING, domicile="Aceh")
    overview = get_overview(admin)
    assert {name: overview["totals"][name] for name in ("users", "pasien", "pendamping", "admins", "verified")} == {
        "users": 4,
        "pasien": 2,
        "pendamping": 1,
        "admins": 1,
        "verified": 1,
    }
    assert overview["by_province"] == [
        {"province": "Jawa Barat", "count": 2},
        {"province": "Aceh", "count": 1},
        {"province": None, "count": 1},
    ]


def test_a_day_begins_and_ends_in_jakarta(admin):
    for moment in ("2026-03-01T16:59:59Z", "2026-03-01T17:00:00Z", "2026-03-03T10:00:00Z"):
        make_user().created_at = datetime.fromisoformat(moment)
    db.session.flush()
    growth = get_overview(admin, start="2026-03-02", end="2026-03-04")["growth"]
    assert growth == [
        {"date": "2026-03-02", "users": 1, "cumulative": 2},
        {"date": "2026-03-03", "users": 1, "cumulative": 3},
        {"date": "2026-03-04", "users": 0, "cumulative": 3},
    ]


def test_forum_and_activity_equal_a_live_count(admin):
    siti, budi = make_user(username="siti"), make_user()
    for replies in (1, 2):
        thread = write_thread(admin.as_(siti))
        for _ in range(replies):
            write_reply(admin.as_(budi), thread["id"])
    moments = [now() - timedelta(hours=6 * n) for n in range(20)]
    store(*(record([siti, budi, None][n % 3], moment) for n, moment in enumerate(moments)))
    overview = get_overview(admin)
    live = db.session.execute(
        sa.select(
            sa.cast(sa.func.timezone("Asia/Jakarta", ActivityLog.created_at), sa.Date).label("day"),
            sa.func.count(),
            sa.func.count(ActivityLog.user_id.distinct()),
        ).group_by("day")
    )
    counted = {str(day): (events, active) for day, events, active in live}
    shown = {row["date"]: (row["events"], row["active_users"]) for row in overview["activity"] if row["events"]}
    assert shown == counted
    (row,) = [row for row in overview["forum_categories"] if row["threads"]]
    assert row == {"category_id": category_id("Medis"), "name": "Medis", "threads": 2, "replies": 3}
    assert (overview["totals"]["threads"], overview["totals"]["replies"]) == (2, 3)
    assert [row["username"] for row in overview["recent_activity"][:3]] == ["siti", budi.username, None]


def test_the_overview_needs_a_fixed_number_of_statements(admin, statements):
    with statements.at_most(10):
        get_overview(admin, start="2020-01-01", end="2026-03-01")


def test_the_overview_has_one_row_for_each_day_of_the_range(admin):
    for query, days in (
        ({"start": "2026-03-01", "end": "2026-03-01"}, 1),
        ({"end": "2026-03-31"}, 30),
        ({"start": "2024-02-01", "end": "2024-02-29"}, 29),
        ({"start": "9999-12-31"}, 1),
        ({"end": "0001-01-05"}, 5),
    ):
        overview = get_overview(admin, **query)
        assert len(overview["growth"]) == len(overview["activity"]) == days, query
        assert overview["growth"][-1]["date"] == overview["range"]["end"]


def test_an_erased_dependent_is_not_counted(admin, budi):
    before = get_overview(admin)
    dependent_id = budi.post("/caregiver/dependents", {"nama_ktp": "Ibu Siti"}).json["id"]
    assert get_overview(admin)["totals"]["pasien"] == before["totals"]["pasien"] + 1
    delete(budi, dependent_id)
    personal_data.erase(dependent_id)
    after = get_overview(admin)
    assert {name: after["totals"][name] for name in ("users", "pasien")} == {
        name: before["totals"][name] for name in ("users", "pasien")
    }
