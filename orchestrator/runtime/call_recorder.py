"""Records the model and tool calls of an agent, from the callbacks of LangChain."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias, cast
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage, get_buffer_string
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult
from langchain_core.tracers.context import register_configure_hook
from langgraph.types import StreamWriter

from agents.credentials.masking import mask_keys
from agents.errors import CallHaltedError
from agents.loop.effects import LOST_START, NOT_ENDED, Effect, list_earlier_replies, list_outputs
from agents.loop.read_back import PREFIX as READ_BACK
from agents.loop.tool_answers import read_answer, read_invalid_call
from agents.models.ollama import NUM_CTX
from evaluation.plugins import Price
from evaluation.values import as_object
from orchestrator.errors import BudgetExceededError
from orchestrator.events import StreamingAgent, TextStreamed, ToolEnded, ToolStarted
from orchestrator.runtime.budget import (
    ModelCall,
    add_sizes,
    end_call,
    fail_call,
    read_stored_reply,
    sum_calls,
)
from orchestrator.state.plain_values import format_text, plain_json, plain_text
from orchestrator.state.records import Json, ToolCallRecord, Usage


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


def plan_record(name: str, args: Json) -> ToolCallRecord:
    """Builds the record of a call that has no answer yet."""
    return ToolCallRecord(name=name, args=args, result=None, error=None, latency_ms=None)


_Named: TypeAlias = dict[str, object]
"""A model or a tool as LangChain describes it, or the further arguments of a callback."""


class UsageRecorder(BaseCallbackHandler):
    """Records the model and tool calls that are made while it is active.

    Args:
        gate: Called before each model call; raises BudgetExceededError to refuse it.
        prices: Prices by model name.
        lock: Held while the gate decides. Recorders of parallel steps share one, since their gates read
            each other's usage.
        observer: Emits the pieces of text and the tool calls as events.

    Attributes:
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

    def __init__(
        self,
        gate: Callable[[], None],
        prices: Mapping[str, Price],
        lock: threading.Lock,
        observer: CallObserver,
    ) -> None:
        self.refused: BudgetExceededError | None = None
        self.halted: CallHaltedError | None = None
        self.starts = 0
        self._gate = gate
        self._prices = prices
        self._observer = observer
        self._models: dict[UUID, ModelCall] = {}
        self._restored: set[str | None] = set()
        self._running: set[UUID] = set()
        self._tools: dict[UUID, tuple[float, ToolCallRecord]] = {}
        self._lock = lock
        self._started = time.monotonic()

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
        """Lists the tool calls so far, in the order of their starts."""
        with self._lock:
            return [record for _, record in self._tools.values()]

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
            own = {each.get("id"): str(each.get("id")).partition(LOST_START)[0] for each in stored}
            earlier = {
                uuid4(): (self._started, each)
                for each in stored
                if not {each.get("id"), own[each.get("id")]} & known
            }
            self._tools = {**earlier, **self._tools}

    def note_call(self, call: ToolCall, effect: Effect, told: str | None) -> None:
        """Records the effect of a call, and with ``told`` a call whose tool did not run."""
        withheld = None if told is None else build_withheld(call, effect, told)
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
        self._observer.emit_tool(ToolStarted, {**record, "result": None, "error": None})
        self._observer.emit_tool(ToolEnded, record)

    def on_chat_model_start(
        self, serialized: _Named, messages: list[list[BaseMessage]], *, run_id: UUID, **given: object
    ) -> None:
        """Asks the gate, then records the start."""
        self._begin_model(serialized, map(get_buffer_string, messages), run_id, given)

    def on_llm_start(self, serialized: _Named, prompts: list[str], *, run_id: UUID, **given: object) -> None:
        """Asks the gate, then records the start, for a model of plain text."""
        self._begin_model(serialized, prompts, run_id, given)

    def _begin_model(
        self, serialized: _Named | None, prompts: Iterable[str], run_id: UUID, given: _Named
    ) -> None:
        metadata = as_object(given.get("metadata"))
        name = metadata.get("ls_model_name") or (serialized or {}).get("name") or "unknown"
        size = metadata.get(NUM_CTX)
        if self.halted is not None:
            raise self.halted
        # The lock covers the gate as well: calls that start together must count each other.
        with self._lock:
            try:
                self._gate()
            except BudgetExceededError as error:
                self.refused = error
                raise
            call = ModelCall(model=str(name), tokens=None, failed=False)
            self._models[run_id] = add_sizes(call, prompts, size) if type(size) is int else call
            self._running.add(run_id)

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, object]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        **_: object,
    ) -> None:
        """Emits a piece of text."""
        self._observer.emit_text(chunk.text if chunk is not None else str(token))

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
        self._observer.emit_tool(ToolStarted, record)

    def on_tool_end(self, output: object, *, run_id: UUID, **_: object) -> None:
        """Records the result."""
        result, error = read_tool_output(output)
        self._end_tool(run_id, {"result": result, "error": error})

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the error."""
        self._end_tool(run_id, {"error": f"{type(error).__name__}: {format_text(error)}"})

    def _end_model(self, run_id: UUID, end: Callable[[ModelCall], ModelCall]) -> None:
        with self._lock:
            if run_id in self._models:
                self._models[run_id] = end(self._models[run_id])
                self._running.discard(run_id)

    def _end_tool(self, run_id: UUID, outcome: Mapping[str, object]) -> None:
        with self._lock:
            if run_id not in self._tools:
                return
            started, record = self._tools[run_id]
            latency = round(1000 * (time.monotonic() - started), 3)
            ended = ToolCallRecord(**{**record, **outcome, "latency_ms": latency})  # type: ignore[typeddict-item]
            self._tools[run_id] = started, ended
        self._observer.emit_tool(ToolEnded, ended)


def read_tool_calls(
    messages: Sequence[BaseMessage], effects: Mapping[str, Effect]
) -> Iterator[ToolCallRecord]:
    """Yields the records of the calls of a stored conversation that have an answer.

    The calls that act come first whose messages a middleware has removed, to shorten the conversation.
    """
    answers = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    calls = _list_calls(messages)
    present = {str(call["id"]) for call in calls}
    removed = {key: each for key, each in effects.items() if key.partition(LOST_START)[0] not in present}
    yield from (_read_removed(key, effect) for key, effect in removed.items())
    for call in (call for call in calls if call["id"] in answers):
        call_id = str(call["id"])
        lost = [name for name in effects if name.startswith(f"{call_id}{LOST_START}")]
        yield from (_read_removed(name, effects[name]) for name in lost)
        result, error = read_tool_output(answers[call_id])
        effect = effects.get(call_id)
        if error is not None and effect is not None:
            # What the tool raised, as it was recorded then: the answer has words for the model around it.
            error = effect["answer"] or error
        record = ToolCallRecord(
            name=call["name"], args=plain_json(call["args"]), result=result, error=error, latency_ms=None
        )
        noted = {} if effect is None else read_effect(effect)
        yield cast("ToolCallRecord", {**record, "id": call_id, **noted})


def _read_removed(call_id: str, effect: Effect) -> ToolCallRecord:
    call = ToolCall(name=effect["name"], args=effect["args"], id=call_id, type="tool_call")
    record = build_withheld(call, effect, effect["answer"] or NOT_ENDED)
    record["latency_ms"] = None
    return record


def _list_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Lists the calls of a conversation in their order, also the broken ones."""
    replies = [message for message in messages if isinstance(message, AIMessage)]
    return [
        call
        for reply in replies
        for call in (*reply.tool_calls, *(read_invalid_call(each)[0] for each in reply.invalid_tool_calls))
        if call["id"] not in list_outputs(reply)
    ]


