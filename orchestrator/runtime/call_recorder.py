"""Records the model and tool calls of an agent, from the callbacks of LangChain."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import itemgetter
from typing import Final, TypeAlias, cast
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphInterrupt
from langgraph.types import StreamWriter

from agents.errors import CallHaltedError
from agents.loop.effects import Effect, read_call_id
from agents.loop.read_back import PREFIX as READ_BACK
from agents.models.model_call import read_cut_off
from agents.parsing.end_reasons import read_report
from agents.sync import set_variable
from evaluation.plugins import Price
from evaluation.values import as_object
from orchestrator.errors import BudgetExceededError
from orchestrator.events import StreamingAgent, TextStreamed, ToolEnded, ToolStarted
from orchestrator.runtime.call_records import (
    CallJournal,
    ModelCall,
    build_withheld,
    list_calls,
    list_earlier_replies,
    plan_record,
    read_effect,
    read_tool_calls,
    read_tool_output,
)
from orchestrator.state.graph_state import add_usage
from orchestrator.state.plain_values import format_text, plain_json, plain_text
from orchestrator.state.records import NO_USAGE, ToolCallRecord, Usage


@dataclass(frozen=True, slots=True)
class CallObserver:
    """Emits the events of one call of an agent.

    Attributes:
        write: Takes the events.
        thread_id: Thread of the run.
        agent: The agent.
        step_index: Index of the step; None for the planner.
        journal: Stores the tool calls of an executor that is no graph.
    """

    write: StreamWriter
    thread_id: str
    agent: StreamingAgent
    step_index: int | None = None
    journal: CallJournal | None = None

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

    def emit_tool(
        self, kind: type[ToolStarted | ToolEnded], call: ToolCallRecord, run_id: UUID | None = None
    ) -> None:
        """Emits the start or the end of a tool call; with the id of its run, it is stored before."""
        if self.journal is not None and run_id is not None:
            self.journal.keep_call(run_id, call)
        self.write(kind(thread_id=self.thread_id, step_index=self.step_index, call=call))


_TOKEN_LIMIT: Final = 2**40
"""Counts from here on are not credible. Below it, a 64-bit column holds the sum of millions of calls."""
_Named: TypeAlias = dict[str, object]
"""A model or a tool as LangChain describes it, or the further arguments of a callback."""


@dataclass(eq=False, repr=False)
class UsageRecorder(BaseCallbackHandler):
    """Records the model and tool calls that are made while it is active.

    Attributes:
        _gate: Called before each model call, one at a time; raises BudgetExceededError to refuse it.
        _prices: Prices by model name.
        observer: Emits the pieces of text and the tool calls as events.
        refused: The error of the gate, even if the agent swallowed it.
        halted: The error of a person who ended the run at a tool call; no model is called after it.
        starts: Number of times the agent was called: again after each transient error.
    """

    # Otherwise LangChain logs the error of the gate and makes the call.
    raise_error = True
    # Inline, a refusal would leave the coroutines of the model's other handlers unawaited.
    run_inline = False
    ignore_chain = True
    ignore_retriever = True

    _gate: Callable[[], None]
    _prices: Mapping[str, Price]
    observer: CallObserver
    refused: BudgetExceededError | None = None
    halted: CallHaltedError | None = None
    starts: int = 0
    _models: dict[UUID, ModelCall] = field(default_factory=dict)
    _restored: set[str | None] = field(default_factory=set)
    _places: dict[str, int] = field(default_factory=dict)
    _running: set[UUID] = field(default_factory=set)
    _tools: dict[UUID, tuple[float, ToolCallRecord]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _started: float = field(default_factory=time.monotonic)

    def sum_usage(self) -> Usage:
        """Sums the usage so far. The latency is the time since the recorder was created."""
        return sum_calls(self.list_model_calls(), self._prices, 1000 * (time.monotonic() - self._started))

    def sum_ended_calls(self) -> tuple[Usage, int]:
        """Sums the usage of the ended calls, and counts the running ones. The caller holds the lock."""
        ended = [call for run_id, call in self._models.items() if run_id not in self._running]
        return sum_calls(ended, self._prices, 0.0), len(self._running)

    def list_model_calls(self) -> list[ModelCall]:
        """Lists the model calls so far, in the order of their starts."""
        with self._lock:
            return [*self._models.values()]

    def list_tool_calls(self) -> list[ToolCallRecord]:
        """Lists the tool calls so far, in the order of their starts; after a crash, as the model called."""
        place, placed = -1, list[tuple[int, ToolCallRecord]]()
        with self._lock:
            for _, record in self._tools.values():
                # A call within a tool stands behind the call of that tool.
                place = self._places.get(read_call_id(str(record.get("id"))), place)
                placed.append((place, record))
        return [record for _, record in sorted(placed, key=itemgetter(0))]

    def restore_calls(
        self, messages: Sequence[BaseMessage], effects: Mapping[str, Effect], execution: str
    ) -> None:
        """Records the calls of a stored conversation that other executions of the run have made."""
        with self._lock:
            for model, reply in list_earlier_replies(messages, execution):
                if reply.id not in self._restored:
                    self._restored.add(reply.id)
                    self._models[uuid4()] = read_stored_reply(reply, model)
            known = {record.get("id") for _, record in self._tools.values()}
            stored = [*read_tool_calls(messages, effects)]
            # The earlier starts of a call that was made here are recorded under its id.
            earlier = {
                uuid4(): (self._started, each)
                for each in stored
                if not {each.get("id"), read_call_id(str(each.get("id")))} & known
            }
            for call in list_calls(messages):
                self._places.setdefault(str(call["id"]), len(self._places))
            self._tools = {**earlier, **self._tools}

    def add_calls(self, earlier: Iterable[ToolCallRecord]) -> None:
        """Adds calls that were made and recorded before."""
        with self._lock:
            self._tools = {**{uuid4(): (self._started, each) for each in earlier}, **self._tools}

    def note_call(self, call: ToolCall, effect: Effect, told: str | None) -> None:
        """Records the effect of a call, and with ``told`` a call whose tool did not run."""
        withheld = None if told is None else build_withheld(str(call["id"]), effect, told)
        noted = read_effect(effect)
        if withheld is not None:
            noted = {**noted, "result": withheld["result"], "error": withheld["error"]}
        with self._lock:
            own = [key for key, (_, record) in self._tools.items() if record.get("id") == call["id"]]
            # A middleware may have made the call several times: the answer is to the last one.
            for key in own[-1:]:
                started, record = self._tools[key]
                self._tools[key] = started, cast("ToolCallRecord", {**record, **noted})
        if withheld is not None and not own:
            self._add_withheld(withheld)

    def _add_withheld(self, record: ToolCallRecord) -> None:
        with self._lock:
            self._tools[uuid4()] = time.monotonic(), record
        self.observer.emit_tool(ToolStarted, {**record, "result": None, "error": None})
        self.observer.emit_tool(ToolEnded, record)

    def on_llm_start(
        self,
        serialized: _Named | None,
        prompts: object,  # noqa: ARG002
        *,
        run_id: UUID,
        **given: object,
    ) -> None:
        """Asks the gate, then records the start."""
        metadata = as_object(given.get("metadata"))
        name = metadata.get("ls_model_name") or (serialized or {}).get("name") or "unknown"
        if self.halted is not None:
            raise self.halted
        # The lock covers the gate as well: calls that start together must count each other.
        with self._lock:
            try:
                self._gate()
            except BudgetExceededError as error:
                self.refused = error
                raise
            self._models[run_id] = ModelCall(model=str(name), tokens=None, failed=False)
            self._running.add(run_id)

    on_chat_model_start = on_llm_start  # type: ignore[assignment]

    def on_llm_new_token(self, token: str | list[str | dict[str, object]], **given: object) -> None:
        """Emits a piece of text."""
        self.observer.emit_text(str(getattr(given.get("chunk"), "text", token)))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: object) -> None:
        """Records the end and the tokens."""
        self._end_model(run_id, partial(end_call, response=response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the end of a failed call."""
        self._end_model(run_id, partial(fail_call, error=error))

    def on_tool_start(
        self, serialized: _Named | None, input_str: str, *, run_id: UUID, **given: object
    ) -> None:
        """Records the start and the arguments."""
        inputs, call_id = given.get("inputs"), given.get("tool_call_id")
        if str(call_id).startswith(READ_BACK):
            return
        name = str((serialized or {}).get("name", "tool"))
        record = plan_record(name, plain_json(input_str if inputs is None else inputs))
        if call_id is not None:
            record["id"] = str(call_id)
        with self._lock:
            self._tools[run_id] = time.monotonic(), record
        self.observer.emit_tool(ToolStarted, record, run_id)

    def on_tool_end(self, output: object, *, run_id: UUID, **_: object) -> None:
        """Records the result."""
        result, error = read_tool_output(output)
        self._end_tool(run_id, {"result": result, "error": error})

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the error. A call that waits for an answer begins again; one that is cut off stays open."""
        if isinstance(error, GraphInterrupt) and self.observer.journal is not None:
            self.observer.journal.keep_call(run_id, None)
        has_ended = isinstance(error, Exception) and not isinstance(error, GraphInterrupt)
        outcome = {"error": f"{type(error).__name__}: {format_text(error)}"}
        self._end_tool(run_id, outcome, is_stored=has_ended)

    def _end_model(self, run_id: UUID, end: Callable[[ModelCall], ModelCall]) -> None:
        with self._lock:
            if run_id in self._models:
                self._models[run_id] = end(self._models[run_id])
                self._running.discard(run_id)

    def _end_tool(self, run_id: UUID, outcome: Mapping[str, object], *, is_stored: bool = True) -> None:
        with self._lock:
            if run_id not in self._tools:
                return
            started, record = self._tools[run_id]
            latency = round(1000 * (time.monotonic() - started), 3)
            ended = ToolCallRecord(**{**record, **outcome, "latency_ms": latency})  # type: ignore[typeddict-item]
            self._tools[run_id] = started, ended
        self.observer.emit_tool(ToolEnded, ended, run_id if is_stored else None)


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
        *map(read_report, replies),
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


_active: Final[ContextVar[UsageRecorder | None]] = ContextVar("orchestrator_usage_recorder", default=None)
register_configure_hook(_active, inheritable=True)


def use_recorder(recorder: UsageRecorder) -> AbstractContextManager[UsageRecorder]:
    """Passes the recorder to every LangChain call in the block, also in tasks and threads it starts."""
    return set_variable(_active, recorder)


def read_recorder() -> UsageRecorder:
    """Returns the recorder of the running call of an agent.

    Raises:
        LookupError: No agent is called.
    """
    if (recorder := _active.get()) is None:
        raise LookupError("no agent is called")
    return recorder
