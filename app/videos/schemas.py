"""Request and response schemas of videos."""

from __future__ import annotations

import re
from typing import Any

from marshmallow import Schema, fields, post_load, validate

from app.core.web.fields import Form, Loaded, Text, Timestamp
from app.providers.videos import VIDEO_ID

MAX_TITLE = 300

#: Address of a picture on one of the platform's hosts.
PICTURE = re.compile(r"https://([a-z0-9-]+\.)*(ytimg|ggpht)\.com/[!-~]{0,2000}")


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
    thumbnail_url = fields.String(
        load_default=None,
        allow_none=True,
        metadata={
            "example": "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg",
            "description": "Left out unless it is an https address under ytimg.com or ggpht.com",
        },
    )

    @post_load
    def leave_out_other_pictures(self, data: Loaded, **_: object) -> Loaded:
        is_own = PICTURE.fullmatch(data["thumbnail_url"] or "")
        return data if is_own else {**data, "thumbnail_url": None}


class VideoSearch(Schema):
    q = Text(200, required=True, example="senam jantung")
