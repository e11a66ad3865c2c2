"""Helper that creates an invitation through the route."""

PATH = "/patient/invitations"


def invite(patient, *scopes):
    return patient.post(PATH, {"scopes": list(scopes)}).ok(201)
