"""Schemas of the forum's requests and responses.

The response schemas only document the API. `app.forum.service.reads` builds the responses without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, post_load

from app.core.media.pictures import Picture
from app.core.web.fields import Form, RecordId, Text, Timestamp, enumeration
from app.core.web.pagination import MAX_UNPAGED_LONG, Page, PageSchema, Search, SearchSchema
from app.core.web.parsing import Upload
from app.forum.moderation_schemas import Hidden, Moderated
from app.identity.preferences import TAGS

MAX_TITLE = 200
MAX_CONTENT = 20_000


class Category(Schema):
    id = fields.Integer(metadata={"example": 2})
    name = fields.String(metadata={"example": "Medis"})


class CategoryList(Category):
    preference_tag = fields.String(
        allow_none=True,
        metadata={
            **enumeration("PreferenceTag", TAGS),
            "example": "medical",
            "description": "Broadcasts about new threads go to people with this preference; null: to all",
        },
    )
    threads_count = fields.Integer(metadata={"example": 44})


class Author(Schema):
    id = fields.Integer(allow_none=True, metadata={"example": None, "description": "null under a pseudonym"})
    name = fields.String(metadata={"example": "Melati"})
    image = Picture(metadata={"example": None})


class Post(Schema):
    id = fields.Integer(metadata={"example": 5})
    content = fields.String(metadata={"example": "Bagaimana cara mengatur pola makan?"})
    image = Picture()
    use_pseudonym = fields.Boolean(metadata={"example": True})
    author = fields.Nested(Author)
    likes_count = fields.Integer(metadata={"example": 3})
    saves_count = fields.Integer(metadata={"example": 1})
    is_liked = fields.Boolean(metadata={"description": "false without a token"})
    is_saved = fields.Boolean(metadata={"description": "false without a token"})
    is_owner = fields.Boolean(metadata={"description": "Whether the caller wrote the post"})
    created_at = Timestamp()
    updated_at = Timestamp()


class ThreadFields(Post):
    category_id = fields.Integer(metadata={"example": 2})
    category = fields.Nested(Category)
    title = fields.String(metadata={"example": "Menu untuk penderita diabetes"})
    replies_count = fields.Integer(metadata={"example": 2})


class ThreadRow(ThreadFields, Hidden):
    """A thread in a list. A hidden thread appears only in a list that its author requests with `mine`."""


class ThreadTitle(Schema):
    id = fields.Integer(metadata={"example": 5})
    title = fields.String(metadata={"example": "Menu untuk penderita diabetes"})


class PlainReply(Post):
    """A reply without the replies below it."""

    content = fields.String(allow_none=True, metadata={"example": "Kurangi gula dan nasi putih."})
    author = fields.Nested(Author, allow_none=True)
    thread_id = fields.Integer(metadata={"example": 5})
    parent_id = fields.Integer(allow_none=True)
    is_deleted = fields.Boolean(metadata={"description": "A stub: content and author are null"})


class ReplyRow(PlainReply, Hidden):
    thread = fields.Nested(ThreadTitle)


class Reply(PlainReply, Moderated):
    replies = fields.List(fields.Nested(lambda: Reply()))  # noqa: PLW0108  # `Reply` is not defined yet
    replies_truncated = fields.Boolean(
        metadata={
            "x-optional": True,
            "description": "Only present, and true, in the response to a change that leaves out replies below this one",
        }
    )


class Thread(ThreadFields, Moderated):
    replies = fields.List(
        fields.Nested(Reply),
        metadata={"description": "A reply is on the first level if its parent is in an earlier part of the thread"},
    )
    replies_truncated = fields.Boolean(
        metadata={
            "x-optional": True,
            "description": "Only present, and true, if replies are left out. A response holds at most 1,000 replies and"
            ' 2,000,000 bytes. `Link: rel="next"` is the URL of the replies that follow.',
        }
    )


@dataclass(frozen=True)
class ThreadQuery(Search):
    """Filters and page for the list of threads."""

    category_id: int | None = None
    before: int | None = None
    saved: bool = False
    mine: bool = False


class ThreadQuerySchema(SearchSchema):
    search = ThreadQuery
    max_unpaged = MAX_UNPAGED_LONG

    category_id = RecordId()
    before = RecordId(
        metadata={"description": "Only threads older than this one, for scrolling at constant cost, instead of `page`"}
    )
    saved = fields.Boolean(metadata={"description": "Only what the caller has saved"})
    mine = fields.Boolean(metadata={"description": "Only what the caller has written, hidden ones too"})
    q = Text(
        100,
        metadata={
            "description": "Exact part of the title or content. The total counts at most 1,000 matches. A text without "
            "three letters or digits in a row is searched in the newest 1,000 threads only"
        },
    )


@dataclass(frozen=True)
class RepliesQuery:
    """Selection of a thread's replies. Without `page`, the response contains replies up to its limits."""

    page: Page | None = None
    after: int | None = None
    replies: bool = True


