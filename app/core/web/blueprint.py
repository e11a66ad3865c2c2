"""The API's frame: blueprints whose decorators carry the whole contract, and the OpenAPI document made from them.

A view is registered only when it says who may call it; `edge` stands around each call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import flask
import flask_smorest
from flask import Flask, request
from marshmallow import Schema, fields
from werkzeug import Response
from werkzeug.exceptions import HTTPException
from werkzeug.routing import IntegerConverter

from app.core import errors
from app.core.web import edge, idempotency, pagination
from app.core.web.caching import Caching
from app.core.web.edge import Access, View
from app.core.web.openapi import document, operations
from app.core.web.openapi.variants import Plugin
from app.core.web.parsing import Parser
from app.core.web.request import raw_json

PREFIX = "/api"

V = TypeVar("V", bound=View)

#: What a decorator takes for a body: a schema, its class, or a piece of the OpenAPI document.
SchemaLike = Schema | type[Schema] | Mapping[str, object] | None


class MessageSchema(Schema):
    """What a deletion or an action without a record answers."""

    message = fields.String(required=True, metadata={"example": "Berhasil."})


#: The security requirements of routes that answer without a token: public and optional.
ANYBODY: tuple[list[dict[str, list[str]]], ...] = ([], [{}, {"bearer": []}])

#: The largest identifier that a column can hold; no row has it.
MAX_ID = 2**63 - 1


class RecordIdConverter(IntegerConverter):
    """`<int:id>` that no 64-bit column chokes on: a number beyond it is simply no record (404)."""

    def to_python(self, value: str) -> int:
        return MAX_ID if len(value) >= len(str(MAX_ID)) else int(value)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]  # flask-smorest publishes no types
    """A section's routes, below `/api`."""

    ARGUMENTS_PARSER = Parser()
    DEFAULT_LOCATION_CONTENT_TYPE_MAPPING = {  # noqa: RUF012  # flask-smorest reads a plain dict
        **flask_smorest.Blueprint.DEFAULT_LOCATION_CONTENT_TYPE_MAPPING,
        "multipart": "multipart/form-data",
    }

    def __init__(self, name: str, import_name: str, *, url_prefix: str = "", description: str = "") -> None:
        super().__init__(name, import_name, url_prefix=PREFIX + url_prefix, description=description)

    def add_url_rule(
        self,
        rule: str,
        endpoint: str | None = None,
        view_func: View | None = None,
        *args: object,
        **options: Any,
    ) -> None:
        access: Access | None = getattr(view_func, "access", None)
        if view_func is None or access is None:
            raise TypeError(f"{rule}: every route says who may call it")
        caching: Caching | None = getattr(view_func, "caching", None)
        if caching and (options.get("methods") != ["GET"] or access.security not in ANYBODY):
            raise TypeError(f"{rule}: only a public read may be kept by others")
        takes_key = idempotency.takes_key(view_func, options.get("methods"), access.security)
        described = operations.described(
            view_func,
            rule=rule,
            methods=options.get("methods", ()),
            security=access.security,
            who=access.description,
            is_restricted=bool(access.roles),
            is_cached=caching is not None,
            takes_key=takes_key,
        )
        view = self.doc(**described)(view_func)
        view = idempotency.once(view) if takes_key else view
        call = edge.around(view, access, getattr(view_func, "query_names", set()))
        super().add_url_rule(rule, endpoint, caching.around(call) if caching else call, *args, **options)

    def arguments(self, schema: SchemaLike, *, location: str = "json", **kwargs: object) -> Callable[[V], View]:
        """flask-smorest's decorator with one schema object for all requests; a class would be made anew for each.

        The view gets its `locations`, and the names of its query parameters as `query_names`.
        """
        instance = schema() if isinstance(schema, type) else schema
        decorate: Callable[[V], View] = super().arguments(instance, location=location, **kwargs)
        fields_ = instance.load_fields if location == "query" and isinstance(instance, Schema) else {}
        names = {field.data_key or name for name, field in fields_.items()}

        def decorator(view: V) -> View:
            parsing = decorate(view)
            _add(parsing, "locations", {location})
            _add(parsing, "query_names", names)
            return parsing

        return decorator

    def response(self, status_code: int, schema: SchemaLike = None, **kwargs: object) -> Callable[[View], View]:
        """flask-smorest's decorator, which also understands a `Listing`; the view gets its `status`."""
        render = super().response(status_code, schema, **kwargs)

        def decorator(view: View) -> View:
            @wraps(view)
            def unwrap_listing(*args: object, **kw: Any) -> Any:
                result = view(*args, **kw)
                if isinstance(result, pagination.Listing):
                    return result.body, None, pagination.headers(result, request)
                return result

            decorated: View = render(unwrap_listing)
            decorated.status = status_code  # type: ignore[attr-defined]
            return decorated

        return decorator

    def plain_response(self, status_code: int, schema: SchemaLike = None) -> Callable[[View], View]:
        """Like `response`, for plain values: they are written as they are, and the schema only documents them.

        It is for hot reads, of which marshmallow would take half the time, for records of the same shape, and where
        the schema is a piece of the document.
        """
        describe = self.response(status_code, schema)

        def decorator(view: View) -> View:
            @wraps(view)
            def write(*args: object, **kw: Any) -> Response:
                result = view(*args, **kw)
                if isinstance(result, pagination.Listing):
                    return raw_json(result.body, status_code, pagination.headers(result, request))
                if isinstance(result, pagination.Partial):
                    return raw_json(result.record, status_code, pagination.next_part(result, request))
                return raw_json(result, status_code)

            return describe(write)

        return decorator

    if TYPE_CHECKING:  # flask-smorest's decorators carry no types of their own

        def get(self, rule: str, **kwargs: object) -> Callable[[V], V]: ...
        def post(self, rule: str) -> Callable[[V], V]: ...
        def put(self, rule: str) -> Callable[[V], V]: ...
        def delete(self, rule: str) -> Callable[[V], V]: ...
        def alt_response(self, status_code: int, response: str | None = None, **kwargs: object) -> Callable[[V], V]: ...


