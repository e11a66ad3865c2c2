"""Request and response schemas of the administration routes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TypedDict

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from app.accounts.schemas import CurrentPassword, Otp
from app.caregivers.schemas import Link
from app.core.exports.streaming import FORMATS, MIMETYPES
from app.core.web.fields import (
    AnyDay,
    Boolean,
    Characters,
    Form,
    ListOf,
    ProvinceName,
    RecordId,
    Text,
    Timestamp,
    enumeration,
)
from app.core.web.pagination import Search, SearchSchema
from app.core.web.parsing import Upload
from app.identity import schemas as identity_schemas
from app.identity.audit import AuditAction, AuditSearch
from app.identity.models import RoleName
from app.identity.schemas import Name, Password, Person, PhoneNumber, Username

# --- people ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UserSearch(Search):
    role: str | None = None
    is_verified: bool | None = None


class UserSearchSchema(SearchSchema):
    search = UserSearch

    role = Text(100, example="pasien", metadata={"description": "Users with a role of this name"})
    is_verified = Boolean()


class UserRow(identity_schemas.Account):
    """One user in a list of users."""

    erasure_due_at = Timestamp(
        allow_none=True, metadata={"description": "When the user's requested erasure is due. null without a request"}
    )


class AdminFields(Form):
    """Fields of an administrator's account."""

    username = Username()
    # The e-mail may be null, because the command that creates the first administrator does not require an e-mail.
    email = fields.Email(allow_none=True, validate=validate.Length(max=254), metadata={"example": "admin@example.com"})
    password = Password()
    nama_ktp = Name(100, example="Rina Wijaya")
    nomor_hp = PhoneNumber(allow_none=True)
    role = fields.String(
        validate=validate.OneOf([RoleName.ADMIN, RoleName.SUPERADMIN]),
        metadata={"example": "admin", "description": "Only a super-admin may assign superadmin"},
    )
    image = Upload(allow_none=True)


class AdminUpdate(AdminFields):
    """A partial update of an administrator. Missing fields stay unchanged."""

    current_password = CurrentPassword()


class AdminCreate(AdminFields):
    username = Username(allow_none=True)
    email = fields.Email(required=True, validate=validate.Length(max=254), metadata={"example": "admin@example.com"})
    password = Password(required=True)
    nama_ktp = Name(100, required=True, example="Rina Wijaya")


class UserUpdate(Schema):
    is_verified = Boolean()
    role_ids = ListOf(RecordId(), most=50, metadata={"example": [4]})


class Reason(Form):
    """The reason why an administrator acts on another account."""

    reason = Text(500, required=True, example="Ponselnya hilang.")


class OtpRemove(Reason):
    password = fields.String(
        required=True,
        load_only=True,
        validate=Characters(1, 128),
        metadata={"description": "The caller's own password"},
    )
    otp = Otp(metadata={"description": "Six digits or a recovery code, if the caller has a second factor"})


# --- caregivers and patients ----------------------------------------------------------------------------------------


class CaregiverQuery(Schema):
    caregiver_id = RecordId(required=True, metadata={"example": 7})


class LinkCreate(Schema):
    caregiver_id = RecordId(required=True, metadata={"example": 7})
    patient_id = RecordId(required=True, metadata={"example": 12})


class Relation(Link):
    """A link between a caregiver and a patient, with both users."""

    caregiver = fields.Nested(Person)
    patient = fields.Nested(Person)


# --- audit ----------------------------------------------------------------------------------------------------------


ACTION = {**enumeration("AuditAction", AuditAction), "example": AuditAction.NIK_READ}


class AuditSearchSchema(SearchSchema):
    search = AuditSearch

    action = fields.String(validate=validate.OneOf(list(AuditAction)), metadata=ACTION)


class AuditEntry(Schema):
    id = fields.Integer(metadata={"example": 1})
    created_at = Timestamp()
    actor_id = fields.Integer(allow_none=True, metadata={"description": "null for a command of the operator"})
    actor = fields.String(allow_none=True, metadata={"example": "rina", "description": "null if the user is deleted"})
    action = fields.String(metadata=ACTION)
    subject = fields.String(metadata={"example": "user:12"})
    subject_name = fields.String(
        allow_none=True, metadata={"example": "siti", "description": "null if the subject is no user, or a deleted one"}
    )
    details = fields.Dict()
    ip = fields.String(allow_none=True, metadata={"example": "203.0.113.7"})


# --- statistics and exports -----------------------------------------------------------------------------------------


class DayRange(TypedDict, total=False):
    """A range of days in Jakarta, both included. The service sets a default for a missing day."""

    start: date
    end: date


