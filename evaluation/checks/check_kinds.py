"""All checks as one union by the field ``check``, and reading them from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias, get_args

from pydantic import Field, TypeAdapter, ValidationError

from evaluation.checks.check_model import BaseCheck
from evaluation.checks.kinds import (
    counts,
    data_formats,
    markup,
    placement,
    style,
    tools,
    wording,
)
from evaluation.errors import ContractError
from evaluation.validation.problems import describe_errors

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
    | placement.StartsWith
    | placement.EndsWith
    | placement.Quoted
    | placement.Postscript
    | placement.RepeatsRequest
    | style.LetterCase
    | style.CapitalWordCount
    | style.Language
    | style.Punctuation
    | markup.HeadingCount
    | markup.ListItemCount
    | markup.HighlightCount
    | markup.PlaceholderCount
    | markup.PartCount
    | markup.Title
    | markup.Markdown
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
