"""Filters of the lists of content and places. All filters work in the same way, and no filter scans a whole table."""

import pytest
import sqlalchemy as sa

from app.articles import service as articles
from app.core.database.session import db, unit_of_work
from app.core.web.pagination import Page, Search
from app.dokter import service as dokter
from app.dokter.models import Dokter
from app.dokter.schemas import DokterFilter
from app.faskes.schemas import FaskesFilter
from app.faskes.service import facilities as faskes
from app.kategori.models import Kategori
from app.kategori.schemas import KategoriFilter
from app.komunitas import service as komunitas
from app.komunitas.models import Komunitas
from app.komunitas.schemas import KomunitasFilter
from app.videos import service as videos
from tests.faskes.places import make_faskes
from tests.helpers.client import assert_error
from tests.helpers.factories import make_article, make_video
from tests.helpers.plans import analyse, plans_of_all


def add(row):
    db.session.add(row)
    db.session.flush()
    return row


@pytest.fixture
def kategori(app):
    names = ("Kesehatan Mental", "Islam", "Gizi")
    return {name: add(Kategori(nama_kategori=name)).id for name in names}


@pytest.fixture
def rows(kategori):
    """Add two rows of each kind. The tests use filters that match only the first row of a kind."""
    add(
        Komunitas(nama="Sahabat Jiwa", deskripsi="50% warga", province="Bali", kategori_id=kategori["Kesehatan Mental"])
    )
    add(Komunitas(nama="Lain", deskripsi="500 warga", province="Banten", kategori_id=kategori["Islam"]))
    make_article(title="Menjaga jiwa 50%", kategori_id=kategori["Kesehatan Mental"])
    make_article(title="Lain 500", kategori_id=kategori["Islam"])
    make_video(title="Senam jiwa 50%")
    make_video(title="Lain 500")
    there = make_faskes(id="jiwa", nama="RS Jiwa", alamat="Jl. 50% Utara", jenis="rumah_sakit", province="Bali")
    make_faskes(id="lain", nama="Klinik", alamat="Jl. 500", jenis="klinik", province="Banten")
    add(Dokter(nama="dr. Ani 50%", spesialisasi="Kesehatan Jiwa", faskes=[there]))
    add(Dokter(nama="dr. Budi 500", spesialisasi="Anak"))
    db.session.commit()


def names(client, path, query):
    response = client.get(path, query_string=query)
    assert response.status_code == 200, response.json
    body = response.json["results"] if path == "/faskes" else response.json
    assert response.headers["X-Total-Count"] == str(len(body))
    return [row.get("nama") or row["title"] for row in body]


FIRSTS = {
    "/komunitas": "Sahabat Jiwa",
    "/articles/all": "Menjaga jiwa 50%",
    "/videoplatform/videos": "Senam jiwa 50%",
    "/dokter": "dr. Ani 50%",
    "/faskes": "RS Jiwa",
}


@pytest.mark.usefixtures("rows")
def test_a_search_finds_a_row_by_a_part_of_its_text(client):
    for path, first in FIRSTS.items():
        for q in ("JIWA", "jiw", "50%", "%"):
            assert names(client, path, {"q": q}) == [first], (path, q)
        assert names(client, path, {"q": "tidak ada"}) == names(client, path, {"q": "_"}) == []
        assert len(names(client, path, {"q": ""})) == 2
        assert_error(client.get(path, query_string={"q": "x" * 101}), 400, "validation_error", "q")


@pytest.mark.usefixtures("rows")
def test_a_filter_returns_only_matching_rows(client, kategori):
    for path, query in (
        ("/komunitas", {"province": "bali"}),
        ("/komunitas", {"province": "Bali", "q": "jiwa"}),
        ("/dokter", {"province": "Bali"}),
        ("/faskes", {"province": "Bali", "q": "jiwa"}),
        ("/komunitas", {"kategori_id": kategori["Kesehatan Mental"]}),
        ("/articles/all", {"kategori_id": kategori["Kesehatan Mental"]}),
    ):
        assert names(client, path, query) == [FIRSTS[path]], (path, query)
    for path in ("/komunitas", "/articles/all"):
        for kategori_id in (kategori["Gizi"], 999_999):
            assert names(client, path, {"kategori_id": kategori_id}) == []