class ExportChoice(DayRange):
    format: str


class RangeQuery(Schema):
    """A range of days in Jakarta, both included."""

    start = AnyDay(metadata={"example": "2026-03-01"})
    end = AnyDay(metadata={"example": "2026-03-31"})

    @validates_schema
    def check_order(self, data: DayRange, **_: object) -> None:
        if "start" in data and "end" in data and data["start"] > data["end"]:
            raise ValidationError({"start": ["tidak boleh sesudah tanggal akhir."]})


class RangeShown(Schema):
    start = AnyDay(metadata={"example": "2026-03-01"})
    end = AnyDay(metadata={"example": "2026-03-31"})
    timezone = fields.String(metadata={"example": "Asia/Jakarta"})


class Totals(Schema):
    """Current totals. The requested range of days does not apply to them."""

    users = fields.Integer(metadata={"example": 120})
    pasien = fields.Integer(metadata={"example": 80})
    pendamping = fields.Integer(metadata={"example": 30})
    admins = fields.Integer(metadata={"example": 3})
    verified = fields.Integer(metadata={"example": 60})
    threads = fields.Integer(metadata={"example": 44})
    replies = fields.Integer(metadata={"example": 310})
    reminders = fields.Integer(metadata={"example": 500})
    articles = fields.Integer(metadata={"example": 12})
    videos = fields.Integer(metadata={"example": 9})
    faskes = fields.Integer(metadata={"example": 40})
    dokter = fields.Integer(metadata={"example": 15})
    komunitas = fields.Integer(metadata={"example": 6})


class ProvinceCount(Schema):
    province = ProvinceName(allow_none=True)
    count = fields.Integer(metadata={"example": 21})


class Growth(Schema):
    date = AnyDay(metadata={"example": "2026-03-01"})
    users = fields.Integer(metadata={"example": 3})
    cumulative = fields.Integer(metadata={"example": 91})


class Activity(Schema):
    date = AnyDay(metadata={"example": "2026-03-01"})
    events = fields.Integer(metadata={"example": 210})
    active_users = fields.Integer(metadata={"example": 33})


class ForumCount(Schema):
    category_id = fields.Integer(metadata={"example": 2})
    name = fields.String(metadata={"example": "Medis"})
    threads = fields.Integer(metadata={"example": 12})
    replies = fields.Integer(metadata={"example": 80})


class ReminderCount(Schema):
    tipe = fields.String(metadata={"example": "obat"})
    count = fields.Integer(metadata={"example": 300})
    done = fields.Integer(metadata={"example": 120})


class RecentActivity(Schema):
    id = fields.Integer(metadata={"example": 1})
    user_id = fields.Integer(allow_none=True, metadata={"example": 12})
    username = fields.String(allow_none=True, metadata={"example": "siti"})
    event_type = fields.String(allow_none=True, metadata={"example": "screen"})
    event_name = fields.String(allow_none=True, metadata={"example": "open"})
    activity_description = fields.String(allow_none=True, metadata={"example": "membuka beranda"})
    created_at = Timestamp()


class Overview(Schema):
    range = fields.Nested(RangeShown)
    totals = fields.Nested(Totals)
    by_province = fields.List(fields.Nested(ProvinceCount))
    growth = fields.List(fields.Nested(Growth))
    activity = fields.List(fields.Nested(Activity))
    forum_categories = fields.List(fields.Nested(ForumCount))
    reminder_categories = fields.List(fields.Nested(ReminderCount))
    recent_activity = fields.List(fields.Nested(RecentActivity))


class Today(Schema):
    """Numbers of reminders due since midnight in Jakarta, and of people."""

    date = AnyDay(metadata={"example": "2026-03-31"})
    sent = fields.Integer(metadata={"example": 26, "description": "Sent by at least one channel"})
    waiting = fields.Integer(metadata={"example": 1, "description": "Not sent yet"})
    failed = fields.Integer(metadata={"example": 0, "description": "Sent by no channel"})
    done = fields.Integer(metadata={"example": 19, "description": "Answered as done"})
    patients = fields.Integer(metadata={"example": 80, "description": "Users with the role pasien"})
    unverified = fields.Integer(metadata={"example": 60, "description": "Users who are not verified yet"})


class ExportQuery(RangeQuery):
    format = fields.String(
        validate=validate.OneOf(list(MIMETYPES)),
        load_default="csv",
        metadata={"example": "xlsx", "description": FORMATS},
    )


#: The name of a report in the URL, for the OpenAPI document.
REPORT = {
    "in": "path",
    "name": "report",
    "schema": {**enumeration("ReportName", ("users", "admins", "activity-logs", "domicile")), "type": "string"},
}
