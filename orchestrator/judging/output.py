"""The type of the final output: the check of an output against a pydantic model, and its reader."""

from __future__ import annotations

import json
from typing import Final

from pydantic import BaseModel, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema

from agents.parsing.loose_json import find_json, unwrap_fence
from agents.parsing.verdicts import contradicts, is_finite_json
from evaluation import CheckContext, CheckOutcome
from evaluation.checks.contract_checks import FunctionCheck
from evaluation.contract.contract import ContentRule
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.state.plain_values import format_repr, format_text

_MAX_PROBLEM: Final = 300


def list_type_checks(output_type: type[BaseModel] | None) -> tuple[FunctionCheck, ...]:
    """Returns the check that an output is the JSON text of a model; its error names the problem."""
    if output_type is None:
        return ()

    async def has_type(context: CheckContext) -> CheckOutcome:
        problem = find_type_problem(output_type, context.output)
        seen = problem or "the output is of this type"
        return CheckOutcome(problem is None, seen, f"write JSON of the type {output_type.__name__}")

    return (FunctionCheck(function=has_type, name="output_type", kind="format"),)


def format_output(output_type: type[BaseModel] | None, text: str) -> str:
    """Returns the JSON text of an output of the wanted type; any other text as it is.

    It has no defaults, which are nobody's work, and no fields that the type does not know.
    """
    if output_type is None or find_type_problem(output_type, text) is not None:
        return text
    parsed = parse_output(output_type, text)
    return parsed.model_dump_json(by_alias=True, exclude_unset=True, round_trip=True)


def parse_output(output_type: type[BaseModel], text: str) -> BaseModel:
    """Reads an output: JSON as the whole text, in its one fenced block, or as the one object in its prose.

    Raises:
        ValueError: It has no such JSON, or does not fit the model (pydantic's ``ValidationError``).
    """
    values, prose = find_json(unwrap_fence(text))
    if len(values) != 1:
        raise ValueError(f"Invalid JSON: the text has {len(values)} JSON values; write one alone")
    if contradicts(prose):
        raise ValueError("Invalid JSON: the text beside it contradicts it; write the JSON alone")
    # Infinity and 1e999 are read as a number, which no other reader of JSON has to.
    if not is_finite_json(values[0]):
        raise ValueError("Invalid JSON: write finite numbers in place of NaN, Infinity and 1e999")
    parsed = output_type.model_validate_json(json.dumps(values[0]))
    if output_type.model_fields and not parsed.model_fields_set:
        raise ValueError("an object has none of the fields of its type")
    return parsed


def find_type_problem(output_type: type[BaseModel], text: str) -> str | None:
    """Returns why an output is not of the wanted type, in words for the executor; None if it is."""
    try:
        parse_output(output_type, text)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        problems = [": ".join(filter(None, (".".join(map(str, e["loc"])), e["msg"]))) for e in errors]
        return shorten("; ".join(problems), _MAX_PROBLEM)
    except ValueError as error:
        return shorten(format_text(error), _MAX_PROBLEM)
    except Exception as error:  # noqa: BLE001 - a validator of the model is the user's code
        return shorten(
            f"{output_type.__name__} raised {type(error).__name__}: {format_text(error)}", _MAX_PROBLEM
        )
    return None


def check_output_type(output_type: object, *, synthesis: bool | None) -> None:
    """Checks the option ``output_type``.

    Raises:
        ConfigurationError: It is not accepted, or ``synthesis`` is False, so that nobody writes the output.
    """
    if output_type is None:
        return
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
    if synthesis is False:
        raise ConfigurationError(
            "synthesis is False, so that the result of the last step is the output; leave it out, "
            "or leave out output_type"
        )
