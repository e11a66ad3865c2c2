"""Request and response schemas of SQL queries and tables."""

from __future__ import annotations

from marshmallow import Schema, ValidationError, fields, validate

MAX_QUERY_BYTES = 20 * 1024


def _short_enough(value: str) -> None:
    if len(value.encode()) > MAX_QUERY_BYTES:
        raise ValidationError("maksimal 20 KB.")


class SqlQuery(Schema):
    query = fields.String(
        required=True, validate=[validate.Length(1), _short_enough], metadata={"example": "SELECT count(*) FROM users"}
    )


class SqlResult(Schema):
    """The result of the last statement. For a write, `row_count` is the number of affected rows."""

    columns = fields.List(fields.String(), metadata={"example": ["count"]})
    rows = fields.List(fields.Dict(), metadata={"example": [{"count": 120}]})
    row_count = fields.Integer(metadata={"example": 1})
    truncated = fields.Boolean(metadata={"description": "Whether rows were left out (1,000 rows, 4 MB at most)"})
    duration_ms = fields.Integer(metadata={"example": 3})
    command = fields.String(metadata={"example": "SELECT"})


class TableRowsSchema(Schema):
    limit = fields.Integer(load_default=100, validate=validate.Range(1, 1000))
    offset = fields.Integer(load_default=0, validate=validate.Range(0, 2**53))


class TableColumn(Schema):
    name = fields.String(metadata={"example": "id"})
    type = fields.String(metadata={"example": "bigint"})


#: OpenAPI schema of the table list.
TABLE_LIST = {"type": "array", "items": {"type": "string"}, "example": ["roles", "users"]}


class TablePage(Schema):
    table = fields.String(metadata={"example": "users"})
    columns = fields.List(fields.Nested(TableColumn))
    rows = fields.List(fields.Dict())
    total = fields.Integer(metadata={"example": 120})
    limit = fields.Integer(metadata={"example": 100})
    offset = fields.Integer(metadata={"example": 0})
