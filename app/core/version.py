"""The version of the service. `/healthz`, the OpenAPI document and the logs show it."""

#: The newest version in CHANGELOG.md. Semantic versioning, by what clients of the API notice.
VERSION = "1.0.0"