def build_withheld(call: ToolCall, effect: Effect, told: str) -> ToolCallRecord:
    """Builds the record of a call whose tool did not run."""
    is_answered = effect["outcome"] in ("acted", "reused", "stated")
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
    names = {name: name for name in ("name", "args", "outcome", "gate", "made_in", "read_back")}
    fields = {**names, "approval": "answer"}
    noted = {field: effect[name] for name, field in fields.items() if name in effect}  # type: ignore[literal-required]
    return {**noted, "args": plain_json(effect["args"])}


def read_tool_output(output: object) -> tuple[str | None, str | None]:
    """Reads the result and the error, without credentials, of a tool's output; one of them is None."""
    answer = read_answer(output)
    if answer is None:
        return format_text(output), None
    text = plain_text(answer.text)
    return (None, mask_keys(text)) if answer.status == "error" else (text, None)


_active: Final[ContextVar[UsageRecorder | None]] = ContextVar("orchestrator_usage_recorder", default=None)
register_configure_hook(_active, inheritable=True)


@contextmanager
def use_recorder(recorder: UsageRecorder) -> Iterator[None]:
    """Passes the recorder to every LangChain call in the block, also in tasks and threads it starts."""
    token = _active.set(recorder)
    try:
        yield
    finally:
        _active.reset(token)


def read_recorder() -> UsageRecorder:
    """Returns the recorder of the running call of an agent.

    Raises:
        LookupError: No agent is called.
    """
    if (recorder := _active.get()) is None:
        raise LookupError("no agent is called")
    return recorder