@pytest.mark.usefixtures("rows")
def test_an_empty_filter_is_none_and_a_wrong_or_empty_required_one_is_refused(client):
    assert len(names(client, "/komunitas", {"province": ""})) == 2
    for path, field, value in (
        ("/komunitas", "kategori_id", "x"), ("/komunitas", "province", "Atlantis"),
        ("/faskes", "province", "Atlantis"), ("/dokter", "province", "Atlantis"),
        ("/faskes/search", "keyword", ""), ("/articles/search", "title", ""), ("/dokter/nearby?lng=107", "lat", ""),
    ):  # fmt: skip
        joint = "&" if "?" in path else "?"
        assert_error(client.get(f"{path}{joint}{field}={value}"), 400, "validation_error", field)


@pytest.mark.usefixtures("rows")
def test_page_links_of_a_filtered_list_keep_the_filter(client):
    response = client.get("/komunitas?q=warga&per_page=1")
    assert [row["nama"] for row in response.json] == ["Lain"]
    assert response.headers["X-Total-Count"] == "2"
    assert "?q=warga&page=2" in response.headers["Link"]


# --- with many rows -------------------------------------------------------------------------------------------------

#: 20,000 rows of each kind. One in 2,000 has the rare value.
FILL = (
    "INSERT INTO kategori (id, nama_kategori) VALUES (1, 'Islam'), (2, 'Gizi')",
    """
    INSERT INTO komunitas (nama, deskripsi, kategori_id, province)
    SELECT 'Umum ' || md5(n::text), 'x', k.id, CASE WHEN n % 2000 = 0 THEN 'Bali' ELSE 'Banten' END
    FROM generate_series(1, 20000) n
    JOIN kategori k ON k.nama_kategori = CASE WHEN n % 2000 = 0 THEN 'Islam' ELSE 'Gizi' END
    """,
    "INSERT INTO articles (title, content, kategori_id) SELECT nama, '', kategori_id FROM komunitas",
    """
    INSERT INTO videos (video_id, title)
    SELECT n::text, 'Umum ' || md5(n::text) FROM generate_series(1, 20000) n
    """,
    """
    INSERT INTO faskes (id, nama, alamat, lat, lng, province, created_at)
    SELECT n::text, 'Umum ' || md5(n::text), md5((-n)::text), -6, 107,
           CASE WHEN n % 2000 = 0 THEN 'Bali' ELSE 'Banten' END,
           now() - n * interval '1 minute'
    FROM generate_series(1, 20000) n
    """,
    """
    INSERT INTO dokter (nama, created_at)
    SELECT nama, created_at FROM faskes
    """,
    "INSERT INTO dokter_faskes SELECT d.id, f.id FROM dokter d JOIN faskes f ON f.nama = d.nama",
)
TABLES = ("komunitas", "articles", "videos", "faskes", "dokter", "dokter_faskes")


@pytest.fixture
def many(committed):
    with unit_of_work():
        for statement in FILL:
            db.session.execute(sa.text(statement))
    analyse(*TABLES, "kategori")


#: For each list function: its filter class, filters that match few rows, and filters that match nearly all rows.
LISTS = [
    (komunitas.list_all, KomunitasFilter, [{"province": "Bali"}, {"kategori_id": 1}], [{"province": "Banten"}]),
    (lambda search: articles.list_all(search, None), KategoriFilter, [{"kategori_id": 1}], []),
    (lambda search: articles.list_all(search, 1), KategoriFilter, [{"kategori_id": 1}], []),
    (lambda search: videos.list_all(search, 1), Search, [], []),
    (dokter.list_all, DokterFilter, [{"province": "Bali"}], [{"province": "Banten"}]),
    (faskes.list_all, FaskesFilter, [{"province": "Bali"}], [{"province": "Banten"}]),
]


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_no_filter_reads_a_page_with_a_sequential_scan():
    for list_all, kind, few, most in LISTS:
        for narrowing in [{"q": "abcd"}, {"q": "zzzz"}, *few]:
            with unit_of_work(), plans_of_all() as plans:
                list_all(kind(Page(1, 20), **narrowing))
            _check(plans, narrowing)
        for narrowing in [{"q": "umum"}, *most]:
            with unit_of_work(), plans_of_all() as plans:
                list_all(kind(Page(1, 20), **narrowing))
            # Check only the plan of the page. The count may scan the table, because it reads at most 10,000 rows.
            _check(plans[:1], narrowing)


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_a_search_of_facilities_needs_no_sequential_scan():
    with unit_of_work(), plans_of_all() as plans:
        faskes.search("abcd", Page(1, 1))
    assert len(plans) == 2  # one statement for the page and one for the count
    _check(plans, {"keyword": "abcd"})


def _check(plans, narrowing):
    assert plans
    for plan in plans:
        assert not [table for table in TABLES if f"Seq Scan on {table}" in plan], f"{narrowing}\n{plan}"
