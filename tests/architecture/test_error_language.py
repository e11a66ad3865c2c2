"""Every way in which input can be wrong is told in plain Indonesian, of a field by the name that a person knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from marshmallow import Schema, ValidationError, fields, validate

from app import sections
from app.core.errors import ValidationFailed
from app.core.lib.labels import LABELS, label
from app.core.lib.sentences import for_a_person
from app.core.web.fields import Items
from app.identity.schemas import UserCreate
from app.pengingat.details_schemas import DETAILS
from tests.language import assert_readable

#: Names that need no label, because a person knows their words.
PLAIN = frozenset(
    """
    alamat aturan deskripsi dokter faskes format frekuensi hari id jadwal jam jenis judul jumlah karbohidrat kategori
    kontak kontrol lemak makan malam nama obat protein radius samaran sarapan satuan selingan serat siang spesialisasi
    telepon tempat terapi vitamin waktu
    """.split()  # noqa: SIM905  # as a list it would fill pages
)

#: One of them breaks whatever a field asks for.
WRONG = [
    None, "", " ", "teks", "x" * 300_000, "1e999", "0812", "25:00", "monday", "<b>", "https://", "ya", "2026-02-30",
    0, -1, 1.5, 7, 2**63, -(2**63), 1e300, float("nan"), True, [], ["teks"], [0] * 200, {}, {"x": 1}, [{}], [None],
]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A field of a schema, and how a value gets there."""

    path: tuple[str, ...]
    field: fields.Field[Any]
    wrap: Callable[[object], object]


def schemas() -> Iterator[Schema]:
    """All that a route reads, each once, and what services and commands read themselves."""
    seen: set[type[Schema]] = set()
    for blueprint in sections.blueprints():
        for documented in blueprint._docs.values():
            for operation in filter(None, (documented.get(method) for method in ("get", "post", "put", "delete"))):
                for parameter in operation.get("arguments", {}).get("parameters", ()):
                    if type(parameter["schema"]) not in seen:
                        seen.add(type(parameter["schema"]))
                        yield parameter["schema"]
    yield from DETAILS.values()
    yield UserCreate()


def places(schema: Schema) -> Iterator[Place]:
    def inside(inner: Schema, path: tuple[str, ...], wrap: Callable[[object], object]) -> Iterator[Place]:
        for name, field in inner.load_fields.items():
            key = field.data_key or name
            yield from of_field(field, (*path, key), lambda value, key=key: wrap({key: value}))  # type: ignore[misc]

    def of_field(field: fields.Field[Any], path: tuple[str, ...], wrap: Callable[[object], object]) -> Iterator[Place]:
        yield Place(path, field, wrap)
        if isinstance(field, fields.Nested):
            yield from inside(field.schema, path, wrap)
        if isinstance(field, fields.List):
            yield from of_field(field.inner, (*path, "0"), lambda value: wrap([value]))

    yield from inside(schema, (), lambda value: value)


SCHEMAS = list(schemas())

each_schema = pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: type(schema).__name__)


def refusal(schema: Schema, sent: object) -> ValidationFailed | None:
    try:
        schema.load(sent)  # type: ignore[arg-type]
    except ValidationError as error:
        return ValidationFailed(error.messages_dict)
    return None


def test_the_walk_sees_every_section() -> None:
    assert len(SCHEMAS) > 50
    assert sum(1 for schema in SCHEMAS for _ in places(schema)) > 250


@each_schema
def test_a_field_has_a_name_that_a_person_knows(schema: Schema) -> None:
    for place in places(schema):
        for part in place.path:
            assert part.isdigit() or part in LABELS or set(part.split("_")) <= PLAIN, f"{part} has no label"
        assert_readable(label(place.path))


@each_schema
def test_each_wrong_value_is_refused_in_indonesian(schema: Schema) -> None:
    for place in places(schema):
        for error in filter(None, (refusal(schema, place.wrap(value)) for value in WRONG)):
            assert_readable(error.message)
            assert error.errors
            for path, sentences in error.errors.items():
                for sentence in sentences:
                    assert_readable(for_a_person({path: [sentence]}) or "")
                    assert sentence[0].islower(), f"{sentence} goes on after the label"
                    assert sentence.endswith(".")


@each_schema
def test_a_wrong_whole_is_refused_in_indonesian(schema: Schema) -> None:
    for sent in ({}, [], None, "teks", 7):
        error = refusal(schema, sent)
        assert error is not None or sent == {}
        if error is not None:
            assert_readable(error.message)


@each_schema
def test_how_long_a_list_may_be_is_not_told_in_characters(schema: Schema) -> None:
    lists = [place.field for place in places(schema) if isinstance(place.field, fields.List)]
    for validator in (each for field in lists for each in field.validators):
        assert isinstance(validator, Items) or not isinstance(validator, validate.Length)
