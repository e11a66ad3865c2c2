"""Small pages for links in messages. They work on simple phones, because they have no JavaScript.

The pages are not cached and not indexed by search engines. They send no referrer.
"""

from __future__ import annotations

import base64
import hashlib

from flask import Response, render_template

from app.core.web.blueprint import PageBlueprint

#: Styles that work in browsers from 2016.
STYLE = (
    "body{margin:0;font:18px/1.5 sans-serif;color:#1f2937;background:#fff}"
    "main{max-width:26em;margin:0 auto;padding:24px 16px}"
    "h1{font-size:26px;line-height:1.3;margin:0 0 8px}p{margin:0 0 20px}"
    ".said{padding:12px 16px;border-left:6px solid #0f766e;background:#ecfdf5}"
    "button{display:block;width:100%;min-height:64px;margin:0 0 16px;padding:12px;font:bold 20px sans-serif;"
    "border:2px solid #0f766e;border-radius:10px;background:#fff;color:#115e59;cursor:pointer}"
    "button.first{background:#0f766e;color:#fff}button:focus{outline:4px solid #f59e0b;outline-offset:2px}"
    ".small{font-size:16px;color:#4b5563}"
    "@media (prefers-color-scheme:dark){body{background:#111827;color:#f3f4f6}.said{background:#134e4a}"
    "button{background:#111827;color:#99f6e4;border-color:#2dd4bf}button.first{background:#2dd4bf;color:#042f2e}"
    ".small{color:#d1d5db}}"
)
_digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_digest}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class SmallPages(PageBlueprint):
    """A blueprint of small pages. Its errors are pages too, because people open these links in a browser."""

    def __init__(self, name: str, import_name: str) -> None:
        super().__init__(name, import_name)
        self.after_request(_as_page)


def _as_page(response: Response) -> Response:
    if response.status_code < 400 or response.mimetype != "application/json":
        return response
    page = error_page(response.status_code, response.get_json()["message"])
    response.set_data(page.get_data())
    response.headers.update(HEADERS)
    response.mimetype = "text/html"
    return response


def small_page(template: str, status: int, **values: object) -> Response:
    return Response(render_template(template, style=STYLE, **values), status, HEADERS)


#: Headings of error pages, by HTTP status.
TITLES = {404: "Tidak ditemukan", 410: "Sudah tidak berlaku", 429: "Tunggu sebentar"}
OTHER_TITLE = "Maaf, ada gangguan"


def error_page(status: int, message: str, *, address: str | None = None) -> Response:
    """Return an error page with a link to the client application at `address`."""
    title = TITLES.get(status, OTHER_TITLE)
    return small_page("error_page.html", status, title=title, message=message, address=address)
