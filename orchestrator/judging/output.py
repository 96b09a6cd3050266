"""OutputRules: the contract and the type of the final output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import InitErrorDetails, PydanticCustomError

from agents.parsing.loose_json import find_json, unwrap_fence
from agents.parsing.verdicts import is_finite_json
from evaluation import CheckContext, CheckOutcome, EvaluationContract
from evaluation.checks.contract_checks import FunctionCheck, NamedCheck
from evaluation.contract.contract import ContentRule
from evaluation.contract.requirements import Contract
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import format_repr, format_text

OUTPUT_TYPE: Final = "output_type"
"""Name of the check of the output's type."""
_MAX_PROBLEM: Final = 300


def build_type_check(output_type: type[BaseModel]) -> FunctionCheck:
    """Builds a check that an output is the JSON text of a pydantic model; the error names the problem."""

    async def has_type(context: CheckContext) -> CheckOutcome:
        problem = find_type_problem(output_type, context.output)
        seen = problem or "the output is of this type"
        return CheckOutcome(problem is None, seen, f"write JSON of the type {output_type.__name__}")

    return FunctionCheck(function=has_type, name=OUTPUT_TYPE, kind="format")


@dataclass(frozen=True, slots=True)
class OutputRules:
    """The demands on the final output, besides the task; None for no such rule.

    Attributes:
        contract: The contract.
        output_type: The pydantic model that the output is the JSON text of.
        checks: The caller's own checks by name, and the check of the type.
    """

    contract: Contract | None = None
    output_type: type[BaseModel] | None = None
    checks: tuple[NamedCheck, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether only the task is asked for."""
        return self.contract is None and self.output_type is None and not self.checks

    @property
    def own_checks(self) -> Contract:
        """The contract of the caller's own checks."""
        return Contract.of(EvaluationContract(checks=[*self.checks])) if self.checks else Contract()

    @property
    def schema(self) -> dict[str, object] | None:
        """The JSON Schema of the output."""
        return None if self.output_type is None else self.output_type.model_json_schema()

    @property
    def type_checks(self) -> tuple[FunctionCheck, ...]:
        """The check of the output's type; empty if it has none."""
        wanted = self.output_type
        return () if wanted is None else (build_type_check(wanted),)

    def format_output(self, text: str) -> str:
        """Returns the JSON text of an output of the wanted type; any other text as it is.

        It has no defaults, which are nobody's work, and no fields that the type does not know.
        """
        if self.output_type is None or find_type_problem(self.output_type, text) is not None:
            return text
        parsed = parse_output(self.output_type, text)
        return parsed.model_dump_json(by_alias=True, exclude_unset=True, round_trip=True)


def is_blank(text: str) -> bool:
    """Returns whether a reader sees nothing in a text: no character, or only invisible ones."""
    return not CheckContext(text).text


_NOT_BLANK: Final = Contract.read({"checks": [{"check": "word_count", "min": 1}]}, "own")


def refuse_blank(contract: Contract, text: str) -> Contract:
    """Returns the contract of a final output, with a check that fails if a reader sees nothing in the text.

    A contract that asks for calls of tools accepts a blank output: the calls are the work.
    """
    # Only to an output that fails it: an output that merely has a word proves nothing.
    return contract.join(_NOT_BLANK) if is_blank(text) and not contract.asks_for_calls else contract


def read_output_rules(
    output_type: object,
    *,
    synthesis: bool | None,
    checks: Sequence[FunctionCheck] = (),
) -> OutputRules:
    """Checks the options for the final output; ``checks`` are valid.

    Raises:
        ConfigurationError: One is not accepted, or ``synthesis`` is False, so that nobody writes the output.
    """
    if output_type is not None:
        _check_type(output_type)
    if synthesis is False and output_type is not None:
        raise ConfigurationError(
            "synthesis is False, so that the result of the last step is the output; leave it out, "
            "or leave out output_type"
        )
    names_of_checks = [*(check.name for check in checks), *([] if output_type is None else [OUTPUT_TYPE])]
    named = tuple(NamedCheck(name=name) for name in names_of_checks)
    return OutputRules(None, cast("type[BaseModel] | None", output_type), named)


def parse_output(output_type: type[BaseModel], text: str) -> BaseModel:
    """Reads an output: JSON as the whole text, in its one fenced block, or as the one object in its prose.

    Raises:
        ValidationError: It does not fit the model.
    """
    try:
        value = _read_value(text)
    except ValueError as error:
        raise _refuse(output_type, text, f"Invalid JSON: {error}") from None
    parsed = output_type.model_validate_json(json.dumps(value))
    if output_type.model_fields and not parsed.model_fields_set:
        raise _refuse(output_type, text, "an object has none of the fields of its type")
    return parsed


def _refuse(output_type: type[BaseModel], text: str, reason: str) -> ValidationError:
    problem = PydanticCustomError("output", "{reason}", {"reason": reason})
    return ValidationError.from_exception_data(
        output_type.__name__, [InitErrorDetails(type=problem, input=text)]
    )


def _read_value(text: str) -> object:
    """Reads the one JSON value of an output, as leniently as a plan.

    Raises:
        ValueError: It has none or several, one that has no end or cannot be read, or an infinite number.
    """
    values, _ = find_json(unwrap_fence(text))
    if len(values) != 1:
        raise ValueError(f"the text has {len(values)} JSON values; write one alone")
    # Infinity and 1e999 are read as a number, which no other reader of JSON has to.
    if not is_finite_json(values[0]):
        raise ValueError("write finite numbers in place of NaN, Infinity and 1e999")
    return values[0]


def find_type_problem(output_type: type[BaseModel], text: str) -> str | None:
    """Returns why an output is not of the wanted type, in words for the executor; None if it is."""
    try:
        parse_output(output_type, text)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        problems = [": ".join(filter(None, (".".join(map(str, e["loc"])), e["msg"]))) for e in errors]
        return shorten("; ".join(problems), _MAX_PROBLEM)
    except Exception as error:  # noqa: BLE001 - a validator of the model is the user's code
        return shorten(
            f"{output_type.__name__} raised {type(error).__name__}: {format_text(error)}", _MAX_PROBLEM
        )
    return None


def _check_type(output_type: object) -> None:
    if not isinstance(output_type, type) or not issubclass(output_type, BaseModel):
        raise ConfigurationError(
            f"output_type is {format_repr(output_type, 80)}; give a pydantic model, or None"
        )
    try:
        ContentRule(json_schema=output_type.model_json_schema())
    except (PydanticInvalidForJsonSchema, ValidationError) as error:
        raise ConfigurationError(
            f"output_type is {output_type.__name__}, which has no JSON Schema that can be checked "
            f"({format_repr(str(error), 200)}); give a model of JSON values"
        ) from error
