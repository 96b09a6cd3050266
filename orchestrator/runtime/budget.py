"""The budget of a run, and the usage of models that it bounds; the base class of the settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, Final, NotRequired, Self, TypeAlias

from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from typing_extensions import TypedDict

from agents.models.model_call import read_cut_off
from agents.models.server_errors import ADVICE
from agents.parsing.end_reasons import find_cut_off
from agents.parsing.thoughts import remove_thoughts
from evaluation.cases.case_files import parse_yaml, read_values
from evaluation.plugins import Price
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.state.graph_state import add_usage
from orchestrator.state.plain_values import format_text, plain_text
from orchestrator.state.records import NO_USAGE, Usage

# A store takes no number of more than 64 bits.
Count: TypeAlias = Annotated[
    int, Field(ge=0, lt=2**63, description="a whole number of at least 0 and below 2**63")
]
PositiveCount: TypeAlias = Annotated[
    int, Field(ge=1, lt=2**63, description="a whole number of at least 1 and below 2**63")
]
Seconds: TypeAlias = Annotated[
    int | float | None, Field(gt=0, description="seconds above 0, or leave it out for no bound")
]
Flag: TypeAlias = Annotated[bool, Field(description="True or False")]


class SettingsModel(BaseModel):
    """A group of settings that is checked when it is built and cannot be changed afterwards.

    The ``description`` of a field completes the sentence "``name`` is ``value``; give ...". A ``Literal``
    needs none.

    Raises:
        ConfigurationError: A value or a name is not accepted.
    """

    # Strict: pydantic would otherwise read "2" and True as numbers and hide a mistake of the caller.
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    def __init__(self, **values: object) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigurationError(_describe_problem(type(self), error)) from None


def read_object(source: str | Path, name: str, example: str) -> dict[str, Any]:
    """Reads the values of settings from a text in YAML or JSON, or from the file of a ``Path``.

    Raises:
        ConfigurationError: The file cannot be read, or holds no object. The message has ``name``, and
            ``example`` as an object that is accepted.
    """
    where = f"{name} {str(source)!r}" if isinstance(source, Path) else name
    try:
        values = read_values(source) if isinstance(source, Path) else parse_yaml(source)
    except OSError as error:
        raise ConfigurationError(
            f"{where} cannot be read ({error.strerror}); give a YAML file in UTF-8"
        ) from None
    except ValueError as error:
        raise ConfigurationError(f"{where}: {error}") from None
    if isinstance(values, dict):
        return values
    raise ConfigurationError(
        f"{where} is {shorten(repr(values), 80)}; give an object such as {example}, or the Path of a file"
    )


def _describe_problem(model: type[BaseModel], error: ValidationError) -> str:
    """Returns the value and the accepted values of the first problem, as one sentence."""
    problem = error.errors(include_url=False)[0]
    context = problem.get("ctx", {})
    cause = context.get("error")
    if not problem["loc"]:  # a validator of the whole model, whose message is a sentence already
        return str(cause)
    name, *rest = problem["loc"]
    if name not in model.model_fields:
        return f"{name} is not an argument of {model.__name__}; give any of {', '.join(model.model_fields)}"
    place = f"{name}[{rest[0]}]" if rest and isinstance(rest[0], int) else name
    if isinstance(cause, ConfigurationError):  # of a group within the model, or of a value that checks itself
        return f"{place}: {cause}"
    value = "missing" if problem["type"] == "missing" else shorten(repr(problem["input"]), 80)
    # Pydantic lists the values of a Literal, such as "'a' or 'b'", and names the class of an instance.
    accepted = (
        model.model_fields[str(name)].description or context.get("expected") or f"a {context.get('class')}"
    )
    return f"{place} is {value}; give {accepted}"


_AmountBound: TypeAlias = Annotated[
    int | float | None, Field(gt=0, lt=math.inf, description="a number above 0, or leave it out for no bound")
]
_CountBound: TypeAlias = Annotated[
    int | None, Field(ge=1, description="a whole number of at least 1, or leave it out for no bound")
]


class Budget(SettingsModel):
    """Upper bounds of a run; None is no bound. A run that reaches one ends as failed and keeps its results.

    Attributes:
        max_seconds: Time on the clock for the whole run.
        max_total_tokens: Input and output together. A call is not prevented by what it may use, so
            the last one can exceed the bound. A model that reports no usage ends the run.
        max_model_calls: Calls of chat models, failed ones included; never exceeded.
        max_cost_usd: Needs ``prices``; a model without a price ends the run.
        prices: By model name, as LangChain reports it.

    Raises:
        ConfigurationError: A bound is not positive, or ``max_cost_usd`` is given without prices.
    """

    max_seconds: _AmountBound = None
    max_total_tokens: _CountBound = None
    max_model_calls: _CountBound = None
    max_cost_usd: _AmountBound = None
    prices: Annotated[
        Mapping[str, Price],
        Field(description="{'model name': Price(input_usd=..., output_usd=...)}"),
    ] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_prices(self) -> Self:
        if self.max_cost_usd is not None and not self.prices:
            raise ValueError(
                "max_cost_usd is given without prices; "
                "add prices={'model name': Price(input_usd=..., output_usd=...)}"
            )
        return self

    def find_call_refusal(self, spent: Usage, running: int = 0) -> str | None:
        """Returns why the next model call is not allowed; None if it is.

        Args:
            spent: Usage of the calls that have ended.
            running: Number of calls that have not ended.
        """
        if self.max_model_calls is not None and spent["model_calls"] + running >= self.max_model_calls:
            return f"max_model_calls is {self.max_model_calls} and all were made"
        return self.find_excess(spent, reached=True)

    def find_excess(self, spent: Usage, *, reached: bool = False) -> str | None:
        """Returns which bound the usage exceeds (with ``reached``: exceeds or equals); None if none."""
        # A call that failed reports no usage, and that alone must not end the run.
        if spent["model_calls"] == spent["failed_model_calls"]:
            return None
        tokens = _compare_bound(
            "max_total_tokens", self.max_total_tokens, spent["total_tokens"], reached=reached
        )
        return tokens or _compare_bound("max_cost_usd", self.max_cost_usd, spent["cost_usd"], reached=reached)


def _compare_bound(name: str, bound: float | None, spent: float | None, *, reached: bool) -> str | None:
    if bound is None:
        return None
    if spent is None:
        return f"{name} is {bound} and cannot be checked: a model call reported no usage or has no price"
    is_over = spent >= bound if reached else spent > bound
    return f"{name} is {bound} and {spent} were used" if is_over else None


_TOKEN_LIMIT: Final = 2**40
"""Counts from here on are not credible. Below it, a 64-bit column holds the sum of millions of calls."""
_BYTES_PER_TOKEN: Final = 4
_LEAST_SHARE: Final = 0.6
"""The part of the estimated tokens that a whole prompt has at least."""
_END: Final = 200
"""Number of characters of a reply's end that are kept."""


