"""Routes of erasure and export of a person's own data."""

from __future__ import annotations

from flask import Response

from app.core.exports import streaming
from app.core.media import storage
from app.core.media.storage import Area
from app.core.web.blueprint import Blueprint, MessageSchema
from app.core.web.request import raw_json
from app.identity.access import authenticated, caller, requires
from app.identity.models import RoleName
from app.identity.own_password import limit_own_password
from app.identity.schemas import OwnPassword
from app.personal_data import schemas, service
from app.personal_data.jobs import CONTENT_TYPE
from app.personal_data.models import DataExport, ExportState

bp = Blueprint("personal_data", __name__, description="A person's own data")


@bp.delete("/profile")
@authenticated
@limit_own_password
@bp.arguments(schemas.Deletion)
@bp.response(202, schemas.Deleted)
def delete_profile(data: dict[str, str]) -> dict[str, object]:
    """Schedule the erasure of all the caller's data in seven days. All sessions end. A login until then cancels it."""
    return service.delete_profile(caller, **data)


@bp.delete("/caregiver/dependents/<int:dependent_id>")
@requires(RoleName.PENDAMPING)
@limit_own_password
@bp.arguments(OwnPassword)
@bp.response(200, MessageSchema)
def delete_dependent(data: dict[str, str], dependent_id: int) -> dict[str, object]:
    """Erase a dependent of the caller for good. The dependent is gone at once, and all rows within minutes."""
    return service.delete_dependent(caller, dependent_id, **data)


@bp.post("/profile/ekspor")
@authenticated
@limit_own_password
@bp.arguments(OwnPassword)
@bp.response(202, schemas.Export)
def create_export(data: dict[str, str]) -> DataExport:
    """Start an export of all data about the caller and the caller's dependents.

    For a wrong password, the response is 400 `wrong_current_password`. For a second export on the same day, the
    response is 429.
    """
    return service.create_export(caller, **data)


@bp.get("/profile/ekspor/<int:export_id>")
@authenticated
@bp.response(200, streaming.FILE, content_type=CONTENT_TYPE)
@bp.alt_response(202, schema=schemas.Export, description="Not ready yet: ask again after a few seconds", success=True)
def get_export(export_id: int) -> Response:
    """Return the export as a ZIP, or 202 while it is not ready. After 24 hours the response is 404.

    The ZIP contains each table as JSON and CSV, the pictures, and a README in Indonesian.
    """
    return _file_of(service.get_export(caller, export_id))


def _file_of(export: DataExport) -> Response:
    if export.state is ExportState.PENDING:
        return raw_json({"id": export.id, "status": export.state}, 202)
    response = storage.area(Area.EXPORTS).response(export.file, CONTENT_TYPE)
    response.headers["Content-Disposition"] = f'attachment; filename="data-saya-{export.day}.zip"'
    return response
