"""Helper that creates an invitation through the route."""

PATH = "/patient/invitations"


def invite(patient, *scopes):
    response = patient.post(PATH, {"scopes": list(scopes)})
    assert response.status_code == 201, response.text
    return response.json
