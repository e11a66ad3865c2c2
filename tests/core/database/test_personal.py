"""Every table declares its personal data, so that the export and the erasure of a person are complete."""

import re

import pytest
import sqlalchemy as sa

from app.core.database.personal import Custom, Detach, Personal, Rows, declaration_of, personal_tables
from app.core.database.session import db
from tests.helpers.offenders import assert_none

#: Words in column names that identify a person or contain a phone number or address.
PERSON = re.compile(
    r"(^|_)(user|actor|author|patient|caregiver|reporter|sender|recipient|target|phone|nomor|telepon|kontak|email|ip)(_|$)"
)

#: Words in column names that contain a key or another secret.
SECRET = re.compile(r"(^|_)(hash|secret|token|key|code|auth|p256dh)(_|$)")

#: Columns whose names match SECRET but that contain no secret.
NOT_SECRET = {"deliveries.dedupe_key", "saved.key"}


def is_user(column):
    return any(key.target_fullname == "users.id" for key in column.foreign_keys)


def names_somebody(column):
    """Return whether a column can contain personal data: by its reference to a user, its type or its name."""
    return is_user(column) or isinstance(column.type, sa.JSON) or PERSON.search(column.name) is not None


@pytest.fixture
def tables(app):
    return db.metadata.sorted_tables


@pytest.fixture
def personal(tables):
    declared = [(table, declaration_of(table)) for table in tables]
    return [(table, declaration) for table, declaration in declared if isinstance(declaration, Personal)]


def test_each_table_that_can_contain_personal_data_has_a_declaration(tables):
    silent = [table for table in tables if declaration_of(table) is None]
    assert len(silent) < len(tables) / 2
    assert_none(
        (f"{table.name}.{column.name}" for table in silent for column in table.columns if names_somebody(column)),
        "Declare `__personal__ = Personal(...)` (or `Impersonal`) in the model of:",
    )


def test_each_foreign_key_to_users_is_in_the_declaration_of_its_table(tables):
    for table in tables:
        referring, declaration = {column.name for column in table.columns if is_user(column)}, declaration_of(table)
        assert not referring or isinstance(declaration, Personal), table.name
        if isinstance(declaration, Personal):
            assert referring <= {*declaration.of, *declaration.mentions}, table.name


def test_declarations_name_only_existing_columns(personal):
    for table, declaration in personal:
        named = {*declaration.of, *declaration.phones, *declaration.subjects, *declaration.mentions}
        finds_owners_itself = isinstance(declaration.export, Custom) and isinstance(declaration.erase, Custom)
        assert named or finds_owners_itself, f"{table.name}: the owners of the rows are missing"
        if isinstance(declaration.export, Rows):
            named |= set(declaration.export.without)
        if isinstance(declaration.erase, Detach):
            named |= set(declaration.erase.clears)
        assert named <= set(table.c.keys()) | {column.name for column in table.columns}, table.name


def test_columns_that_erasure_clears_are_nullable(personal):
    for table, declaration in personal:
        emptied = declaration.mentions
        if isinstance(declaration.erase, Detach):
            emptied += (*declaration.of, *declaration.phones, *declaration.subjects, *declaration.erase.clears)
        assert all(table.c[name].nullable for name in emptied), table.name


def test_no_export_contains_a_secret_column(personal):
    for table, declaration in personal:
        if isinstance(declaration.export, Rows):
            exported = {column.name for column in table.columns} - set(declaration.export.without)
            secrets = {name for name in exported if SECRET.search(name)}
            assert {f"{table.name}.{name}" for name in secrets} <= NOT_SECRET


def test_personal_tables_lists_each_table_before_its_parents(app):
    order = [table for table, _ in personal_tables(db.metadata)]
    for table in order:
        parents = {key.column.table for key in table.foreign_keys} - {table}
        assert all(order.index(table) < order.index(parent) for parent in parents if parent in order), table.name
