"""Records the model and tool calls of an agent, from the callbacks of LangChain."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID, uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGenerationChunk, GenerationChunk, LLMResult

from agents.errors import CallHaltedError, NoEffectError
from orchestrator.errors import BudgetExceededError
from orchestrator.runtime.budget import ModelPrice
from orchestrator.runtime.recording.call_observer import CallObserver
from orchestrator.runtime.recording.model_usage import (
    ModelCall,
    ReplyEnd,
    read_end,
    read_error_end,
    read_error_tokens,
    read_tokens,
    sum_calls,
)
from orchestrator.runtime.recording.recorded_calls import (
    RecordedCalls,
    build_tool_record,
    export_call,
    note_start,
    read_tool_output,
    restore_call,
)
from orchestrator.state.plain_values import format_text, plain_json
from orchestrator.state.records import ToolCallRecord
from orchestrator.state.usage import Usage

Gate = Callable[[Usage, int], None]
"""Takes the usage of the ended calls and the number of running ones. Raises to refuse the next call."""


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
        gate: Gate,
        prices: Mapping[str, ModelPrice],
        lock: threading.Lock,
        observer: CallObserver | None = None,
    ) -> None:
        self.refused: BudgetExceededError | None = None
        self.halted: CallHaltedError | None = None
        self.starts = 0
        self._gate = gate
        self._prices = prices
        self._observer = observer
        self._models: dict[UUID, ModelCall] = {}
        self._tools: dict[UUID, tuple[float, ToolCallRecord]] = {}
        self._lock = lock
        self._started = time.monotonic()

    @property
    def called_tools(self) -> bool:
        """Checks whether a tool was started, so that another call of the agent could repeat its effect."""
        return bool(self._tools)

    def sum_usage(self) -> Usage:
        """Sums the usage so far. The latency is the time since the recorder was created."""
        with self._lock:
            calls = list(self._models.values())
        return sum_calls(calls, self._prices, _milliseconds_since(self._started))

    def sum_ended_calls(self) -> tuple[Usage, int]:
        """Sums the usage of the ended calls, and counts the running ones. The caller holds the lock."""
        ended = [call for call in self._models.values() if not call.is_running]
        return sum_calls(ended, self._prices, 0.0), len(self._models) - len(ended)

    def list_models(self) -> str | None:
        """Lists the models that were called, separated by commas; None if no model was called."""
        with self._lock:
            names = dict.fromkeys(call.model for call in self._models.values())
        return ", ".join(names) or None

    def find_cut_off(self, output: str) -> str | None:
        """Finds out why the reply that became the output was cut off; None if it was not.

        An agent may ask more after it wrote its output. If no reply is the output, the last one decides.
        """
        with self._lock:
            ends = [call.end for call in reversed(self._models.values())]
        return next((end for end in ends if end.is_end_of(output)), ends[0] if ends else ReplyEnd()).cut_off

    def list_tool_calls(self) -> list[ToolCallRecord]:
        """Lists the tool calls so far, in the order of their starts."""
        with self._lock:
            return [record for _, record in self._tools.values()]

    def export_calls(self, ids: Sequence[UUID]) -> RecordedCalls:
        """Returns the calls with these ids, in the order of their starts, as a store can hold them."""
        with self._lock:
            models = [self._models[call] for call in ids if call in self._models]
            tools = [self._tools[call][1] for call in ids if call in self._tools]
        return RecordedCalls(models=[export_call(call) for call in models], tools=tools)

    def restore_calls(self, calls: RecordedCalls) -> None:
        """Records calls that were made before the run was interrupted."""
        with self._lock:
            self._models.update((uuid4(), restore_call(call)) for call in calls["models"])
            self._tools.update((uuid4(), (self._started, call)) for call in calls["tools"])

    def on_chat_model_start(
        self,
        serialized: dict[str, object],
        messages: list[list[BaseMessage]],  # noqa: ARG002 - named by LangChain
        *,
        run_id: UUID,
        metadata: dict[str, object] | None = None,
        **_: object,
    ) -> None:
        """Asks the gate, then records the start."""
        self.on_llm_start(serialized, [], run_id=run_id, metadata=metadata)

    def on_llm_start(
        self,
        serialized: dict[str, object],
        prompts: list[str],  # noqa: ARG002 - named by LangChain
        *,
        run_id: UUID,
        metadata: dict[str, object] | None = None,
        **_: object,
    ) -> None:
        """Does the same for a model of plain text."""
        name = (metadata or {}).get("ls_model_name") or (serialized or {}).get("name") or "unknown"
        # The lock covers the gate as well: calls that start together must count each other.
        if self.halted is not None:
            raise self.halted
        with self._lock:
            try:
                self._gate(*self.sum_ended_calls())
            except BudgetExceededError as error:
                self.refused = error
                raise
            self._models[run_id] = ModelCall(format_text(name))
        note_start(run_id)

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
        self._end_model(run_id, read_tokens(response), failed=False, end=read_end(response))

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the end of a failed call."""
        # OpenAI's client raises a reply that reached the token limit; its tokens are paid for.
        tokens = read_error_tokens(error)
        self._end_model(run_id, tokens, failed=tokens is None, end=read_error_end(error))

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
        record = build_tool_record(name, args, metadata or {}, tool_call_id)
        with self._lock:
            self._tools[run_id] = time.monotonic(), record
        note_start(run_id)
        if self._observer is not None:
            self._observer.emit_tool_start(record)

    def on_tool_end(self, output: object, *, run_id: UUID, **_: object) -> None:
        """Records the result."""
        self._end_tool(run_id, *read_tool_output(output))

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Records the error."""
        has_none = isinstance(error, NoEffectError)
        self._end_tool(run_id, None, f"{type(error).__name__}: {format_text(error)}", has_effect=not has_none)

    def _end_model(self, run_id: UUID, tokens: UsageMetadata | None, *, failed: bool, end: ReplyEnd) -> None:
        with self._lock:
            if (call := self._models.get(run_id)) is not None:
                call.is_running, call.tokens, call.failed, call.end = False, tokens, failed, end

    def _end_tool(
        self, run_id: UUID, result: str | None, error: str | None, *, has_effect: bool = True
    ) -> None:
        with self._lock:
            if run_id not in self._tools:
                return
            started, record = self._tools[run_id]
            latency = round(_milliseconds_since(started), 3)
            ended: ToolCallRecord = {**record, "result": result, "error": error, "latency_ms": latency}
            if not has_effect:
                ended["effect"] = "none"
            self._tools[run_id] = started, ended
        if self._observer is not None:
            self._observer.emit_tool_end(ended)


def _milliseconds_since(started: float) -> float:
    return 1000 * (time.monotonic() - started)
