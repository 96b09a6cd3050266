"""Finds the checks that contracts name: the checks of the user, and the checks of installed packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter

from evaluation.checks.base import CheckModel, Text
from evaluation.checks.custom import CustomCheck
from evaluation.checks.vocabulary import CHECK_FIELDS, Check
from evaluation.errors import ContractError
from evaluation.sensitive.quoting import describe_error, quote_text
from evaluation.validation.problems import find_similar
from evaluation.values import Severity

ENTRY_POINTS: Final = "evaluation.checks"
"""The group of entry points whose names are names of checks."""


_UNKNOWN: Final = "no check has this name"


class NamedCheck(CheckModel):
    """A check of the user's code by its name: a function with ``@check``, or a command."""

    check: Literal["function"] = "function"
    name: Text
    severity: Severity | None = None
    """Default: the severity of the check itself."""
    entry_points: bool = True
    """Whether an installed package may provide it; always false in a contract that a model wrote."""


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
    """Find a check by its name: among those that the user gave, else in an installed package.

    Returns:
        The check, or as a clause the problem why there is none.
    """
    match = next((check for check in given if check.name == named.name), None)
    if match is not None:
        return match
    names = [check.name for check in given]
    loaded = load_check(named.name) if named.entry_points else _describe_unknown(named.name, names)
    is_unknown = isinstance(loaded, str) and loaded.startswith(_UNKNOWN)
    return _describe_unknown(named.name, names) if is_unknown and find_similar(named.name, names) else loaded


@cache
def load_check(name: str) -> CustomCheck | str:
    """Load the check of an installed package. Returns its problem as a clause if there is none."""
    matches = [*entry_points(group=ENTRY_POINTS, name=name)]
    if not matches:
        return _describe_unknown(name, [point.name for point in entry_points(group=ENTRY_POINTS)])
    try:
        loaded = matches[0].load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - importing a package runs its code
        return f"its package cannot be imported: {type(error).__name__}: {describe_error(error)}"
    is_check = isinstance(loaded, CustomCheck)
    return loaded if is_check else "its entry point is no check; decorate the function with @check"


def _describe_unknown(name: str, known: Sequence[str]) -> str:
    similar = find_similar(name, known)
    hint = (
        f"did you mean {quote_text(similar)}?" if similar else "pass it as checks=[...] or named_checks=[...]"
    )
    return f"{_UNKNOWN}; {hint}"