class ModelCall(TypedDict):
    """A model call; ``tokens`` has the counts that the model reported, None before and if it reported none.

    ``text`` is the text of the reply, and ``reports`` the reports of the provider. ``num_ctx`` is the size
    of the context, and ``prompt_bytes`` the size of the prompt, if the model states the former.
    """

    model: str
    tokens: UsageMetadata | None
    failed: bool
    text: NotRequired[str]
    reports: NotRequired[Sequence[Mapping[str, object]]]
    num_ctx: NotRequired[int]
    prompt_bytes: NotRequired[int]


def sum_calls(calls: Iterable[ModelCall], prices: Mapping[str, Price], latency_ms: float) -> Usage:
    """Sums calls. Tokens and cost are None if one answered call does not report them."""
    total = reduce(add_usage, (_read_usage(call, prices.get(call["model"])) for call in calls), NO_USAGE)
    return {**total, "latency_ms": round(latency_ms, 3)}


def _read_usage(call: ModelCall, price: Price | None) -> Usage:
    usage: Usage = {**NO_USAGE, "model_calls": 1, "failed_model_calls": int(call["failed"])}
    if (tokens := call["tokens"]) is None:
        return usage
    sent, received, total = tokens["input_tokens"], tokens["output_tokens"], tokens["total_tokens"]
    return {
        **usage,
        "input_tokens": sent,
        "output_tokens": received,
        "total_tokens": total,
        "token_source": "measured",
        "cost_usd": None if price is None else price.cost(sent, received),
    }


