"""Helpers that download and read exported reports."""

import csv
import io

import openpyxl
import pypdf

REPORTS = ("users", "admins", "activity-logs", "domicile")


def get(admin, report, **query):
    response = admin.get(f"/admins/export/{report}", query_string=query)
    assert response.status_code == 200, response.get_data(as_text=True)
    return response


def read_csv(response):
    data = response.get_data()
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def read_xlsx(response):
    book = openpyxl.load_workbook(io.BytesIO(response.get_data()))
    cells = [list(row) for row in book.active.iter_rows()]
    assert not any(cell.data_type == "f" for row in cells for cell in row)
    return [[cell.value for cell in row] for row in cells]


def read_pdf(response):
    reader = pypdf.PdfReader(io.BytesIO(response.get_data()))
    return "\n".join(page.extract_text() for page in reader.pages), len(reader.pages)
