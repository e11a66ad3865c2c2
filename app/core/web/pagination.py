"""Lists with pages: `?page=` and `?per_page=` in the request, `X-Total-Count` and `Link` in the response."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar, TypeVarTuple
from urllib.parse import quote, urlencode

import sqlalchemy as sa
from flask import Request
from marshmallow import Schema, fields, post_load, validate

from app.core.database.session import AnySelect, db

#: Maximum rows in the response to a list request without paging parameters.
MAX_UNPAGED = 1000
#: The same maximum for lists whose rows contain long texts, and the maximum characters of such a text.
MAX_UNPAGED_LONG = 100
MAX_TEXT = 2_000
MAX_PAGE = 1_000_000

#: Maximum total of a list. The count stops at this number, because a full count is slow and nobody reads so many pages.
MAX_COUNTED = 10_000

T = TypeVar("T")
Columns = TypeVarTuple("Columns")


@dataclass(frozen=True)
class Page:
    """One page of a list. `number` starts at 1."""

    number: int
    size: int
    #: False if the request had no paging parameters.
    is_paged: bool = True

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    def cut(self, text: str) -> str:
        """Return a long text of a row. Without paging parameters, cut the text, because the response has many rows."""
        return text if self.is_paged else text[:MAX_TEXT]


@dataclass(frozen=True)
class Listing(Generic[T]):
    """The rows of one page, and the number of rows on all pages.

    `Blueprint.response` creates the response's body and headers from a listing.
    """

    rows: Sequence[T]
    total: int
    page: Page

    @property
    def body(self) -> object:
        """Return the body for `Blueprint.plain_response`. Subclasses override this property for other list formats."""
        return self.rows


@dataclass(frozen=True)
class TruncatedRecord(Generic[T]):
    """A record with the first part of its child rows.

    If `after` is set, a request with `?after=<id>` returns the next part.
    """

    record: T
    after: int | None = None


#: Characters with a meaning in a regular expression of PostgreSQL.
SPECIAL = re.compile(r"[\\.^$*+?()\[\]{}|]")
#: Straight and curly quotation marks.
SINGLE_QUOTES, DOUBLE_QUOTES = "'‘’", '"“”'
SINGLE_QUOTE, DOUBLE_QUOTE = re.compile(f"[{SINGLE_QUOTES}]"), re.compile(f"[{DOUBLE_QUOTES}]")


@dataclass(frozen=True)
class Search:
    """The page and the filters of a list request. A package such as `app.dokter` adds its filters in a subclass."""

    page: Page
    q: str | None = None


class PageSchema(Schema):
    max_unpaged: ClassVar[int] = MAX_UNPAGED

    page = fields.Integer(validate=validate.Range(1, MAX_PAGE), metadata={"description": "Page number, from 1"})
    per_page = fields.Integer(validate=validate.Range(1, 100), metadata={"description": "Rows per page, 1 to 100"})

    @post_load
    def to_page(self, data: dict[str, Any], **_: object) -> Page:
        if not data:
            return Page(1, self.max_unpaged, is_paged=False)
        return Page(data.get("page", 1), data.get("per_page", 20))


class LongTextsPageSchema(PageSchema):
    """Query parameters of a list whose rows contain long texts."""

    max_unpaged = MAX_UNPAGED_LONG


class SearchSchema(PageSchema):
    """Query parameters of a list with filters: the page, `q`, and the filters that a subclass adds."""

    search: ClassVar[type[Search]] = Search

    q = fields.String(
        validate=validate.Length(max=100), metadata={"description": "Exact text that a visible field must contain"}
    )

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> Search:
        paging = {name: data.pop(name) for name in ("page", "per_page") if name in data}
        return self.search(super().to_page(paging, **kwargs), **data)


def cut_in_sql(column: sa.Column[T], page: Page) -> sa.SQLColumnExpression[T]:
    """Return the column of a long text, cut like `Page.cut`. The database then sends less."""
    return column if page.is_paged else sa.func.left(column, MAX_TEXT).label(column.name)


def paginate(query: sa.Select[T], page: Page) -> Listing[T]:
    """Return one page of the objects that `query` selects."""
    objects = db.session.scalars(query.limit(page.size).offset(page.offset)).unique().all()
    return Listing(objects, count_all(query, page, len(objects)), page)


def paginate_rows(query: sa.Select[*Columns], page: Page) -> Listing[sa.Row[*Columns]]:
    """Return one page of the rows that `query` selects."""
    rows = db.session.execute(query.limit(page.size).offset(page.offset)).all()
    return Listing(rows, count_all(query, page, len(rows)), page)


def count_all(query: AnySelect, page: Page, shown: int) -> int:
    """Return the number of rows on all pages, at most `MAX_COUNTED`.

    `shown` is the number of rows on this page. Run a count query only if this page is not the last one.
    """
    if shown < page.size and (shown or page.offset == 0):
        return page.offset + shown
    counted = query.order_by(None).limit(MAX_COUNTED).subquery()
    return db.session.scalar(sa.select(sa.func.count()).select_from(counted)) or 0


def headers(listing: Listing[T], request: Request) -> dict[str, str]:
    """Return the headers `X-Total-Count` and `Link` (RFC 8288) of a page."""
    page = listing.page
    fields = {"X-Total-Count": str(listing.total)}
    if not page.is_paged:
        return fields
    shown = len(listing.rows)
    if page.offset + shown < listing.total or (listing.total >= MAX_COUNTED and shown == page.size):
        address = _address(request, "page", "per_page")
        fields["Link"] = f'<{address}page={page.number + 1}&per_page={page.size}>; rel="next"'
    return fields


def next_part(partial: TruncatedRecord[T], request: Request) -> dict[str, str]:
    """Return the `Link` header (RFC 8288) to the next part of a record. Return no header if the record is complete."""
    if partial.after is None:
        return {}
    return {"Link": f'<{_address(request, "after")}after={partial.after}>; rel="next"'}


def _address(request: Request, *names: str) -> str:
    """Return the request's path and query without the parameters `names`.

    The caller appends new values for these parameters. The result has no host name, because a client can forge the
    host. Clients resolve relative links themselves (RFC 8288).
    """
    sent = [(name, value) for name, value in request.args.items(multi=True) if name not in names]
    others = urlencode(sent)
    return f"{quote(request.root_path + request.path)}?{others}{'&' if others else ''}"


def containing(q: str, *columns: sa.SQLColumnExpression[object]) -> sa.ColumnElement[bool]:
    """Return a condition that is true if one of the columns contains `q`. The comparison ignores case."""
    return sa.or_(*(column.regexp_match(contains(q), flags="i") for column in columns))


def contains(text: str) -> str:
    """Return the regular expression of PostgreSQL that finds `text`. Straight and curly quotation marks are equal."""
    escaped = SPECIAL.sub(r"\\\g<0>", text)
    return DOUBLE_QUOTE.sub(f"[{DOUBLE_QUOTES}]", SINGLE_QUOTE.sub(f"[{SINGLE_QUOTES}]", escaped))
