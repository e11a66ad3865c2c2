"""Assertion for tests that report every violation of a rule."""


def assert_none(offenders, advice):
    """Fail if there are offenders. The message contains `advice` and one line for each offender, without duplicates."""
    lines = list(dict.fromkeys(offenders))
    assert not lines, "\n".join([advice, *lines])