class RepliesQuerySchema(PageSchema):
    """Query of one thread. A page has `per_page` replies to the thread itself, each with all replies below it."""

    after = RecordId(
        metadata={"description": "Only replies newer than this id, as in the `Link` header of a truncated response"}
    )
    replies = fields.Boolean(metadata={"description": "`false`: only the thread, with an empty `replies`"})

    @post_load
    def to_page(self, data: dict[str, Any], **kwargs: object) -> RepliesQuery:
        paging = {name: value for name, value in data.items() if name in ("page", "per_page")}
        others = {name: value for name, value in data.items() if name not in paging}
        return RepliesQuery(page=super().to_page(paging, **kwargs) if paging else None, **others)


@dataclass(frozen=True)
class ReplyQuery(Search):
    """Filters and page for a person's replies. Without `saved` and `mine`, the list holds saved replies."""

    before: int | None = None
    saved: bool = False
    mine: bool = False


class ReplyQuerySchema(SearchSchema):
    search = ReplyQuery
    max_unpaged = MAX_UNPAGED_LONG

    before = RecordId(
        metadata={"description": "Only replies older than this one, for scrolling at constant cost, instead of `page`"}
    )
    saved = fields.Boolean(metadata={"description": "Only what the caller has saved; the default without `mine`"})
    mine = fields.Boolean(metadata={"description": "Only what the caller has written, hidden ones too"})
    q = Text(100, metadata={"description": "Exact part of the content"})


class PostUpdate(Form):
    """A partial update of a post. Missing fields stay unchanged. A null or empty `image` removes the picture."""

    content = Text(MAX_CONTENT, minimum=1, example="Bagaimana cara mengatur pola makan?")
    use_pseudonym = fields.Boolean(metadata={"example": True})
    image = Upload(allow_none=True)


class ThreadUpdate(PostUpdate):
    category_id = RecordId()
    title = Text(MAX_TITLE, minimum=1, example="Menu untuk penderita diabetes")


class ThreadCreate(ThreadUpdate):
    category_id = RecordId(required=True)
    title = Text(MAX_TITLE, required=True, example="Menu untuk penderita diabetes")
    content = Text(MAX_CONTENT, required=True, example="Bagaimana cara mengatur pola makan?")
    use_pseudonym = fields.Boolean(load_default=False)


class ReplyUpdate(PostUpdate):
    pass


class ReplyCreate(PostUpdate):
    content = Text(MAX_CONTENT, required=True, example="Kurangi gula dan nasi putih.")
    use_pseudonym = fields.Boolean(load_default=False)
    parent_id = RecordId(load_default=None, allow_none=True)


class Liked(Schema):
    is_liked = fields.Boolean(required=True, metadata={"example": True})


class Saved(Schema):
    is_saved = fields.Boolean(required=True, metadata={"example": True})
