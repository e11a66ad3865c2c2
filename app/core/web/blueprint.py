"""Blueprints whose decorators describe each route. The OpenAPI document is generated from these decorators.

Every view must declare its callers. `dispatch` wraps each call of a view.
"""

from __future__ import annotations

import inspect
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
from app.core.version import VERSION
from app.core.web import dispatch, idempotency, pagination
from app.core.web.dispatch import AccessRule, View
from app.core.web.openapi import document
from app.core.web.openapi.variants import Plugin
from app.core.web.parsing import Parser
from app.core.web.request import raw_json

PREFIX = "/api"

V = TypeVar("V", bound=View)

#: A schema for a decorator: a schema object, a schema class, or a part of the OpenAPI document.
SchemaLike = Schema | type[Schema] | Mapping[str, object] | None


class MessageSchema(Schema):
    """Response of a deletion, or of an action that returns no record."""

    message = fields.String(required=True, metadata={"example": "Berhasil."})


#: OpenAPI security requirements of routes that work without a token: public routes, and routes with optional login.
ANYBODY: tuple[list[dict[str, list[str]]], ...] = ([], [{}, {"bearer": []}])

NOT_MODIFIED = {"description": "The cached version in `If-None-Match` is still current. No body."}

#: Largest id that a database column can store. No row has this id.
MAX_ID = 2**63 - 1


class RecordIdConverter(IntegerConverter):
    """Converter for `<int:id>` in a path.

    It replaces numbers beyond 64 bits by `MAX_ID`. Such a request then gets 404.
    """

    def to_python(self, value: str) -> int:
        return MAX_ID if len(value) >= len(str(MAX_ID)) else int(value)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]  # flask-smorest publishes no types
    """The routes of one section of the API, below `/api`."""

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
        access: AccessRule | None = getattr(view_func, "access", None)
        if view_func is None or access is None:
            raise TypeError(f"{rule}: every route says who may call it")
        caching: Callable[[View], View] | None = getattr(view_func, "caching", None)
        if caching and (options.get("methods") != ["GET"] or access.security not in ANYBODY):
            raise TypeError(f"{rule}: only a public read may be kept by others")
        takes_key = idempotency.takes_key(view_func, options.get("methods"), access.security)
        _, _, details = inspect.cleandoc(view_func.__doc__ or "").partition("\n\n")
        first, *others = view_func.__name__.split("_")
        described = {
            "operationId": first + "".join(map(str.capitalize, others)),  # `listThreads` for `list_threads`
            "description": f"{details}\n\n{access.description}".strip(),
            "security": access.security,
            "responses": {"304": NOT_MODIFIED} if caching else {},
            **({document.MORE_PARAMETERS: [idempotency.PARAMETER]} if takes_key else {}),
        }
        view = self.doc(**described)(view_func)
        view = idempotency.once(view) if takes_key else view
        call = dispatch.around(view, access)
        super().add_url_rule(rule, endpoint, caching(call) if caching else call, *args, **options)

    def arguments(self, schema: SchemaLike, **kwargs: object) -> Callable[[V], View]:
        """Extend flask-smorest's decorator: create the schema once, instead of once per request."""
        decorate: Callable[[V], View] = super().arguments(schema() if isinstance(schema, type) else schema, **kwargs)
        return decorate

    def loaded_first(self, schema: type[Schema], load: Callable[..., object]) -> Callable[[V], V]:
        """Pass `load(body, **path)` to the view instead of the body. `load` runs before the transaction starts.

        Use this below `arguments`, with the same schema, if `load` calls a provider. The call may take seconds, and a
        transaction holds locks.
        """
        body = schema()

        def decorate(view: V) -> V:
            @wraps(view)
            def call(_: object, *args: object, **kwargs: object) -> object:
                return view(flask.g.loaded, *args, **kwargs)

            def load_first(**path: object) -> None:
                flask.g.loaded = load(self.ARGUMENTS_PARSER.parse(body, request, location="json"), **path)

            call.load_first = load_first  # type: ignore[attr-defined]
            return call  # type: ignore[return-value]  # same signature as the view

        return decorate

    def response(self, status_code: int, schema: SchemaLike = None, **kwargs: object) -> Callable[[View], View]:
        """Extend flask-smorest's decorator: the view may return a `Listing`, and `status` is stored on the view."""
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
        """Document a response of plain values, which are written as JSON without marshmallow.

        Use this for frequent reads, where marshmallow would take half of the time. Use it also for records that already
        have the format of the response. The schema may also be given as a part of the OpenAPI document.
        """
        describe = self.response(status_code, schema)

        def decorator(view: View) -> View:
            @wraps(view)
            def write(*args: object, **kw: Any) -> Response:
                result = view(*args, **kw)
                if isinstance(result, pagination.Listing):
                    return raw_json(result.body, status_code, pagination.headers(result, request))
                if isinstance(result, pagination.TruncatedRecord):
                    return raw_json(result.record, status_code, pagination.next_part(result, request))
                return raw_json(result, status_code)

            return describe(write)

        return decorator

    if TYPE_CHECKING:  # flask-smorest's decorators have no type annotations

        def get(self, rule: str, **kwargs: object) -> Callable[[V], V]: ...
        def post(self, rule: str) -> Callable[[V], V]: ...
        def put(self, rule: str) -> Callable[[V], V]: ...
        def delete(self, rule: str) -> Callable[[V], V]: ...
        def alt_response(self, status_code: int, response: str | None = None, **kwargs: object) -> Callable[[V], V]: ...


