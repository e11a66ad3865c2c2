"""Every validation error is in plain Indonesian. A field name in an error is a word that a person understands."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from app import sections
from app.core.errors import ValidationFailed
from app.core.lib.labels import LABELS, label
from app.core.lib.sentences import UNFIT, WHOLE, as_sentence
from app.core.web.fields import Items
from app.identity.schemas import UserCreate
from app.pengingat.types.registry import TYPES
from tests.helpers.language import faults
from tests.helpers.offenders import assert_none

#: Field names that people understand without a label.
PLAIN = frozenset(
    """
    alamat aturan deskripsi dokter faskes format frekuensi hari id jadwal jam jenis judul jumlah karbohidrat kategori
    kontak kontrol lemak makan malam nama obat protein radius samaran sarapan satuan selingan serat siang spesialisasi
    telepon tempat terapi vitamin waktu
    """.split()  # noqa: SIM905  # a list would be much longer
)

#: Blueprints whose bodies only programs send.
PROGRAMS = frozenset({"push", "logs"})

#: Fields that only programs fill in, in bodies that people send.
UNLABELLED = frozenset({"captcha-response", "paused", "refresh_token", "thumbnail_url"})

#: Values with which the test fills each field. Each field must reject at least one of these values.
WRONG = [
    None, "", " ", "teks", "x" * 300_000, "1e999", "0812", "25:00", "monday", "<b>", "https://", "ya", "2026-02-30",
    0, -1, 1.5, 7, 2**63, -(2**63), 1e300, float("nan"), True, [], ["teks"], [0] * 200, {}, {"x": 1}, [{}], [None],
]  # fmt: skip


#: Error texts that are whole sentences and need no field name before them.
WHOLE_SENTENCES = {UNFIT, "Jumlah jam harus sama dengan frekuensi."}


@dataclass(frozen=True)
class Place:
    """A schema, one of its fields, and a function that wraps a value for this field."""

    schema: Schema
    path: tuple[str, ...]
    field: fields.Field[Any]
    wrap: Callable[[object], object]
    #: Whether people fill in the field, so that errors name it with a label.
    is_labelled: bool

    def __str__(self):
        return f"{type(self.schema).__name__}.{'.'.join(self.path)}"


def schemas():
    """Yield each schema of a route once, and each schema that services and commands load themselves.

    Yield also whether people fill in its fields. Query parameters, and bodies that only programs send, have no labels.
    """
    seen = set()
    for blueprint in sections.blueprints():
        for documented in blueprint._docs.values():
            for operation in filter(None, (documented.get(method) for method in ("get", "post", "put", "delete"))):
                for parameter in operation.get("arguments", {}).get("parameters", ()):
                    if type(parameter["schema"]) not in seen:
                        seen.add(type(parameter["schema"]))
                        yield parameter["schema"], parameter["in"] != "query" and blueprint.name not in PROGRAMS
    yield from ((each.schema, True) for each in TYPES.values())
    yield UserCreate(), True


def places(schema, is_labelled):
    def inside(inner, path, wrap):
        for name, field in inner.load_fields.items():
            key = field.data_key or name
            yield from of_field(field, (*path, key), lambda value, key=key: wrap({key: value}))

    def of_field(field, path, wrap):
        yield Place(schema, path, field, wrap, is_labelled and path[0] not in UNLABELLED)
        if isinstance(field, fields.Nested):
            yield from inside(field.schema, path, wrap)
        if isinstance(field, fields.List):
            yield from of_field(field.inner, (*path, "0"), lambda value: wrap([value]))

    yield from inside(schema, (), lambda value: value)


SCHEMAS = list(schemas())

#: All fields of all schemas.
PLACES = [place for schema, is_labelled in SCHEMAS for place in places(schema, is_labelled)]

#: The fields that people fill in.
LABELLED = [place for place in PLACES if place.is_labelled]

#: Request bodies that are not JSON objects.
NO_OBJECTS = ([], None, "teks", 7)


def refusal(schema, sent):
    try:
        schema.load(sent)
    except ValidationError as error:
        return ValidationFailed(error.messages_dict)
    return None


def wrong_in(error, *, is_labelled):
    """Yield what is wrong with the text of a validation error.

    A text must be a whole sentence, or continue a sentence that begins with the field's name.
    """
    if is_labelled:
        yield from faults(error.message)
    if not error.errors:
        yield "it names no field"
    for path, sentences in error.errors.items():
        for sentence in sentences:
            yield from faults(as_sentence({path if is_labelled else WHOLE: [sentence]}) or "")
            goes_on = sentence[0].islower() or sentence in WHOLE_SENTENCES
            if not goes_on or not sentence.endswith("."):
                yield f"{sentence!r} begins with a capital, or has no full stop"


def test_every_field_has_a_label_or_a_plain_indonesian_name():
    def is_known(part):
        return part.isdigit() or part in LABELS or set(part.split("_")) <= PLAIN

    assert_none(
        (f"{place} {part}" for place in LABELLED for part in place.path if not is_known(part)),
        "Add a label for the field in app/core/lib/labels.py, because error messages name it:",
    )
    assert_none(
        (f"{place} {fault}" for place in LABELLED for fault in faults(label(place.path))), "A label is Indonesian:"
    )


def test_every_field_rejects_a_wrong_value_in_indonesian():
    assert len(SCHEMAS) > 50
    assert len(PLACES) > 250
    refusals = [
        (place, error) for place in PLACES for value in WRONG if (error := refusal(place.schema, place.wrap(value)))
    ]
    assert_none(
        (f"{place} {fault}" for place, error in refusals for fault in wrong_in(error, is_labelled=place.is_labelled)),
        "Give its validator an Indonesian `error`:",
    )
    rejecting = {str(place) for place, _ in refusals}
    assert_none((str(place) for place in PLACES if str(place) not in rejecting), "A field accepts each wrong value:")


def test_a_body_that_is_no_json_object_is_refused_in_indonesian():
    refusals = [(type(each).__name__, sent, refusal(each, sent)) for each, _ in SCHEMAS for sent in ({}, *NO_OBJECTS)]
    assert_none((f"{name} {sent!r}" for name, sent, error in refusals if not error and sent != {}), "It is accepted:")
    assert_none(
        (f"{name} {fault}" for name, _, error in refusals if error for fault in faults(error.message)),
        "Give the schema's error an Indonesian text:",
    )


def test_a_length_limit_of_a_list_counts_items_not_characters():
    assert_none(
        (
            f"{place} {validator!r}"
            for place in PLACES
            if isinstance(place.field, fields.List)
            for validator in place.field.validators
            if isinstance(validator, validate.Length) and not isinstance(validator, Items)
        ),
        "Validate the length of a list with app.core.web.fields.Items, because its items are no characters:",
    )