def add_sizes(call: ModelCall, prompts: Iterable[str], num_ctx: int) -> ModelCall:
    """Returns the call with the sizes of its prompt, counted before it is sent, and of the context."""
    sizes = sum(len(text.encode("utf-8", "replace")) for text in prompts)
    return {**call, "num_ctx": num_ctx, "prompt_bytes": sizes}


def find_cut_prompt(calls: Iterable[ModelCall]) -> str | None:
    """Finds a prompt that its server cut without an error; None if there is none.

    What is left of it fills the context, or half of it (Ollama 0.32 and 0.33).
    """
    for call in calls:
        counted = call["tokens"]["input_tokens"] if call["tokens"] else 0
        estimate = call.get("prompt_bytes", 0) / _BYTES_PER_TOKEN
        size = call.get("num_ctx", math.inf)
        is_cut = counted >= size or (estimate > size and counted < _LEAST_SHARE * estimate)
        if is_cut and not call["failed"]:
            return (
                f"the prompt (about {estimate:.0f} tokens by length, {counted} by the server's count) does "
                f"not fit the context of {call['model']} ({size} tokens) and was cut; {ADVICE}"
            )
    return None


def find_cut_off_reply(calls: Sequence[ModelCall], output: str) -> str | None:
    """Finds out why the reply that became the output was cut off; None if it was not.

    An agent may ask more after it wrote its output. If no reply is the output, the last one decides.
    """
    reasons = [next(filter(None, map(find_cut_off, call.get("reports", ()))), None) for call in calls]
    if not any(reasons):
        return None
    end = _read_last_words(output)
    ends = [_read_last_words(remove_thoughts(call.get("text", ""))) for call in calls]
    own = [reason for reason, each in zip(reasons, ends, strict=True) if _is_same_end(each, end)]
    return (own or reasons)[-1]


def _is_same_end(first: str, second: str) -> bool:
    """Checks whether texts end alike: thoughts or a heading before the end may differ."""
    return bool(first and second) and (first.endswith(second) or second.endswith(first))


def _read_last_words(text: str) -> str:
    return " ".join(plain_text(text).split())[-_END:]


def end_call(call: ModelCall, response: LLMResult) -> ModelCall:
    """Returns the call with its reply."""
    generations = [generation for batch in response.generations for generation in batch]
    messages = [generation.message for generation in generations if isinstance(generation, ChatGeneration)]
    replies = [message for message in messages if isinstance(message, AIMessage)]
    usages: Iterator[Mapping[str, object]] = (each.usage_metadata or {} for each in replies)
    usage = next(filter(None, usages), {})
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens")]
    # A model of plain text has no message, and reports the reason beside the text.
    reports: list[Mapping[str, object]] = [
        *({**each.additional_kwargs, **each.response_metadata, "content": each.content} for each in replies),
        *(generation.generation_info or {} for generation in generations),
    ]
    text = generations[0].text if generations else ""
    return {**call, "tokens": _check_counts(counts), "text": text, "reports": reports}


def fail_call(call: ModelCall, error: BaseException) -> ModelCall:
    """Returns the call as failed, unless the error contains a reply.

    OpenAI's client raises a reply that reached the token limit; its tokens are paid for.
    """
    if (reply := read_cut_off(error)) is None:
        return {**call, "tokens": None, "failed": True, "text": "", "reports": []}
    ended = end_call(call, LLMResult(generations=[[ChatGeneration(message=reply)]]))
    return {**ended, "failed": ended["tokens"] is None}


def _check_counts(counts: Sequence[object]) -> UsageMetadata | None:
    # Some servers send null, text or negative numbers instead of counts.
    numbers = [count for count in counts if type(count) is int and 0 <= count < _TOKEN_LIMIT]
    if len(numbers) < len(counts):
        return None
    sent, received, total = numbers
    return UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=total)


def read_stored_reply(reply: AIMessage, model: str) -> ModelCall:
    """Builds the record of a call of a model from its stored reply."""
    generation = ChatGeneration(message=reply)
    call = ModelCall(model=format_text(model), tokens=None, failed=False)
    return end_call(call, LLMResult(generations=[[generation]]))
