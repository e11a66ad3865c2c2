"""Helpers that download a patient's report for the doctor."""

import io

import pypdf

FEBRUARY = "start=2026-02-01&end=2026-02-28"


def report(client, query=FEBRUARY):
    response = client.get(f"/pengingat/kepatuhan/laporan?{query}")
    assert response.status_code == 200, response.get_data(as_text=True)
    return response


def text_of(response):
    """Return the text of all pages, on one line."""
    pages = pypdf.PdfReader(io.BytesIO(response.get_data())).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())