class PageBlueprint(flask.Blueprint):
    """A blueprint of public pages outside the API. A request that writes is one unit of work."""

    def add_url_rule(
        self, rule: str, endpoint: str | None = None, view_func: View | None = None, *args: Any, **options: Any
    ) -> None:
        super().add_url_rule(rule, endpoint, dispatch.around_page(view_func) if view_func else None, *args, **options)


class Api(flask_smorest.Api):  # type: ignore[misc]
    """flask-smorest's API object with the error schema of this service."""

    ERROR_SCHEMA = errors.ApiErrorSchema

    def handle_http_exception(self, error: HTTPException) -> Response:
        return errors.handle_http_exception(error)


api = Api(
    spec_kwargs={
        "marshmallow_plugin": Plugin(),
        "title": "Health-support service",
        "version": VERSION,
        "openapi_version": "3.1.0",
        "info": {
            "description": "The API of a health-support application in Indonesia: accounts, reminders, forum, content, "
            "places, administration.\n\n"
            "**To try it**: log in with `POST /api/login` below (Try it out, Execute). This page then sends the "
            "`access_token` of the response with each call. To use another token, press Authorize and paste it. A "
            "token expires after 15 minutes; `POST /api/refresh` returns a new one.\n\n"
            "All errors have the same fields; 429 and 503 have `Retry-After`. All lists are paged and limited in "
            "length: `X-Total-Count` has the number of rows (it may stop at 10,000), `Link` the next page. `q` finds "
            "rows with this text in a visible field, case-insensitively. Unknown query parameters are ignored. Public "
            "reads without a token have `Cache-Control` and `ETag`.",
            "contact": {"name": "The operators of this service"},
        },
        "servers": [{"url": "/"}],
    }
)


BEARER = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "JWT",
    "description": "The `access_token` of `POST /api/login`, without the prefix Bearer",
}


def init_app(app: Flask, blueprints: list[Blueprint]) -> None:
    """Register the sections, and the OpenAPI document at `/api/openapi.json`."""
    # accept a path with or without a final slash, because a redirect would lose the body and break CORS
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    app.url_map.converters["int"] = RecordIdConverter
    app.config["OPENAPI_URL_PREFIX"] = PREFIX
    app.config["OPENAPI_JSON_PATH"] = "openapi.json"
    api.init_app(app)
    api.spec.components.security_scheme("bearer", BEARER)
    for blueprint in blueprints:
        api.register_blueprint(blueprint)
    document.complete(api.spec.to_dict())
