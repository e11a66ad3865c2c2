"""Super-admin: the SQL console and the table browser. Each handler verifies its caller once more."""

from __future__ import annotations

from typing import Any

from flask import jsonify

from app.core.exports import streaming
from app.core.web.blueprint import Blueprint
from app.identity.access import requires, superadmin
from app.identity.models import RoleName
from app.superadmin import schemas
from app.superadmin.service import console, tables

bp = Blueprint("superadmin", __name__, url_prefix="/superadmin", description="SQL console and table browser")

CSV = {"type": "string", "format": "binary"}


@bp.post("/query")
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.QuerySchema)
@bp.response(200, schemas.ResultSchema)
def query(data: dict[str, str]) -> Any:
    """Run SQL: one request is one transaction, 15 seconds at most; it is in the audit log before it runs."""
    return jsonify(console.query(data["query"], superadmin()))


@bp.post("/query/export")
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.QuerySchema)
@bp.response(200, CSV, content_type="text/csv")
def export_query(data: dict[str, str]) -> Any:
    """Run SQL and download all rows of its last statement as CSV."""
    return streaming.download_response(console.export(data["query"], superadmin()))


@bp.get("/tables")
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.TablesQuerySchema, location="query")
@bp.response(200, {"type": "array", "items": {"type": ["string", "object"]}, "example": ["roles", "users"]})
def list_tables(data: dict[str, bool]) -> Any:
    """Names of all tables; with `?detail=1` objects with the estimated number of rows and the size in bytes."""
    return jsonify(tables.listed(superadmin(), **data))


@bp.get("/tables/<table_name>")
@requires(RoleName.SUPERADMIN)
@bp.arguments(schemas.RowsQuerySchema, location="query")
@bp.response(200, schemas.TableSchema)
def get_table(data: dict[str, int], table_name: str) -> Any:
    """Some rows of a table; password hashes, token hashes, NIK and other secrets are masked."""
    return jsonify(tables.page(table_name, superadmin(), **data))


@bp.get("/tables/<table_name>/export")
@requires(RoleName.SUPERADMIN)
@bp.response(200, CSV, content_type="text/csv")
def export_table(table_name: str) -> Any:
    """Download a whole table as CSV, with the same masks."""
    return streaming.download_response(tables.export(table_name, superadmin()))
