"""Changes to the generated OpenAPI document. flask-smorest generates the document from the decorators."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

#: The OpenAPI document, or a part of it.
Document = dict[str, Any]

METHODS = frozenset({"get", "post", "put", "delete"})
SCHEMAS = "#/components/schemas/"

FORM, JSON = "multipart/form-data", "application/json"
PICTURES = "image/jpeg, image/png, image/webp"

#: Marker of a response property that may be missing. All other properties are always present.
OPTIONAL = "x-optional"

#: Key for additional parameters of an operation. The key `parameters` would replace the parameters from `arguments`.
MORE_PARAMETERS = "x-more-parameters"


def complete(document: Document) -> None:
    """Change the document in place so that API clients can be generated from it."""
    _document_errors_once(document)
    _split_bodies(document)
    _name_schemas(document)
    _add_parameters(document)
    _describe_queries(document)
    _describe_responses(document)
    _allow_unknown_fields(document)
    _translate_patterns(document)
    _merge_paths(document)
    _drop_unused(document)


def operations(document: Document) -> Iterator[Document]:
    for path in document["paths"].values():
        yield from (operation for method, operation in path.items() if method in METHODS)


def _document_errors_once(document: Document) -> None:
    """Describe all error responses by the response `default`, because they all have one shape."""
    components = document["components"]["responses"]
    for name in components.keys() - {"DEFAULT_ERROR"}:
        del components[name]
    error = components["DEFAULT_ERROR"]
    error["description"] = "An error. Its `error` is a stable code."
    for operation in operations(document):
        successes = {status: each for status, each in operation["responses"].items() if status < "4"}
        operation["responses"] = {**successes, "default": {"$ref": "#/components/responses/DEFAULT_ERROR"}}


def _split_bodies(document: Document) -> None:
    """Create two schemas for each request body that may contain a file: one for forms and one for JSON.

    Only the form schema has files, and only the JSON schema has null.
    """
    schemas = document["components"]["schemas"]
    for body in _bodies(document):
        content = body["content"]
        name = _component(next(iter(content.values()))["schema"])
        body["required"] = any(schemas[each].get("required") for each in (name, *_variants(schemas[name])))
        if FORM not in content:
            continue
        files = [name for name, field in schemas[name]["properties"].items() if field.get("format") == "binary"]
        form = f"{name}Form"
        if form not in schemas:
            schemas[form] = deepcopy(schemas[name])
            for file in files:
                described = schemas[form]["properties"][file]
                described["type"] = "string"
                schemas[name]["properties"][file] = {
                    "type": "null",
                    "description": "null removes the picture; a new one is sent as a form",
                }
        content[JSON] = {"schema": {"$ref": SCHEMAS + name}}
        content[FORM] = {
            "schema": {"$ref": SCHEMAS + form},
            "encoding": {file: {"contentType": PICTURES} for file in files},
        }


def _name_schemas(document: Document) -> None:
    """Move each enumeration that has a title to a component with this title as its name.

    Clients then have one type for each enumeration.
    """
    schemas = document["components"]["schemas"]
    for node in list(_nodes([document["paths"], schemas])):
        if "enum" not in node or "title" not in node:
            continue
        title = node.pop("title")
        schemas[title] = {"type": "string", "enum": [value for value in node.pop("enum") if value is not None]}
        ref = {"$ref": SCHEMAS + title}
        node.update({"anyOf": [ref, {"type": "null"}]} if node.pop("type") == ["string", "null"] else ref)


def _add_parameters(document: Document) -> None:
    for operation in operations(document):
        if more := operation.pop(MORE_PARAMETERS, None):
            operation["parameters"] = [*operation.get("parameters", []), *more]


def _describe_queries(document: Document) -> None:
    """Remove null from query parameters. A client leaves a parameter out instead of sending null."""
    for operation in operations(document):
        for parameter in operation.get("parameters", ()):
            schema = parameter["schema"]
            if parameter["in"] == "query" and isinstance(schema.get("type"), list):
                (schema["type"],) = (kind for kind in schema["type"] if kind != "null")
                schema.pop("default", None)


def _describe_responses(document: Document) -> None:
    """Mark response properties as required unless they are optional. Remove `readOnly` from all response properties.

    Skip schemas that allow additional properties, because such schemas describe data that clients define.
    """
    schemas = document["components"]["schemas"]
    for name in _reached(document, [operation["responses"] for operation in operations(document)]):
        schema = schemas[name]
        if "properties" not in schema or schema.get("additionalProperties") not in (None, False):
            continue
        schema["required"] = [key for key, value in schema["properties"].items() if not value.pop(OPTIONAL, False)]
        for value in schema["properties"].values():
            value.pop("readOnly", None)


def _allow_unknown_fields(document: Document) -> None:
    """Allow unknown fields in request bodies, because the parser ignores unknown fields."""
    for name in _reached(document, list(_bodies(document))):
        if document["components"]["schemas"][name].get("additionalProperties") is False:
            del document["components"]["schemas"][name]["additionalProperties"]


def _translate_patterns(document: Document) -> None:
    r"""Translate patterns from Python to JavaScript: add `^` at the start and replace `\Z` by `$`."""
    for node in _nodes(document):
        if isinstance(node.get("pattern"), str):
            node["pattern"] = "^" + node["pattern"].removeprefix("^").replace(r"\Z", "$")


def _merge_paths(document: Document) -> None:
    """Merge paths that differ only in the names of their parameters.

    The name of the merged parameter contains both names.
    """
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for path in document["paths"]:
        alike[re.sub(r"\{\w+\}", "{}", path)].append(path)
    for paths in (paths for paths in alike.values() if len(paths) > 1):
        positions = zip(*(re.findall(r"\{(\w+)\}", path) for path in paths), strict=True)
        names = ["_or_".join(dict.fromkeys(position)) for position in positions]
        merged: Document = {}
        for path in paths:
            own = dict(zip(re.findall(r"\{(\w+)\}", path), names, strict=True))
            item = document["paths"].pop(path)
            for parameter in (parameters := item.pop("parameters", [])):
                old = parameter["name"]
                parameter |= {"name": own[old], "description": f"For this method: {old}"}
            for method, operation in item.items():
                merged[method] = {**operation, "parameters": [*parameters, *operation.get("parameters", [])]}
        document["paths"][re.sub(r"\{\w+\}", "{{{}}}", paths[0]).format(*names)] = merged


def _drop_unused(document: Document) -> None:
    """Remove unused schemas, such as the pagination header of flask-smorest."""
    schemas = document["components"]["schemas"]
    for name in schemas.keys() - _reached(document, [document["paths"], document["components"]["responses"]]):
        del schemas[name]


def _bodies(document: Document) -> Iterator[Document]:
    return (operation["requestBody"] for operation in operations(document) if "requestBody" in operation)


def _component(schema: Document) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _variants(schema: Document) -> list[str]:
    return [_component(each) for each in schema.get("oneOf", ())]


def _nodes(root: object) -> Iterator[Document]:
    """Yield all objects of the document below `root`. Skip examples, because they contain no schemas."""
    match root:
        case dict():
            yield root
            for key, each in list(root.items()):
                if key not in ("example", "examples"):
                    yield from _nodes(each)
        case list():
            for each in root:
                yield from _nodes(each)


def _reached(document: Document, roots: Iterable[object]) -> set[str]:
    """Return the names of all schemas to which the roots refer directly or indirectly."""
    names: set[str] = set()
    waiting = list(roots)
    while waiting:
        for node in _nodes(waiting.pop()):
            ref = str(node.get("$ref", ""))
            if ref.startswith("#/components/responses/"):
                waiting.append(document["components"]["responses"][_component(node)])
            elif ref.startswith(SCHEMAS) and _component(node) not in names:
                names.add(_component(node))
                waiting.append(document["components"]["schemas"][_component(node)])
    return names
