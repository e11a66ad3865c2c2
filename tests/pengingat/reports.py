"""Helpers that download a patient's report for the doctor."""

from __future__ import annotations

import io

import pypdf
from werkzeug.test import TestResponse

from tests.helpers.client import Client

FEBRUARY = "start=2026-02-01&end=2026-02-28"


def report(client: Client, format_: str, query: str = FEBRUARY) -> TestResponse:
    response = client.get(f"/pengingat/kepatuhan/laporan?format={format_}&{query}")
    assert response.status_code == 200, response.get_data(as_text=True)
    return response


def text_of(response: TestResponse) -> str:
    (page,) = pypdf.PdfReader(io.BytesIO(response.get_data())).pages
    return page.extract_text()
