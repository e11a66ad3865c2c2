"""Schemas of the forum's requests and responses. Those of moderation are in `moderation_schemas`.

The response schemas only document the API. `app.forum.service.reads` builds the responses without them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, post_load

from app.core.media.pictures import Picture
from app.core.web.fields import Boolean, Form, RecordId, Text, Timestamp, enumeration
from app.core.web.pagination import MAX_UNPAGED_LONG, Search, SearchSchema
from app.core.web.parsing import Upload
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


class HelpPhone(Schema):
    phone = fields.String(metadata={"example": "119 ext. 8"})
    title = fields.String(allow_none=True, metadata={"example": "Layanan Kesehatan Jiwa Healing119 (dahulu SEJIWA)"})
    url = fields.String(allow_none=True, metadata={"example": "https://www.healing119.id"})


class Help(Schema):
    title = fields.String(metadata={"example": "Anda tidak sendirian"})
    text = fields.String(metadata={"example": "Terima kasih sudah bercerita."})
    phones = fields.List(fields.Nested(HelpPhone))
    url = fields.String(metadata={"example": "https://www.healing119.id"})


def _only_true(when: str) -> fields.Boolean:
    """Return a field of a response that is left out instead of false."""
    return fields.Boolean(metadata={"x-optional": True, "description": f"Only present, and true, {when}"})


class Hidden(Schema):
    is_hidden = _only_true("if the post is hidden. Everybody except its author gets a stub")
    hidden_reason = fields.String(
        metadata={
            "x-optional": True,
            "example": "Beberapa orang melaporkan tulisan ini.",
            "description": "Reason why the post is hidden. Only its author gets this field",
        }
    )


class Moderated(Hidden):
    """Optional fields of a hidden post, of a post by a blocked author, and of a post whose author gets crisis help."""

    is_blocked = _only_true("if the caller has blocked the author. The post is a stub")
    help = fields.Nested(
        Help,
        metadata={
            "x-optional": True,
            "description": "Only in the response to an author who has just written that they want to die",
        },
    )


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
    replies_truncated = _only_true("in the response to a change that leaves out replies below this one")


class Thread(ThreadFields, Moderated):
    replies = fields.List(
        fields.Nested(Reply),
        metadata={"description": "A reply is on the first level if its parent is in an earlier part of the thread"},
    )
    replies_truncated = _only_true(
        "if replies are left out. A response holds at most 500 replies."
        ' `Link: rel="next"` is the URL of the replies that follow.'
    )


@dataclass(frozen=True)
class PostQuery(Search):
    """Filters and page for a list of threads or replies."""

    category_id: int | None = None
    saved: bool = False
    mine: bool = False


class ReplyQuerySchema(SearchSchema):
    search = PostQuery
    max_unpaged = MAX_UNPAGED_LONG

    saved = Boolean(metadata={"description": "Only what the caller has saved; for replies, the default"})
    mine = Boolean(metadata={"description": "Only what the caller has written, hidden ones too"})
    q = Text(100, metadata={"description": "Exact part of the title or content"})


class ThreadQuerySchema(ReplyQuerySchema):
    category_id = RecordId()


@dataclass(frozen=True)
class RepliesQuery:
    """Selection of a thread's replies."""

    after: int = 0
    replies: bool = True


class RepliesQuerySchema(Schema):
    after = RecordId(
        metadata={"description": "Only replies newer than this id, as in the `Link` header of a truncated response"}
    )
    replies = Boolean(metadata={"description": "`false`: only the thread, with an empty `replies`"})

    @post_load
    def to_query(self, data: dict[str, Any], **_: object) -> RepliesQuery:
        return RepliesQuery(**data)


class PostUpdate(Form):
    """A partial update of a post. Missing fields stay unchanged. A null or empty `image` removes the picture."""

    content = Text(MAX_CONTENT, minimum=1, example="Bagaimana cara mengatur pola makan?")
    use_pseudonym = Boolean(metadata={"example": True})
    image = Upload(allow_none=True)


class ThreadUpdate(PostUpdate):
    category_id = RecordId()
    title = Text(MAX_TITLE, minimum=1, example="Menu untuk penderita diabetes")


class ThreadCreate(ThreadUpdate):
    category_id = RecordId(required=True)
    title = Text(MAX_TITLE, required=True, example="Menu untuk penderita diabetes")
    content = Text(MAX_CONTENT, required=True, example="Bagaimana cara mengatur pola makan?")
    use_pseudonym = Boolean(load_default=False)


class ReplyUpdate(PostUpdate):
    pass


class ReplyCreate(PostUpdate):
    content = Text(MAX_CONTENT, required=True, example="Kurangi gula dan nasi putih.")
    use_pseudonym = Boolean(load_default=False)
    parent_id = RecordId(load_default=None, allow_none=True)


class Liked(Schema):
    is_liked = fields.Boolean(required=True, metadata={"example": True})


class Saved(Schema):
    is_saved = fields.Boolean(required=True, metadata={"example": True})
