"""Every error code of the service is in the list from which clients generate types."""

import ast

from app.core.error_codes import ERROR_CODES
from app.core.errors import HTTP_ERRORS


def codes(module):
    """Yield the error codes in calls (`code="..."`) and in classes (`code = "..."`)."""
    for node in module.nodes:
        match node:
            case ast.keyword(arg="code", value=ast.Constant(value=str(code))):
                yield code
            case ast.ClassDef(body=body):
                for each in body:
                    match each:
                        case ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code))):
                            yield code


def test_the_error_code_list_has_exactly_the_codes_in_the_source(modules):
    raised = {code for module in modules for code in codes(module)}
    assert set(ERROR_CODES) == raised | {code for code, _ in HTTP_ERRORS.values()}


def test_the_error_code_list_is_sorted_and_has_no_duplicates():
    assert list(ERROR_CODES) == sorted(set(ERROR_CODES))
