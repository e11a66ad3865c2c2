"""Schemas in which one property determines the type of another property.

Example: `tipe` determines the type of `details`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from apispec.ext.marshmallow import MarshmallowPlugin
from apispec.ext.marshmallow.common import make_schema_key
from apispec.ext.marshmallow.openapi import OpenAPIConverter
from marshmallow import Schema

from app.core.web.openapi.document import Document


@dataclass(frozen=True)
class Variants:
    """Value of the attribute `variants` of a schema class.

    One property of the class determines the type of another property. `by` is the name of the first property, and `of`
    is the name of the second. `schemas` has a schema of the second property for each value of the first.

    If `by` is given, the OpenAPI document uses `oneOf` with a discriminator. A client can then derive the type of the
    second property. Omit `by` for requests in which the first property is optional. The document then uses `anyOf`.
    """

    of: str
    schemas: Mapping[str, Schema]
    by: str | None = None


class Converter(OpenAPIConverter):
    """apispec's schema converter, extended by `variants`."""

    def schema2jsonschema(self, schema: Schema) -> Document:
        document: Document = super().schema2jsonschema(schema)  # type: ignore[no-untyped-call]  # apispec has no types
        variants: Variants | None = getattr(schema, "variants", None)
        if variants is None:
            return document
        refs = {
            value: self.resolve_nested_schema(each)  # type: ignore[no-untyped-call]  # apispec has no types
            for value, each in variants.schemas.items()
        }
        if variants.by is None:
            only, *others = refs.values()
            document["properties"][variants.of] = {"anyOf": [only, *others]} if others else only
            return document
        return self._one_of(self.refs[make_schema_key(schema)], document, variants, refs)

    def _one_of(self, name: str, document: Document, variants: Variants, refs: Mapping[str, Any]) -> Document:
        mapping = {}
        for value, ref in refs.items():
            component = name + value.capitalize()
            variant = deepcopy(document)
            variant["properties"] |= {variants.by: {"type": "string", "const": value}, variants.of: ref}
            self.spec.components.schema(component, variant)
            mapping[value] = f"#/components/schemas/{component}"
        return {
            "oneOf": [{"$ref": ref} for ref in mapping.values()],
            "discriminator": {"propertyName": variants.by, "mapping": mapping},
        }


class Plugin(MarshmallowPlugin):
    Converter = Converter
