"""Request and response schemas of articles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields, validate

from app.core.lib.html import sanitise
from app.core.lib.urls import MAX_LENGTH, canonical
from app.core.media.pictures import Picture
from app.core.web.fields import Form, RecordId, Text, Timestamp
from app.core.web.parsing import Upload

MAX_TITLE = 300
MAX_CONTENT = 200_000

EXAMPLE = "https://ayosehat.kemkes.go.id/mengenal-diabetes"


class ArticleUrl(fields.String):
    """A web address, converted to its canonical form."""

    default_error_messages = {"invalid": "isi dengan alamat http atau https."}  # noqa: RUF012

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": EXAMPLE, "maxLength": MAX_LENGTH})
        super().__init__(**kwargs)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: object) -> str:
        try:
            return canonical(super()._deserialize(value, attr, data, **kwargs))
        except ValueError:
            raise self.make_error("invalid") from None


class SafeHtml(fields.String):
    """HTML, sanitised to a small set of tags."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("metadata", {"example": "<p>Diabetes perlu dikenali sejak dini.</p>"})
        super().__init__(**kwargs)

    def _deserialize(self, value: object, attr: str | None, data: Mapping[str, object] | None, **kwargs: object) -> str:
        # Check the length before sanitising, because the limit applies to the HTML that the client sent.
        return sanitise(validate.Length(max=MAX_CONTENT)(super()._deserialize(value, attr, data, **kwargs)))


class LiveArticle(Schema):
    """An article in the ministry's list."""

    title = fields.String(metadata={"example": "Mengenal Diabetes Sejak Dini"})
    url = fields.String(metadata={"example": EXAMPLE})
    image = fields.String(allow_none=True, metadata={"example": "https://ayosehat.kemkes.go.id/wp-content/a.jpg"})
    is_saved = fields.Boolean(metadata={"description": "Always false without a token"})


class LiveArticleDetail(LiveArticle):
    content = fields.String(metadata={"example": "<p>Diabetes perlu dikenali sejak dini.</p>"})
    published_at = fields.String(allow_none=True, metadata={"format": "date-time", "example": "2026-03-02T00:00:00Z"})


class SavedArticle(Schema):
    id = fields.Integer(allow_none=True, metadata={"example": 7, "description": "null if the article is not stored"})
    title = fields.String(metadata={"example": "Mengenal Diabetes Sejak Dini"})
    url = fields.String(metadata={"example": EXAMPLE})
    image = Picture()
    is_saved = fields.Boolean(metadata={"example": True})
    saved_at = Timestamp()


class Article(Schema):
    id = fields.Integer(metadata={"example": 7})
    title = fields.String(metadata={"example": "Mengenal Diabetes Sejak Dini"})
    url = fields.String(allow_none=True, metadata={"example": EXAMPLE})
    content = fields.String(metadata={"example": "<p>Diabetes perlu dikenali sejak dini.</p>"})
    kategori_id = fields.Integer(allow_none=True, metadata={"example": 1})
    image = Picture()
    is_saved = fields.Boolean(metadata={"description": "Always false without a token"})
    created_at = Timestamp()
    updated_at = Timestamp()


class ArticleUpdate(Form):
    """Fields of an update. Fields that are not sent stay unchanged."""

    title = Text(MAX_TITLE, minimum=1, example="Mengenal Diabetes Sejak Dini")
    url = ArticleUrl(allow_none=True)
    content = SafeHtml()
    kategori_id = RecordId(allow_none=True)
    image = Upload(allow_none=True)


class ArticleCreate(ArticleUpdate):
    title = Text(MAX_TITLE, required=True, example="Mengenal Diabetes Sejak Dini")
    content = SafeHtml(load_default="")


class ArticleSave(Schema):
    url = ArticleUrl(required=True)
    title = Text(MAX_TITLE, required=True, example="Mengenal Diabetes Sejak Dini")


class LiveArticleQuery(Schema):
    # This field is no `ArticleUrl`, because every forbidden or invalid address must give the error `url_not_allowed`.
    url = fields.String(required=True, metadata={"example": EXAMPLE})


class ArticleQuery(Schema):
    url = ArticleUrl(required=True)


class ArticleSearch(Schema):
    title = Text(200, required=True, example="diabetes")
