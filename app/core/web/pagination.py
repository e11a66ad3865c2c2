"""Lists: `?page=` and `?per_page=` in, one bounded query, `X-Total-Count` and `Link` out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import sqlalchemy as sa
from flask import Request
from marshmallow import Schema, fields, post_load, validate

from app.core.database.session import db

#: A list without paging parameters holds so many rows at most.
MAX_UNPAGED = 1000
MAX_PAGE = 1_000_000

T = TypeVar("T")


@dataclass(frozen=True)
class Page:
    """One page of a list: `number` counts from 1."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size


@dataclass(frozen=True)
class Listing(Generic[T]):
    """The rows of one page and how many there are in all; `Blueprint.response` turns it into body and headers."""

    rows: Sequence[T]
    total: int
    page: Page


class PageSchema(Schema):
    page = fields.Integer(validate=validate.Range(1, MAX_PAGE), metadata={"description": "Page number, from 1"})
    per_page = fields.Integer(validate=validate.Range(1, 100), metadata={"description": "Rows a page, 1 to 100"})

    @post_load
    def to_page(self, data: dict[str, Any], **_: Any) -> Page:
        if not data:
            return Page(1, MAX_UNPAGED)
        return Page(data.get("page", 1), data.get("per_page", 20))


class AdminListSchema(PageSchema):
    """A page of an administrators' list, narrowed by `q`."""

    q = fields.String(
        validate=validate.Length(max=100), metadata={"description": "Part of what the rows show, to the letter"}
    )

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        q = data.pop("q", None)
        return {"q": q, "page": super().to_page(data, **kwargs)}


def paginate(query: sa.Select[*tuple[Any, ...]], page: Page, *, scalars: bool = True) -> Listing[Any]:
    """Run `query` for one page; the count costs a second statement only where the page does not tell it."""
    result = db.session.execute(query.limit(page.size).offset(page.offset))
    rows: Sequence[Any] = result.scalars().unique().all() if scalars else result.all()
    if len(rows) < page.size and (rows or page.offset == 0):
        return Listing(rows, page.offset + len(rows), page)
    total = db.session.scalar(sa.select(sa.func.count()).select_from(query.order_by(None).subquery()))
    return Listing(rows, total or 0, page)


def headers(listing: Listing[Any], request: Request) -> dict[str, str]:
    """`X-Total-Count` and RFC 8288 `Link` of one page."""
    page = listing.page
    found = {"X-Total-Count": str(listing.total)}
    if page.size > 100:  # not asked for by pages
        return found
    last = max(1, -(-listing.total // page.size))
    targets = {"first": 1, "prev": page.number - 1, "next": page.number + 1, "last": last}
    kept = _kept(request.args)
    address = f"{_address(request)}?{urlencode(kept) + '&' if kept else ''}"
    found["Link"] = ", ".join(
        f'<{address}page={number}&per_page={page.size}>; rel="{rel}"'
        for rel, number in targets.items()
        if 1 <= number <= last
    )
    return found


def keyset_headers(listing: Listing[Any], request: Request, before: int | None) -> dict[str, str]:
    """Like `headers` for a list that goes on with `?before=<id>`: `before` is the last row's id, None at the end."""
    found = {"X-Total-Count": str(listing.total)}
    if before is None or listing.page.size > 100:
        return found
    query = urlencode({**_kept(request.args), "before": before, "per_page": listing.page.size})
    return {**found, "Link": f'<{_address(request)}?{query}>; rel="next"'}


def _address(request: Request) -> str:
    """The request's address without its query; werkzeug's own `base_url` unquotes and quotes it for a browser's bar."""
    return f"{request.scheme}://{request.host}{quote(request.root_path + request.path)}"


def _kept(args: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in args.items() if name not in ("page", "per_page")}


def contains(text: str) -> str:
    """The LIKE pattern of a substring; `%`, `_` and backslash in it are plain characters."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
