"""The tokens that a model's server reports, where they are counts at all: some servers send null, or text."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook
from langgraph.types import Command

from orchestrator.errors import BudgetExceededError
from orchestrator.runtime.budget import ModelPrice
from orchestrator.state.graph_state import Json, ToolCallRecord, Usage
from orchestrator.state.plain_values import plain_json, plain_text, text_of

_MOST: Final = 2**40
"""No call has so many; a store of 64-bit numbers still holds the sum of millions of calls below it."""


def tokens_of(response: LLMResult) -> UsageMetadata | None:
    """What a reply reports; None where it reports nothing, or what cannot be a number of tokens."""
    usage = next(_reports(response), None)
    if usage is None:
        return None
    return _counts(usage.get("input_tokens"), usage.get("output_tokens"), usage.get("total_tokens"))


def tokens_of_error(error: BaseException) -> UsageMetadata | None:
    """The same of a reply that a client raises instead, as OpenAI's does at the token limit."""
    usage = getattr(getattr(error, "completion", None), "usage", None)
    names = "prompt_tokens", "completion_tokens", "total_tokens"
    return _counts(*(getattr(usage, name, None) for name in names))


def _reports(response: LLMResult) -> Iterator[UsageMetadata]:
    for generations in response.generations:
        for generation in generations:
            message = generation.message if isinstance(generation, ChatGeneration) else None
            if isinstance(message, AIMessage) and message.usage_metadata is not None:
                yield message.usage_metadata


def _counts(sent: object, received: object, total: object) -> UsageMetadata | None:
    counts = [count for count in (sent, received, total) if type(count) is int and 0 <= count < _MOST]
    if len(counts) < len((sent, received, total)):
        return None
    return UsageMetadata(input_tokens=counts[0], output_tokens=counts[1], total_tokens=counts[2])


def tool_answer(output: object) -> tuple[str | None, str | None]:
    """The text of a tool's output: as its result, or as its error where the tool says so.

    What a tool tells the model inside a ``Command`` is the last ToolMessage of its update: others
    before it are the conversation that it hands on.
    """
    outputs = output if isinstance(output, list) else [output]
    message = next(reversed([message for one in outputs for message in _messages(one)]), None)
    text = text_of(output) if message is None else plain_text(message.text)
    return (None, text) if message is not None and message.status == "error" else (text, None)


def _messages(output: object) -> Iterator[ToolMessage]:
    update = output.update if isinstance(output, Command) else [output]
    # A mapping by channel, pairs of a channel and its value, or the value of the only channel.
    values = update.values() if isinstance(update, dict) else [update]
    return (item for item in _flat(_flat(_flat(values))) if isinstance(item, ToolMessage))


def _flat(items: Iterable[object]) -> Iterator[object]:
    for item in items:
        if isinstance(item, list | tuple):
            yield from item
        else:
            yield item


@dataclass(slots=True)
class _ModelCall:
    started: float
    model: str
    ended: float | None = None
    tokens: UsageMetadata | None = None
    failed: bool = False


@dataclass(slots=True)
class _ToolCall:
    started: float
    name: str
    args: Json
    ended: float | None = None
    result: str | None = None
    error: str | None = None


Gate = Callable[[Usage, int], None]
"""Takes what the ended calls spent, and how many are under way."""


@dataclass(slots=True)
class _Log:
    models: dict[UUID, _ModelCall] = field(default_factory=dict)
    tools: dict[UUID, _ToolCall] = field(default_factory=dict)


