"""Lists: `?page=` and `?per_page=` in, one bounded query, `X-Total-Count` and `Link` out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar, TypeVarTuple
from urllib.parse import parse_qsl, quote, urlencode

import sqlalchemy as sa
from flask import Request
from marshmallow import Schema, fields, post_load, validate

from app.core.database.session import AnySelect, db

#: A list without paging parameters holds so many rows at most.
MAX_UNPAGED = 1000
MAX_PAGE = 1_000_000

T = TypeVar("T")
Columns = TypeVarTuple("Columns")


@dataclass(frozen=True)
class Page:
    """One page of a list: `number` counts from 1."""

    number: int
    size: int

    @property
    def offset(self) -> int:
        return (self.number - 1) * self.size

    def total(self, shown: int) -> int | None:
        """How many rows there are in all, where this page tells by those that it shows; else they must be counted."""
        return self.offset + shown if shown < self.size and (shown or self.offset == 0) else None


@dataclass(frozen=True)
class Listing(Generic[T]):
    """The rows of one page and how many there are in all; `Blueprint.response` turns it into body and headers."""

    rows: Sequence[T]
    total: int
    page: Page

    @property
    def body(self) -> object:
        """What `Blueprint.plain_response` writes; a section whose lists have a shape of their own overrides it."""
        return self.rows


@dataclass(frozen=True)
class KeysetListing(Listing[T]):
    """A page of a list that goes on with `?before=<id>`: `before` is the last row's id, None at the end."""

    before: int | None


@dataclass(frozen=True)
class Partial(Generic[T]):
    """A record that may hold the first part of its rows alone: `?after=<id>` goes on where `after` is not None."""

    record: T
    after: int | None = None


@dataclass(frozen=True)
class Search:
    """Which page of a list, and what its rows must contain. A section narrows its list by more in a subclass."""

    page: Page
    q: str | None = None

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but a page was asked for."""
        return self != type(self)(self.page)


class PageSchema(Schema):
    page = fields.Integer(validate=validate.Range(1, MAX_PAGE), metadata={"description": "Page number, from 1"})
    per_page = fields.Integer(validate=validate.Range(1, 100), metadata={"description": "Rows a page, 1 to 100"})

    @post_load
    def to_page(self, data: dict[str, Any], **_: object) -> Page:
        if not data:
            return Page(1, MAX_UNPAGED)
        return Page(data.get("page", 1), data.get("per_page", 20))


class SearchSchema(PageSchema):
    """A page of a list, narrowed by `q` and by the fields of subclasses, which are those of their `search`."""

    search: ClassVar[type[Search]] = Search

    q = fields.String(
        validate=validate.Length(max=100), metadata={"description": "Part of what the rows show, to the letter"}
    )

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> Search:
        paging = {name: data.pop(name) for name in ("page", "per_page") if name in data}
        # An input that was left alone comes as an empty text.
        narrowing = {name: value for name, value in data.items() if value != ""}
        return self.search(super().to_page(paging, **kwargs), **narrowing)


def paginate(query: sa.Select[T], page: Page, *, most_counted: int | None = None) -> Listing[T]:
    """The objects that `query` selects, for one page; the total counts no further than `most_counted`."""
    objects = db.session.scalars(query.limit(page.size).offset(page.offset)).unique().all()
    return Listing(objects, _total(query, page, len(objects), most_counted), page)


def paginate_rows(
    query: sa.Select[*Columns], page: Page, *, most_counted: int | None = None
) -> Listing[sa.Row[*Columns]]:
    """The rows of columns that `query` selects, for one page; the total counts no further than `most_counted`."""
    rows = db.session.execute(query.limit(page.size).offset(page.offset)).all()
    return Listing(rows, _total(query, page, len(rows), most_counted), page)


def _total(query: AnySelect, page: Page, shown: int, most_counted: int | None) -> int:
    """How many rows there are on all pages; a second statement only where the page itself does not tell."""
    if (total := page.total(shown)) is not None:
        return total
    counted = query.order_by(None).limit(most_counted).subquery()
    return db.session.scalar(sa.select(sa.func.count()).select_from(counted)) or 0


def headers(listing: Listing[T], request: Request) -> dict[str, str]:
    """`X-Total-Count` and RFC 8288 `Link` of one page."""
    page = listing.page
    fields = {"X-Total-Count": str(listing.total)}
    if page.size > 100:  # not asked for by pages
        return fields
    if isinstance(listing, KeysetListing):
        if listing.before is not None:
            address = _address(request, "page", "per_page", "before")
            fields["Link"] = f'<{address}before={listing.before}&per_page={page.size}>; rel="next"'
        return fields
    last = max(1, -(-listing.total // page.size))
    targets = {"first": 1, "prev": page.number - 1, "next": page.number + 1, "last": last}
    address = _address(request, "page", "per_page")
    fields["Link"] = ", ".join(
        f'<{address}page={number}&per_page={page.size}>; rel="{rel}"'
        for rel, number in targets.items()
        if 1 <= number <= last
    )
    return fields


def next_part(partial: Partial[T], request: Request) -> dict[str, str]:
    """The RFC 8288 `Link` to the rest of a record, where there is one."""
    if partial.after is None:
        return {}
    return {"Link": f'<{_address(request, "page", "per_page", "after")}after={partial.after}>; rel="next"'}


def _address(request: Request, *names: str) -> str:
    """The request's path and query, to which parameters of these `names` are added.

    Never its host, which anybody can send: RFC 8288 resolves the links against the address.
    """
    return _address_without(names, request.root_path + request.path, request.query_string)


@lru_cache(maxsize=256)  # of the same few pages, over and over: a twentieth of a prepared list
def _address_without(names: tuple[str, ...], path: str, query: bytes) -> str:
    sent = parse_qsl(query.decode("utf-8", "replace"), keep_blank_values=True)
    others = urlencode([(name, value) for name, value in sent if name not in names])
    return f"{quote(path)}?{others}{'&' if others else ''}"


def contains(text: str) -> str:
    """The LIKE pattern of a substring; `%`, `_` and backslash in it are plain characters."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
