"""The records of model calls and tool calls, the sum of their usage, and the events of a call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final, NotRequired, cast
from uuid import UUID

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.types import StreamWriter
from typing_extensions import TypedDict

from agents.credentials.masking import mask_keys
from agents.loop.effects import LOST_START, NOT_ENDED, Effect
from agents.loop.tool_answers import read_answer, read_invalid_call
from agents.models.server_errors import ADVICE
from agents.parsing.end_reasons import find_cut_off
from agents.parsing.thoughts import remove_thoughts
from orchestrator.runtime.events import StreamingAgent, TextStreamed, ToolEnded, ToolStarted
from orchestrator.runtime.settings_model import ModelPrice
from orchestrator.state.plain_values import format_text, plain_json, plain_text
from orchestrator.state.records import ToolCallRecord
from orchestrator.state.usage import NO_USAGE, Usage, add_usage

_TOKEN_LIMIT: Final = 2**40
"""Counts from here on are not credible. Below it, a 64-bit column holds the sum of millions of calls."""
_BYTES_PER_TOKEN: Final = 4
_LEAST_SHARE: Final = 0.6
"""The part of the estimated tokens that a whole prompt has at least."""
_END: Final = 200
"""Number of characters of a reply's end that are kept."""


class ModelCall(TypedDict):
    """A model call; ``tokens`` has the counts that the model reported, None before and if it reported none.

    ``text`` is the text of the reply, and ``reports`` what the provider says of it. ``num_ctx`` is the size
    of the context, and ``prompt_bytes`` the size of the prompt, if the model states the former.
    """

    model: str
    tokens: UsageMetadata | None
    failed: bool
    text: NotRequired[str]
    reports: NotRequired[Sequence[Mapping[str, object]]]
    num_ctx: NotRequired[int]
    prompt_bytes: NotRequired[int]


def sum_calls(calls: Iterable[ModelCall], prices: Mapping[str, ModelPrice], latency_ms: float) -> Usage:
    """Sums calls. Tokens and cost are None if one answered call does not report them."""
    total = reduce(add_usage, (_read_usage(call, prices.get(call["model"])) for call in calls), NO_USAGE)
    return {**total, "latency_ms": round(latency_ms, 3)}


def _read_usage(call: ModelCall, price: ModelPrice | None) -> Usage:
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
    completion = getattr(error, "completion", None)
    usage = getattr(completion, "usage", None)
    counts = [getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    choice = next(iter(getattr(completion, "choices", None) or ()), None)
    text = getattr(getattr(choice, "message", None), "content", None) or ""
    reports = [{"finish_reason": getattr(choice, "finish_reason", "")}]
    tokens = _check_counts(counts)
    return {**call, "tokens": tokens, "failed": tokens is None, "text": text, "reports": reports}


def _check_counts(counts: Sequence[object]) -> UsageMetadata | None:
    # Some servers send null, text or negative numbers instead of counts.
    numbers = [count for count in counts if type(count) is int and 0 <= count < _TOKEN_LIMIT]
    if len(numbers) < len(counts):
        return None
    sent, received, total = numbers
    return UsageMetadata(input_tokens=sent, output_tokens=received, total_tokens=total)


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


@dataclass(frozen=True, slots=True)
class CallObserver:
    """Emits the events of one call of an agent.

    Attributes:
        write: Takes the events.
        thread_id: Thread of the run.
        agent: The agent.
        step_index: Index of the step; None for the planner.
    """

    write: StreamWriter
    thread_id: str
    agent: StreamingAgent
    step_index: int | None = None

    def emit_text(self, text: str) -> None:
        """Emits a piece of text, unless it is empty."""
        if text:
            piece = TextStreamed(
                thread_id=self.thread_id,
                agent=self.agent,
                step_index=self.step_index,
                text=plain_text(text),
            )
            self.write(piece)

    def emit_tool(self, kind: type[ToolStarted | ToolEnded], call: ToolCallRecord) -> None:
        """Emits the start or the end of a tool call."""
        self.write(kind(thread_id=self.thread_id, step_index=self.step_index, call=call))


def read_reply(reply: AIMessage, model: str) -> ModelCall:
    """Builds the record of a call of a model from its stored reply."""
    generation = ChatGeneration(message=reply)
    call = ModelCall(model=format_text(model), tokens=None, failed=False)
    return end_call(call, LLMResult(generations=[[generation]]))


def read_tool_calls(
    messages: Sequence[BaseMessage], effects: Mapping[str, Effect]
) -> Iterator[ToolCallRecord]:
    """Yields the records of the calls of a stored conversation that have an answer."""
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    for call in (call for call in _list_calls(messages) if call["id"] in answers):
        call_id = str(call["id"])
        lost = [name for name in effects if name.startswith(f"{call_id}{LOST_START}")]
        yield from (build_withheld({**call, "id": name}, effects[name], NOT_ENDED) for name in lost)
        result, error = read_tool_output(answers[call_id])
        record = ToolCallRecord(
            name=call["name"], args=plain_json(call["args"]), result=result, error=error, latency_ms=None
        )
        noted = read_effect(effects[call_id]) if call_id in effects else {}
        yield cast("ToolCallRecord", {**record, "id": call_id, **noted})


def _list_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Lists the calls of a conversation in their order, also the broken ones."""
    replies = [message for message in messages if isinstance(message, AIMessage)]
    return [
        call
        for reply in replies
        for call in (*reply.tool_calls, *(read_invalid_call(each)[0] for each in reply.invalid_tool_calls))
    ]


def list_call_ids(messages: Sequence[BaseMessage]) -> list[str]:
    """Lists the ids of the calls of a stored conversation, in their order."""
    return [str(call["id"]) for call in _list_calls(messages)]


def sort_calls(
    calls: Mapping[UUID, tuple[float, ToolCallRecord]], ids: Sequence[str]
) -> dict[UUID, tuple[float, ToolCallRecord]]:
    """Sorts started calls as a conversation has them; one without these ids stays after the one before."""
    places, keys, place = {call_id: at for at, call_id in enumerate(ids)}, dict[UUID, int](), len(ids)
    for key, (_, record) in calls.items():
        place = places.get(record.get("id", ""), place)
        keys[key] = place
    return {key: calls[key] for key in sorted(calls, key=keys.__getitem__)}


def build_withheld(call: ToolCall, effect: Effect, told: str) -> ToolCallRecord:
    """Builds the record of a call whose tool did not run."""
    is_answered = effect["outcome"] in ("reused", "stated")
    record = ToolCallRecord(
        name=call["name"],
        args=plain_json(call["args"]),
        result=effect["answer"] if is_answered else None,
        error=None if is_answered else told,
        latency_ms=0.0,
    )
    return cast("ToolCallRecord", {**record, "id": str(call["id"]), **read_effect(effect)})


def read_effect(effect: Effect) -> dict[str, object]:
    """Returns the fields of a call's record that its effect has."""
    names = {name: name for name in ("outcome", "gate", "made_in", "read_back")} | {"approval": "answer"}
    return {field: effect[name] for name, field in names.items() if name in effect}  # type: ignore[literal-required]


def read_tool_output(output: object) -> tuple[str | None, str | None]:
    """Reads the result and the error, without credentials, of a tool's output; one of them is None."""
    answer = read_answer(output)
    if answer is None:
        return format_text(output), None
    text = plain_text(answer.text)
    return (None, mask_keys(text)) if answer.status == "error" else (text, None)
