"""What reports, decisions and phrases look like, in and out."""

from __future__ import annotations

from dataclasses import dataclass

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from app.core.web.fields import Form, RecordId, Text, Timestamp, enumeration
from app.core.web.pagination import Search, SearchSchema
from app.forum.models import CaseState, HiddenBy, PhraseKind, ReportReason

#: What each decision makes of a case.
STATES = {"keep": CaseState.KEPT, "hide": CaseState.HIDDEN, "delete": CaseState.DELETED}

REASON = {**enumeration("ReportReason", ReportReason), "example": ReportReason.SPAM}
STATE = {**enumeration("CaseState", CaseState), "example": CaseState.OPEN}
DECISION = {
    **enumeration("ModerationDecision", STATES),
    "example": "hide",
    "description": "`keep` lets a broadcast go that waited for it; `delete` is final",
}

HIDDEN_BY = {
    **enumeration("HiddenBy", HiddenBy),
    "example": None,
    "description": "Who has hidden the post; null while everybody sees it, and once it is deleted",
}
PHRASE_KIND = {
    **enumeration("PhraseKind", PhraseKind),
    "example": PhraseKind.CRISIS,
    "description": "The forum ignores `emergency`; the chat answers both",
}

#: Characters of what people write to moderators, and moderators to people.
MAX_NOTE = 500


@dataclass(frozen=True)
class CaseSearch(Search):
    state: str | None = None
    banding: bool | None = None


class HelpPhone(Schema):
    phone = fields.String(metadata={"example": "119 ext. 8"})
    title = fields.String(allow_none=True, metadata={"example": "Layanan Kesehatan Jiwa Healing119 (dahulu SEJIWA)"})
    url = fields.String(allow_none=True, metadata={"example": "https://www.healing119.id"})


class Help(Schema):
    """Where somebody in danger finds help."""

    title = fields.String(metadata={"example": "Anda tidak sendirian"})
    text = fields.String(metadata={"example": "Terima kasih sudah bercerita."})
    phones = fields.List(fields.Nested(HelpPhone))
    url = fields.String(metadata={"example": "https://www.healing119.id"})


class Hidden(Schema):
    """Fields of a hidden post."""

    is_hidden = fields.Boolean(
        metadata={
            "x-optional": True,
            "description": "Only present, and true, if the post is hidden: all but its author read a stub",
        }
    )
    hidden_reason = fields.String(
        metadata={
            "x-optional": True,
            "example": "Beberapa orang melaporkan tulisan ini.",
            "description": "Only for the author of what is hidden: why it is",
        }
    )


class Moderated(Hidden):
    """What a post says of itself where moderation, a block or a cry for help make it differ."""

    is_blocked = fields.Boolean(
        metadata={
            "x-optional": True,
            "description": "Only present, and true, where the caller has blocked whoever wrote it: a stub",
        }
    )
    help = fields.Nested(
        Help,
        metadata={
            "x-optional": True,
            "description": "Only in the response to whoever has just written that they want to die",
        },
    )


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
        allow_none=True,
        metadata={
            "example": "Melati",
            "description": "The name that the post showed when it was blocked; null if that is not known any more",
        },
    )
    created_at = Timestamp()


class Blocked(Schema):
    is_blocked = fields.Boolean(required=True, metadata={"example": True})


class CaseQuery(SearchSchema):
    """`q` looks into title and content."""

    search = CaseSearch

    state = fields.String(validate=validate.OneOf(list(CaseState)), metadata=STATE)
    banding = fields.Boolean(metadata={"description": "Whether the author appeals and nobody has decided since"})


class DecisionSchema(Form):
    decision = fields.String(required=True, validate=validate.OneOf(list(STATES)), metadata=DECISION)
    reason = Text(MAX_NOTE, required=True, example="Mengiklankan obat tanpa izin edar.")


class CaseCreate(DecisionSchema):
    """Of a thread or of a reply."""

    thread_id = RecordId()
    reply_id = RecordId()

    @validates_schema(skip_on_field_errors=True)
    def is_about_one_post(self, data: dict[str, object], **_: object) -> None:
        if ("thread_id" in data) == ("reply_id" in data):
            raise ValidationError("harus menyebut satu utas atau satu balasan.", "thread_id")


class CaseReport(Schema):
    reason = fields.String(metadata=REASON)
    note = fields.String(allow_none=True, metadata={"example": "Ini iklan obat."})
    at = Timestamp()


class Case(Schema):
    id = fields.Integer(metadata={"example": 3})
    thread_id = fields.Integer(metadata={"example": 5, "description": "Of a reply the thread that it is in"})
    reply_id = fields.Integer(allow_none=True, metadata={"example": None})
    title = fields.String(
        allow_none=True,
        metadata={"example": "Obat ajaib", "description": "Of a reply its thread's; null: deleted by its author"},
    )
    content = fields.String(allow_none=True, metadata={"example": "Sembuh dalam sehari!"})
    has_image = fields.Boolean(metadata={"description": "The post has a picture, which `.../gambar` answers"})
    hidden_by = fields.String(allow_none=True, metadata=HIDDEN_BY)
    author_name = fields.String(
        allow_none=True, metadata={"example": "Melati", "description": "Under a pseudonym no more than that"}
    )
    state = fields.String(metadata=STATE)
    urgent = fields.Boolean(metadata={"description": "Somebody may be in danger"})
    reports = fields.List(fields.Nested(CaseReport))
    appeal = fields.String(allow_none=True, metadata={"example": None})
    reason = fields.String(allow_none=True, metadata={"example": None, "description": "Of the latest decision"})
    created_at = Timestamp()


class IdentityCreate(Form):
    reason = Text(MAX_NOTE, required=True, example="Permintaan polisi nomor 12.")


class Identity(Schema):
    user_id = fields.Integer(metadata={"example": 7})
    username = fields.String(metadata={"example": "siti"})
    nama_ktp = fields.String(metadata={"example": "Siti Aminah"})


class PhraseCreate(Form):
    phrase = Text(100, required=True, example="ingin mati")
    kind = fields.String(
        load_default=PhraseKind.CRISIS, validate=validate.OneOf(list(PhraseKind)), metadata=PHRASE_KIND
    )


class Phrase(Schema):
    id = fields.Integer(metadata={"example": 1})
    phrase = fields.String(metadata={"example": "ingin mati"})
    kind = fields.String(metadata=PHRASE_KIND)
    created_at = Timestamp()
