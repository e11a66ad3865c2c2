"""The version of the service. It appears in `/healthz`, in the OpenAPI document and in the logs."""

#: The newest version in CHANGELOG.md. Semantic versioning applies to the API: a breaking change needs a new major
#: version.
VERSION = "2.0.0"
