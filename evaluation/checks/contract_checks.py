"""The checks of a contract: how they are read, and how the user's own are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import Field, TypeAdapter, ValidationError

from evaluation.checks.check_model import BaseCheck, CheckModel, Text
from evaluation.checks.custom import FunctionCheck
from evaluation.checks.kinds import counts, data_formats, style, tools, wording
from evaluation.errors import ContractError
from evaluation.sensitive.scanner import quote_text
from evaluation.validation import describe_errors, find_similar
from evaluation.values import Severity

Check: TypeAlias = Annotated[
    counts.WordCount
    | counts.SentenceCount
    | counts.ParagraphCount
    | counts.LineCount
    | counts.CharacterCount
    | counts.LetterCount
    | counts.Occurrences
    | tools.ToolCalls
    | tools.SourcedFacts
    | tools.ProbeCheck
    | wording.Contains
    | wording.Excludes
    | wording.OneOf
    | wording.StartsWith
    | wording.EndsWith
    | style.LetterCase
    | style.Language
    | style.Punctuation
    | style.HeadingCount
    | style.ListItemCount
    | style.Markdown
    | data_formats.Json
    | data_formats.JsonSchema
    | data_formats.Table
    | wording.Pattern
    | wording.StatesNumber,
    Field(discriminator="check"),
]
"""One check of the vocabulary."""

CHECKS: Final[Mapping[str, type[BaseCheck]]] = {
    model.model_fields["check"].default: model for model in get_args(get_args(Check)[0])
}
"""The models by the value of their field ``check``."""
CHECK_FIELDS: Final = tuple(dict.fromkeys(name for model in CHECKS.values() for name in model.model_fields))
"""The names of the fields of all checks."""
_LIST: Final = TypeAdapter(list[Check])


def read_checks(data: object) -> list[Check]:
    """Read checks from plain JSON data: a list of objects, each with its kind in the field ``check``.

    Raises:
        ContractError: A check cannot be used; one sentence for each problem, which begins with its path.
    """
    try:
        return _LIST.validate_python(data)
    except ValidationError as error:
        raise ContractError("; ".join(describe_errors(error, data, CHECK_FIELDS, "checks"))) from None


class NamedCheck(CheckModel):
    """A function of the user with ``@check``, by its name."""

    check: Literal["function"] = "function"
    name: Text
    severity: Severity | None = None
    """Default: the severity of the check itself."""


ContractChecks: TypeAlias = list[Annotated[Check | NamedCheck, Field(discriminator="check")]]
"""The checks of a contract: of the vocabulary, and by name."""
CONTRACT_CHECK_FIELDS: Final = (*CHECK_FIELDS, *NamedCheck.model_fields)


def require_checks(checks: object, option: str = "checks") -> tuple[FunctionCheck, ...]:
    """Return checks of the user's code as a tuple.

    Raises:
        ContractError: An item is none, or two have the same name.
    """
    items = checks if isinstance(checks, Sequence) and not isinstance(checks, str) else (checks,)
    wrong = next((item for item in items if not isinstance(item, FunctionCheck)), None)
    if wrong is not None or items is not checks:
        given = type(checks if items is not checks else wrong).__name__
        raise ContractError(f"{option} has a {given}; give a list of functions with @check")
    found = tuple(item for item in items if isinstance(item, FunctionCheck))
    names = [item.name for item in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ContractError(
            f"{option} has two checks with the name {quote_text(twice)}; give one another name"
        )
    return found


def find_check(named: NamedCheck, given: Sequence[FunctionCheck]) -> FunctionCheck | str:
    """Find a check that the user gave by its name. Returns a clause why there is none."""
    match = next((check for check in given if check.name == named.name), None)
    if match is not None:
        return match
    similar = find_similar(named.name, [check.name for check in given])
    hint = (
        f"did you mean {quote_text(similar)}?" if similar else "pass it as checks=[...] or named_checks=[...]"
    )
    return f"no check has this name; {hint}"
