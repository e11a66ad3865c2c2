"""Schemas of reports, appeals, blocks and moderation cases in the forum."""

from __future__ import annotations

from dataclasses import dataclass

from marshmallow import Schema, fields, validate

from app.core.media.pictures import Picture
from app.core.web.fields import Boolean, Form, Text, Timestamp, enumeration
from app.core.web.pagination import MAX_UNPAGED_LONG, Search, SearchSchema
from app.forum.models import CaseState, HiddenBy, ReportReason

#: Maximum characters of a note in a report or an appeal, and of a moderator's reason.
MAX_NOTE = 500

#: State of a case after each decision.
STATES = {"keep": CaseState.KEPT, "hide": CaseState.HIDDEN}

REASON = {**enumeration("ReportReason", ReportReason), "example": ReportReason.SPAM}
STATE = {**enumeration("CaseState", CaseState), "example": CaseState.OPEN}
DECISION = {
    **enumeration("ModerationDecision", STATES),
    "example": "hide",
    "description": "`keep` also sends a broadcast that waited for the decision",
}

HIDDEN_BY = {
    **enumeration("HiddenBy", HiddenBy),
    "example": None,
    "description": "Who has hidden the post; null if the post is visible",
}


class ReportCreate(Form):
    reason = fields.String(required=True, validate=validate.OneOf(list(ReportReason)), metadata=REASON)
    note = Text(MAX_NOTE, load_default=None, allow_none=True, example="Ini iklan obat.")


class ForumReport(Schema):
    id = fields.Integer(metadata={"example": 12})
    reason = fields.String(metadata=REASON)
    note = fields.String(allow_none=True, metadata={"example": "Ini iklan obat."})
    created_at = Timestamp()


class AppealCreate(Form):
    note = Text(MAX_NOTE, required=True, example="Saya hanya bercerita tentang pengobatan saya.")


class Appeal(Schema):
    appeal = fields.String(metadata={"example": "Saya hanya bercerita tentang pengobatan saya."})


class Block(Schema):
    id = fields.Integer(metadata={"example": 4})
    kind = fields.String(metadata={**enumeration("BlockKind", ("name", "alias")), "example": "alias"})
    shown_as = fields.String(
        metadata={"example": "Melati", "description": "Name that the post showed when its author was blocked"}
    )
    created_at = Timestamp()


class Blocked(Schema):
    is_blocked = fields.Boolean(required=True, metadata={"example": True})


@dataclass(frozen=True)
class CaseSearch(Search):
    state: str | None = None
    banding: bool | None = None


class CaseQuery(SearchSchema):
    """Query of the list of cases. `q` searches title and content."""

    search = CaseSearch
    max_unpaged = MAX_UNPAGED_LONG

    state = fields.String(validate=validate.OneOf(list(CaseState)), metadata=STATE)
    banding = Boolean(metadata={"description": "Whether the author's appeal still waits for a decision"})


class DecisionSchema(Form):
    decision = fields.String(required=True, validate=validate.OneOf(list(STATES)), metadata=DECISION)
    reason = Text(MAX_NOTE, required=True, example="Mengiklankan obat tanpa izin edar.")


class CaseReport(Schema):
    reason = fields.String(metadata=REASON)
    note = fields.String(allow_none=True, metadata={"example": "Ini iklan obat."})
    at = Timestamp()


class Case(Schema):
    id = fields.Integer(metadata={"example": 3})
    thread_id = fields.Integer(metadata={"example": 5, "description": "The thread, or the reply's thread"})
    reply_id = fields.Integer(allow_none=True, metadata={"example": None})
    title = fields.String(
        metadata={"example": "Obat ajaib", "description": "Title of the thread, or of the reply's thread"}
    )
    content = fields.String(metadata={"example": "Sembuh dalam sehari!"})
    image = Picture()
    hidden_by = fields.String(allow_none=True, metadata=HIDDEN_BY)
    author_name = fields.String(
        metadata={"example": "Melati", "description": "Only the pseudonym, if the author used one"}
    )
    state = fields.String(metadata=STATE)
    urgent = fields.Boolean(metadata={"description": "Somebody may be in danger"})
    reports = fields.List(fields.Nested(CaseReport))
    appeal = fields.String(allow_none=True, metadata={"example": None})
    reason = fields.String(allow_none=True, metadata={"example": None, "description": "Reason of the latest decision"})
    created_at = Timestamp()
