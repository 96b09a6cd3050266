"""Reads a judge's answer as one JSON object, or says why it is none, and computes the cost of judging."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from pydantic import BaseModel

from agents.parsing.loose_json import find_containers, load_or_repair
from agents.parsing.objects import is_one_object, remove_marked_thoughts, unwrap_fence
from evaluation.errors import JudgeError, JudgeFailureKind
from evaluation.plugins import Price
from evaluation.sensitive.quoting import describe_error
from evaluation.validation.json_data import copy_json
from evaluation.values import JsonObject, as_object

MAX_ANSWER: Final = 100_000
"""Maximum length of an answer in characters."""
_LARGEST: Final = 1e300
NO_OBJECT: Final = "the answer contains no JSON object that can be read, or one with a key that occurs twice"
NOT_ALONE: Final = "the answer is not one JSON object alone: it has other text or other objects"


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why a judge's answer gives no score. It is an error of the judge, never a bad score for the agent.

    Attributes:
        kind: The kind of error.
        reason: One sentence.
        usage: The cost of the call.
        details: Any other JSON values.
    """

    kind: JudgeFailureKind
    reason: str
    usage: Mapping[str, object] = field(default_factory=dict)
    details: JsonObject = field(default_factory=dict)


def failure_from_error(error: Exception) -> JudgeFailure:
    """Describes an exception of a judge. Its text is shortened and redacted, since it may quote the run."""
    text = describe_error(error)
    if isinstance(error, JudgeError):
        return JudgeFailure(error.kind, text, error.usage, error.details)
    return JudgeFailure("provider_failure", f"{type(error).__name__}: {text}")


@dataclass(frozen=True, slots=True)
class ObjectRead:
    """The object of an answer.

    Attributes:
        value: The object.
        repaired: Whether the text was not JSON before it was repaired.
    """

    value: JsonObject
    repaired: bool = False


def format_answer(raw: object) -> str | JudgeFailure:
    """Writes an answer as text. It may be an object of JSON values, a pydantic model or text already."""
    if isinstance(raw, str):
        return raw[: MAX_ANSWER + 1]
    if not isinstance(raw, Mapping | BaseModel):
        return JudgeFailure("malformed", f"the answer is a {type(raw).__name__}, not a JSON object")
    try:
        value = raw.model_dump(mode="json", warnings=False) if isinstance(raw, BaseModel) else dict(raw)
        return json.dumps(value, allow_nan=False)[: MAX_ANSWER + 1]
    except (TypeError, ValueError, RecursionError) as error:
        return JudgeFailure(
            "malformed", f"the answer contains a value that is not JSON ({type(error).__name__})"
        )


def read_object(raw: object) -> ObjectRead | JudgeFailure:
    """Reads the only object of an answer.

    A text has to be the object and nothing else, after the thoughts of a reasoning model. It may be in a code
    fence. An object that is cut off or not quite JSON is repaired, and marked as repaired. An object among
    other text or other objects is a failure, since it may be quoted; so is a key that occurs twice.
    """
    text = format_answer(raw)
    if isinstance(text, JudgeFailure):
        return text
    if len(text) > MAX_ANSWER:
        return JudgeFailure("malformed", f"the answer is longer than {MAX_ANSWER} characters")
    document = unwrap_fence(remove_marked_thoughts(text))
    value, is_guess = load_or_repair(document)
    # A guess may leave out the text around an object, or a second object.
    is_alone = not is_guess or (document.startswith("{") and _find_end(document) in (None, len(document)))
    copied = copy_json(value) if isinstance(value, dict) and is_alone and (value or not is_guess) else None
    if copied:
        return ObjectRead(as_object(copied[0]), repaired=is_guess)
    is_among_others = "{" in document and not is_one_object(document)
    return JudgeFailure("malformed", NOT_ALONE if is_among_others else NO_OBJECT)


def copy_json_object(value: object) -> JsonObject:
    """Copies an object of JSON values. Returns an empty object for anything else."""
    copied = copy_json(value)
    return as_object(copied[0]) if copied else {}


def is_number(value: object) -> TypeGuard[float]:
    """Checks whether a value is a number that a float can hold; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


def _find_end(document: str) -> int | None:
    """Finds the end of the first object; None if it is cut off."""
    first = next(find_containers(document))
    return None if first is None else first[1]


_SUMMED: Final = ("input_tokens", "output_tokens", "cost_usd")


def add_cost(usage: JsonObject, prices: Mapping[str, Price]) -> JsonObject:
    """Adds ``cost_usd``, estimated from the tokens, if no cost is reported and the model has a price."""
    price = prices.get(str(usage.get("model")))
    sent, received = _read_amount(usage.get("input_tokens")), _read_amount(usage.get("output_tokens"))
    if price is None or "cost_usd" in usage or sent is None or received is None:
        return usage
    return {**usage, "cost_usd": price.cost(sent, received), "cost_source": "estimated"}


def sum_usage(usages: Sequence[JsonObject]) -> JsonObject:
    """Sums the usage of several calls.

    Returns:
        ``calls``, the sums of the reported numbers, ``model`` (the names, if there are several), and
        ``unreported``: the number of calls without tokens, which the sums lack.
    """
    amounts = {name: [_read_amount(usage.get(name)) for usage in usages] for name in _SUMMED}
    known = {name: [amount for amount in values if amount is not None] for name, values in amounts.items()}
    sums: JsonObject = {name: sum(values) for name, values in known.items() if values}
    models = sorted({str(usage["model"]) for usage in usages if usage.get("model")})
    silent = amounts["input_tokens"].count(None)
    named = {"model": ", ".join(models)} if models else {}
    return {"calls": len(usages), **sums, **named, **({"unreported": silent} if silent else {})}


def _read_amount(value: object) -> float | None:
    # bool is a subclass of int.
    return value if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None