class PageBlueprint(flask.Blueprint):
    """Pages for people outside the API, open to everybody; each call is one unit of work."""

    def add_url_rule(
        self, rule: str, endpoint: str | None = None, view_func: View | None = None, *args: Any, **options: Any
    ) -> None:
        super().add_url_rule(rule, endpoint, edge.in_a_unit(view_func) if view_func else None, *args, **options)


class Api(flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest's registry with our error shape."""

    ERROR_SCHEMA = errors.ApiErrorSchema

    def handle_http_exception(self, error: HTTPException) -> Response:
        return errors.handle_http_exception(error)


api = Api(
    spec_kwargs={
        "marshmallow_plugin": Plugin(),
        "title": "Health-support service",
        "version": "1.0.0",
        "openapi_version": "3.1.0",
        "info": {
            "description": "The API of a health-support application in Indonesia: accounts, reminders, forum, content, "
            "places, administration.\n\n"
            "**To try it**: log in with `POST /api/login` below (Try it out, Execute). This page then sends the "
            "`access_token` of the answer with each call. To use another token, press Authorize and paste it. A token "
            "lives 15 minutes, and `POST /api/refresh` gives the next one.\n\n"
            "Every error has one shape; every list is bounded and paged. `q` is a part of "
            "what a row shows, to the letter, whatever the case; a text without three letters or digits in a row is "
            "looked for in the newest rows alone. Unknown query parameters are 400 in development and ignored in "
            "production. Limited routes say what is left in `RateLimit` and `RateLimit-Policy`.",
            "contact": {"name": "The operators of this service"},
        },
        "servers": [{"url": "/"}],
    }
)


BEARER = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWT",
    "description": "The `access_token` of `POST /api/login`, without the word Bearer",
}


def _add(view: View, name: str, values: set[str]) -> None:
    """Add to a set that the decorators of a view fill, for its documentation and for `edge`."""
    setattr(view, name, values | getattr(view, name, set()))


def init_app(app: Flask, blueprints: list[Blueprint]) -> None:
    """Register the sections and the OpenAPI document at `/api/openapi.json`."""
    app.url_map.strict_slashes = False  # both slash forms answer; a redirect would lose a body and break CORS
    app.url_map.merge_slashes = False
    app.url_map.converters["int"] = RecordIdConverter
    app.config["OPENAPI_URL_PREFIX"] = PREFIX
    app.config["OPENAPI_JSON_PATH"] = "openapi.json"
    api.init_app(app)
    api.spec.components.security_scheme("bearer", BEARER)
    for name, header in document.HEADERS.items():
        api.spec.components.header(name, header)
    for blueprint in blueprints:
        api.register_blueprint(blueprint)
    document.complete(api.spec.to_dict())