class UsageRecorder(BaseCallbackHandler):
    """Collects the model and tool calls made while it is active.

    Args:
        gate: Called before each model call with what was spent so far; raises to prevent it.
        prices: By model name, for the cost.
        lock: Held while the gate decides; shared by recorders whose gates look at each other.

    Attributes:
        refused: What the gate raised, even where the agent swallowed it.
        repeats: How often the whole call was made again after a passing fault.
    """

    raise_error = True
    run_inline = False
    """Inline, a refusal would leave the coroutines of the model's other handlers unawaited."""
    ignore_chain = True
    ignore_retriever = True

    def __init__(
        self, gate: Gate, prices: Mapping[str, ModelPrice], lock: threading.Lock | None = None
    ) -> None:
        self._gate = gate
        self.refused: BudgetExceededError | None = None
        self.repeats = 0
        self._prices = prices
        self._log = _Log()
        self._lock = threading.Lock() if lock is None else lock
        self._started = time.monotonic()

    @property
    def called_tools(self) -> bool:
        """Whether a tool was started, so that doing all again could do something twice."""
        return bool(self._log.tools)

    def usage(self) -> Usage:
        """What was spent so far; the latency is the time since the start."""
        with self._lock:
            calls = list(self._log.models.values())
        return _usage(calls, self._prices, 1000 * (time.monotonic() - self._started))

    def under_way(self) -> tuple[Usage, int]:
        """What the ended calls spent, and how many are under way; for a gate, which holds the lock."""
        ended = [call for call in self._log.models.values() if call.ended is not None]
        return _usage(ended, self._prices, 0.0), len(self._log.models) - len(ended)

    def model(self) -> str | None:
        """The model that was called, several joined by commas; None where none was."""
        with self._lock:
            names = dict.fromkeys(call.model for call in self._log.models.values())
        return ", ".join(names) or None

    def tool_calls(self) -> list[ToolCallRecord]:
        """The tool calls so far."""
        with self._lock:
            return [_tool_record(call) for call in self._log.tools.values()]

    def on_chat_model_start(
        self,
        serialized: dict[str, object],
        messages: list[list[BaseMessage]],  # noqa: ARG002 - named by LangChain
        *,
        run_id: UUID,
        metadata: dict[str, object] | None = None,
        **kwargs: object,  # noqa: ARG002
    ) -> None:
        """Let the gate decide, then note the start."""
        self._begin(run_id, serialized, metadata)

    def on_llm_start(
        self,
        serialized: dict[str, object],
        prompts: list[str],  # noqa: ARG002 - named by LangChain
        *,
        run_id: UUID,
        metadata: dict[str, object] | None = None,
        **kwargs: object,  # noqa: ARG002
    ) -> None:
        """As for chat models."""
        self._begin(run_id, serialized, metadata)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: object) -> None:  # noqa: ARG002
        """Note the end and the tokens."""
        self._end(run_id, tokens_of(response), failed=False)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: object) -> None:  # noqa: ARG002
        """Note the end of a failed call; a reply that was cut off still reports its tokens."""
        tokens = tokens_of_error(error)
        self._end(run_id, tokens, failed=tokens is None)

    def on_tool_start(
        self,
        serialized: dict[str, object],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, object] | None = None,
        **kwargs: object,  # noqa: ARG002
    ) -> None:
        """Note the start with the arguments."""
        name = text_of((serialized or {}).get("name", "tool"))
        call = _ToolCall(time.monotonic(), name, plain_json(input_str if inputs is None else inputs))
        with self._lock:
            self._log.tools[run_id] = call

    def on_tool_end(self, output: object, *, run_id: UUID, **kwargs: object) -> None:  # noqa: ARG002
        """Note the result."""
        self._end_tool(run_id, *tool_answer(output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: object) -> None:  # noqa: ARG002
        """Note the error."""
        self._end_tool(run_id, None, f"{type(error).__name__}: {text_of(error)}")

    def _begin(self, run_id: UUID, serialized: dict[str, object], metadata: dict[str, object] | None) -> None:
        name = (metadata or {}).get("ls_model_name") or (serialized or {}).get("name") or "unknown"
        with self._lock:  # held over the gate as well: calls that begin together must see each other
            try:
                self._gate(*self.under_way())
            except BudgetExceededError as error:
                self.refused = error
                raise
            self._log.models[run_id] = _ModelCall(time.monotonic(), text_of(name))

    def _end(self, run_id: UUID, tokens: UsageMetadata | None, *, failed: bool) -> None:
        with self._lock:
            call = self._log.models.get(run_id)
            if call is not None:
                call.ended, call.tokens, call.failed = time.monotonic(), tokens, failed

    def _end_tool(self, run_id: UUID, result: str | None, error: str | None) -> None:
        with self._lock:
            call = self._log.tools.get(run_id)
            if call is not None:
                call.ended, call.result, call.error = time.monotonic(), result, error


_active: Final[ContextVar[UsageRecorder | None]] = ContextVar("orchestrator_usage_recorder", default=None)
register_configure_hook(_active, inheritable=True)


@contextmanager
def recording(recorder: UsageRecorder) -> Iterator[UsageRecorder]:
    """Hand the recorder to every LangChain call made within, in this task and in threads it starts."""
    token = _active.set(recorder)
    try:
        yield recorder
    finally:
        _active.reset(token)


def _usage(calls: Sequence[_ModelCall], prices: Mapping[str, ModelPrice], latency_ms: float) -> Usage:
    answered = [call for call in calls if not call.failed]
    counted = [call.tokens for call in answered if call.tokens is not None]
    known = bool(counted) and len(counted) == len(answered)
    return Usage(
        model_calls=len(calls),
        failed_model_calls=len(calls) - len(answered),
        input_tokens=sum(tokens["input_tokens"] for tokens in counted) if known else None,
        output_tokens=sum(tokens["output_tokens"] for tokens in counted) if known else None,
        total_tokens=sum(tokens["total_tokens"] for tokens in counted) if known else None,
        token_source="measured" if known else "missing",
        cost_usd=_cost(answered, prices) if known else None,
        latency_ms=round(latency_ms, 3),
    )


def _cost(calls: Sequence[_ModelCall], prices: Mapping[str, ModelPrice]) -> float | None:
    total = 0.0
    for call in calls:
        if call.tokens is None or call.model not in prices:
            return None
        total += prices[call.model].cost(call.tokens["input_tokens"], call.tokens["output_tokens"])
    return total


def _tool_record(call: _ToolCall) -> ToolCallRecord:
    latency = None if call.ended is None else round(1000 * (call.ended - call.started), 3)
    return ToolCallRecord(
        name=call.name, args=call.args, result=call.result, error=call.error, latency_ms=latency
    )
