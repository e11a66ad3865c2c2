"""Request and response schemas of videos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, fields, validate

from app.core.web.fields import Form, Text, Timestamp
from app.core.web.pagination import Search, SearchSchema
from app.providers.videos import VIDEO_ID

MAX_TITLE = 300


class VideoId(fields.String):
    """The platform's id of a video."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            validate=validate.Regexp(f"{VIDEO_ID.pattern}\\Z", error="tidak benar."),
            metadata={"example": "dQw4w9WgXcQ"},
            **kwargs,
        )


class Video(Schema):
    id = fields.Integer(allow_none=True, metadata={"example": 3, "description": "null if the video is not stored"})
    video_id = fields.String(metadata={"example": "dQw4w9WgXcQ"})
    title = fields.String(metadata={"example": "Senam Jantung Sehat"})
    channel_id = fields.String(allow_none=True, metadata={"example": "UCuAXFkgsw1L7xaCfnd5JJOw"})
    channel_title = fields.String(allow_none=True, metadata={"example": "Kanal Kesehatan"})
    thumbnail = fields.String(
        allow_none=True, metadata={"example": "https://i.ytimg.com/vi/dQw4w9WgXcQ/maxresdefault.jpg"}
    )
    duration = fields.String(allow_none=True, metadata={"example": "PT4M13S"})
    published_at = Timestamp(allow_none=True)
    is_saved = fields.Boolean(metadata={"description": "Always false without a token"})


class StoredVideo(Video):
    id = fields.Integer(metadata={"example": 3})
    created_at = Timestamp()
    updated_at = Timestamp()


class SavedVideo(Video):
    class Meta:
        exclude = ("channel_id", "duration", "published_at")

    saved_at = Timestamp()


@dataclass(frozen=True)
class VideoFilter(Search):
    """Page, search text and channel for a list of stored videos."""

    channel_id: str | None = None


class VideoFilterSchema(SearchSchema):
    search = VideoFilter

    channel_id = Text(100, example="UCuAXFkgsw1L7xaCfnd5JJOw")


class VideoUpdate(Form):
    """Fields of an update. Fields that are not sent stay unchanged.

    If `video_id` changes, missing fields are filled from the platform.
    """

    video_id = VideoId()
    title = Text(MAX_TITLE, minimum=1, example="Senam Jantung Sehat")
    channel_title = Text(200, allow_none=True, example="Kanal Kesehatan")


class VideoCreate(VideoUpdate):
    """Fields of a new video. Missing fields are filled from the platform."""

    video_id = VideoId(required=True)


class VideoSave(Schema):
    video_id = VideoId(required=True)
    title = Text(MAX_TITLE, required=True, example="Senam Jantung Sehat")
    channel_title = Text(200, load_default=None, allow_none=True, example="Kanal Kesehatan")
    thumbnail_url = Text(
        2048, load_default=None, allow_none=True, example="https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"
    )


class VideoIsSaved(Schema):
    is_saved = fields.Boolean(metadata={"example": True})


class VideoSearch(Schema):
    q = Text(200, required=True, example="senam jantung")
