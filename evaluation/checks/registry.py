"""Finds the checks of the user that contracts name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter

from evaluation.checks.check_model import CheckModel, Text
from evaluation.checks.custom import CustomCheck
from evaluation.checks.vocabulary import CHECK_FIELDS, Check
from evaluation.errors import ContractError
from evaluation.sensitive.quoting import quote_text
from evaluation.validation.problems import find_similar
from evaluation.values import Severity


class NamedCheck(CheckModel):
    """A check of the user's code by its name: a function with ``@check``, or a command."""

    check: Literal["function"] = "function"
    name: Text
    severity: Severity | None = None
    """Default: the severity of the check itself."""


def _refuse_commands(items: object) -> object:
    """Raise ``ValueError`` if an item is a command: data may come from a model or a stranger."""
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping) and item.get("check") == "command":
            raise ValueError(
                "a command is never data; pass CommandCheck(...) as named_checks=[...] in Python, "
                'and name it here with {"check": "function", "name": ...}'
            )
    return items


ContractChecks: TypeAlias = Annotated[
    list[Annotated[Check | NamedCheck, Field(discriminator="check")]], BeforeValidator(_refuse_commands)
]
"""The checks of a contract: of the vocabulary, and by name."""
CONTRACT_CHECK_FIELDS: Final = (*CHECK_FIELDS, *NamedCheck.model_fields)
_CONTRACT_CHECKS: Final = TypeAdapter[list[Check | NamedCheck]](ContractChecks)


def read_contract_checks(data: object) -> list[Check | NamedCheck]:
    """Read the checks of a contract that was validated before, from its plain JSON."""
    return _CONTRACT_CHECKS.validate_python(data)


def require_checks(checks: object, option: str = "checks") -> tuple[CustomCheck, ...]:
    """Return checks of the user's code as a tuple.

    Raises:
        ContractError: An item is none, or two have the same name.
    """
    items = checks if isinstance(checks, Sequence) and not isinstance(checks, str) else (checks,)
    wrong = next((item for item in items if not isinstance(item, CustomCheck)), None)
    if wrong is not None or items is not checks:
        given = type(checks if items is not checks else wrong).__name__
        raise ContractError(f"{option} has a {given}; give a list of functions with @check and CommandChecks")
    found = tuple(item for item in items if isinstance(item, CustomCheck))
    names = [item.name for item in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ContractError(
            f"{option} has two checks with the name {quote_text(twice)}; give one another name"
        )
    return found


def find_check(named: NamedCheck, given: Sequence[CustomCheck]) -> CustomCheck | str:
    """Find a check that the user gave by its name. Returns a clause why there is none."""
    match = next((check for check in given if check.name == named.name), None)
    if match is not None:
        return match
    similar = find_similar(named.name, [check.name for check in given])
    hint = (
        f"did you mean {quote_text(similar)}?" if similar else "pass it as checks=[...] or named_checks=[...]"
    )
    return f"no check has this name; {hint}"
