"""Records the model and tool calls of an agent, from the callbacks of LangChain."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult
from langchain_core.tracers.context import register_configure_hook
from typing_extensions import TypedDict

from agents.errors import CallHaltedError, NoEffectError
from agents.models.ollama import NUM_CTX
from orchestrator.errors import BudgetExceededError
from orchestrator.runtime.budget import ModelPrice
from orchestrator.runtime.events import ToolEnded, ToolStarted
from orchestrator.runtime.recording import call_records
from orchestrator.state.plain_values import format_text, plain_json
from orchestrator.state.records import ToolCallRecord
from orchestrator.state.usage import Usage


class RecordedCalls(TypedDict):
    """The calls of one request, in the order of their starts, as a store holds them."""

    models: list[call_records.ModelCall]
    tools: list[ToolCallRecord]


class UsageRecorder(BaseCallbackHandler):
    """Records the model and tool calls that are made while it is active.

    Args:
        gate: Called before each model call; raises BudgetExceededError to refuse it.
        prices: Prices by model name.
        lock: Held while the gate decides. Recorders of parallel steps share one, since their gates read
            each other's usage.
        observer: Emits the pieces of text and the tool calls as events; None emits nothing.

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
        prices: Mapping[str, ModelPrice],
        lock: threading.Lock,
        observer: call_records.CallObserver | None = None,
    ) -> None:
        self.refused: BudgetExceededError | None = None
        self.halted: CallHaltedError | None = None
        self.starts = 0
        self._gate = gate
        self._prices = prices
        self._observer = observer
        self._models: dict[UUID, call_records.ModelCall] = {}
        self._running: set[UUID] = set()
        self._tools: dict[UUID, tuple[float, ToolCallRecord]] = {}
        self._lock = lock
        self._started = time.monotonic()

    def sum_usage(self) -> Usage:
        """Sums the usage so far. The latency is the time since the recorder was created."""
        return call_records.sum_calls(
            self.list_model_calls(), self._prices, 1000 * (time.monotonic() - self._started)
        )

    def sum_ended_calls(self) -> tuple[Usage, int]:
        """Sums the usage of the ended calls, and counts the running ones. The caller holds the lock."""
        ended = [call for run_id, call in self._models.items() if run_id not in self._running]
        return call_records.sum_calls(ended, self._prices, 0.0), len(self._running)

    def list_model_calls(self) -> list[call_records.ModelCall]:
        """Lists the model calls so far, in the order of their starts."""
        with self._lock:
            return [*self._models.values()]

    def list_tool_calls(self) -> list[ToolCallRecord]:
        """Lists the tool calls so far, in the order of their starts."""
        with self._lock:
            return [record for _, record in self._tools.values()]

    def export_calls(self, ids: Sequence[UUID]) -> RecordedCalls:
        """Returns the calls with these ids, in the order of their starts."""
        with self._lock:
            models = [self._models[call] for call in ids if call in self._models]
            tools = [self._tools[call][1] for call in ids if call in self._tools]
        return RecordedCalls(models=models, tools=tools)

    def restore_calls(self, calls: RecordedCalls) -> None:
        """Records calls that were made before the run was interrupted."""
        with self._lock:
            self._models.update((uuid4(), call) for call in calls["models"])
            self._tools.update((uuid4(), (self._started, call)) for call in calls["tools"])

    def on_llm_start(
        self,
        serialized: dict[str, object],
        prompts: list[str],
        *,
        run_id: UUID,
        metadata: dict[str, object] | None = None,
        **_: object,
    ) -> None:
        """Asks the gate, then records the start. LangChain calls this for chat models, too."""
        name = (metadata or {}).get("ls_model_name") or (serialized or {}).get("name") or "unknown"
        size = (metadata or {}).get(NUM_CTX)
        if self.halted is not None:
            raise self.halted
        # The lock covers the gate as well: calls that start together must count each other.
        with self._lock:
            try:
                self._gate()
            except BudgetExceededError as error:
                self.refused = error
                raise
            call = call_records.ModelCall(model=format_text(name), tokens=None, failed=False)
            self._models[run_id] = call_records.add_sizes(call, prompts, size) if type(size) is int else call
            self._running.add(run_id)
        _note_start(run_id)

    def on_llm_new_token(
        self,
        token: str | list[str | dict[str, object]],
        *,
        chunk: GenerationChunk | ChatGenerationChunk | None = None,
        **_: object,
    ) -> None:
        """Emits a piece of text."""
        if self._observer is not None:
            self._observer.emit_text(chunk.text if chunk is not None else str(token))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: object) -> None:
        """Records the end and the tokens."""
        self._end_model(run_id, lambda call: call_records.end_call(call, response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the end of a failed call."""
        self._end_model(run_id, lambda call: call_records.fail_call(call, error))

    def on_tool_start(
        self,
        serialized: dict[str, object],
        input_str: str,
        *,
        run_id: UUID,
        inputs: dict[str, object] | None = None,
        metadata: dict[str, object] | None = None,
        tool_call_id: str | None = None,
        **_: object,
    ) -> None:
        """Records the start, the arguments and the decision of the gate."""
        name = format_text((serialized or {}).get("name", "tool"))
        args = plain_json(input_str if inputs is None else inputs)
        record = call_records.build_tool_record(name, args, metadata or {}, tool_call_id)
        with self._lock:
            self._tools[run_id] = time.monotonic(), record
        _note_start(run_id)
        if self._observer is not None:
            self._observer.emit_tool(ToolStarted, record)

    def on_tool_end(self, output: object, *, run_id: UUID, **_: object) -> None:
        """Records the result."""
        result, error = call_records.read_tool_output(output)
        self._end_tool(run_id, {"result": result, "error": error})

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the error."""
        effect = {"effect": "none"} if isinstance(error, NoEffectError) else {}
        self._end_tool(run_id, {"error": f"{type(error).__name__}: {format_text(error)}", **effect})

    def _end_model(
        self, run_id: UUID, end: Callable[[call_records.ModelCall], call_records.ModelCall]
    ) -> None:
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
        if self._observer is not None:
            self._observer.emit_tool(ToolEnded, ended)


_active: Final[ContextVar[UsageRecorder | None]] = ContextVar("orchestrator_usage_recorder", default=None)
_started: Final[ContextVar[list[UUID] | None]] = ContextVar("orchestrator_started_calls", default=None)
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


def collect_starts() -> list[UUID]:
    """Returns a list that gets the ids of the model and tool calls that start in this context from now on."""
    ids: list[UUID] = []
    _started.set(ids)
    return ids


def _note_start(run_id: UUID) -> None:
    if (ids := _started.get()) is not None:
        ids.append(run_id)
