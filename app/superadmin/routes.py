"""Routes of the SQL console and the table browser, for super-admins. Each handler checks the role again."""

from __future__ import annotations

from flask import Response

from app.core.exports import streaming
from app.core.exports.streaming import MIMETYPES
from app.core.web.blueprint import Blueprint
from app.core.web.dispatch import in_steps
from app.identity.access import requires, superadmin
from app.identity.models import RoleName
from app.superadmin import schemas
from app.superadmin.service import console, tables

bp = Blueprint("superadmin", __name__, url_prefix="/superadmin", description="SQL console and table browser")


@bp.post("/query")
@in_steps
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.SqlQuery)
@bp.response(200, schemas.SqlResult)
def run_query(data: dict[str, str]) -> dict[str, object]:
    """Run SQL in one transaction of at most 15 seconds. The statement is recorded in the audit log before it runs."""
    return console.run(data["query"], superadmin())


@bp.post("/query/export")
@in_steps
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.SqlQuery)
@bp.response(200, streaming.FILE, content_type=MIMETYPES["csv"])
def export_query(data: dict[str, str]) -> Response:
    """Run SQL and download all rows of its last statement as CSV."""
    return streaming.download_response(console.export(data["query"], superadmin()))


@bp.get("/tables")
@requires(RoleName.SUPERADMIN)
@bp.plain_response(200, schemas.TABLE_LIST)
def list_tables() -> list[str]:
    """List the names of the service's own tables."""
    superadmin()
    return tables.list_all()


@bp.get("/tables/<table_name>")
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.TableRowsSchema, location="query")
@bp.response(200, schemas.TablePage)
def get_table(data: dict[str, int], table_name: str) -> dict[str, object]:
    """Return rows of a table by primary key. Password hashes, token hashes, NIK and other secrets are masked."""
    superadmin()
    return tables.get(table_name, **data)


@bp.get("/tables/<table_name>/export")
@requires(RoleName.SUPERADMIN)
@bp.response(200, streaming.FILE, content_type=MIMETYPES["csv"])
def export_table(table_name: str) -> Response:
    """Download a whole table as CSV, with the same columns masked."""
    return streaming.download_response(tables.export(table_name, superadmin()))
