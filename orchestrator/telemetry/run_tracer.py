"""RunTracer: a hook and a callback handler that makes OpenTelemetry spans of runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from importlib.metadata import version
from typing import TYPE_CHECKING, Final
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from orchestrator.errors import ConfigurationError
from orchestrator.runtime.events import (
    Event,
    Planned,
    Replanned,
    RunFinished,
    RunInterrupted,
    RunPaused,
    RunResumed,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepRetried,
    StepStarted,
)
from orchestrator.state.plain_values import format_text, plain_json
from orchestrator.state.records import StepRecord, VerdictRecord
from orchestrator.state.usage import NO_USAGE

try:
    from opentelemetry._logs import get_logger
    from opentelemetry.context import Context
    from opentelemetry.metrics import get_meter
    from opentelemetry.trace import get_tracer
    from opentelemetry.util.genai.handler import TelemetryHandler
    from opentelemetry.util.genai.invocation import InferenceInvocation, ToolInvocation
    from opentelemetry.util.genai.types import Error, InputMessage, OutputMessage, TextPart

    from orchestrator.telemetry.call_spans import add_response, describe_input, find_place, read_model
    from orchestrator.telemetry.run_metrics import RunMetrics
    from orchestrator.telemetry.span_tree import PREFIX, Place, SpanTree
except ModuleNotFoundError as error:
    raise ConfigurationError(
        f"traces need the package {error.name}; install plan-execute-monitor[otel]"
    ) from error

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

_SCOPE: Final = "plan-execute-monitor"
_ACCEPTED: Final = ("validated", "warning")
_LABELS: Final[Mapping[bool | None, str]] = {True: "passed", False: "failed", None: "undecided"}
_STOPPED: Final[Mapping[type[Event], str]] = {RunPaused: "waiting", RunInterrupted: "interrupted"}


class RunTracer(BaseCallbackHandler):
    """Makes a trace of each run: workflow, plan, steps, attempts, agents, and calls of models and tools.

    Pass it as a hook, ``hooks=[RunTracer()]``; it then receives the calls of the agents, too. Spans of
    workflows, agents, models and tools follow OpenTelemetry's conventions for generative AI. Each verdict,
    and each of its checks, is an event ``gen_ai.evaluation.result`` whose parent is the span of the attempt.

    Args:
        tracer_provider: Makes the spans. Default: the global one, as for the other two.
        meter_provider: Makes the metrics.
        logger_provider: Makes the events.

    Texts of users, models and tools are recorded only if the environment variable
    ``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` asks for them.
    """

    # In the order in which they happen, and without a thread for each.
    run_inline = True
    ignore_chain = True
    ignore_retriever = True

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        logger_provider: LoggerProvider | None = None,
    ) -> None:
        number = version(_SCOPE)
        self._handler = TelemetryHandler(
            tracer_provider, meter_provider, logger_provider, None, _SCOPE, number
        )
        self._tracer = get_tracer(_SCOPE, number, tracer_provider)
        self._logger = get_logger(_SCOPE, number, logger_provider)
        self._metrics = RunMetrics(get_meter(_SCOPE, number, meter_provider))
        self._trees: dict[str, SpanTree] = {}
        self._calls: dict[UUID, InferenceInvocation | ToolInvocation] = {}
        self._lock = threading.RLock()

    def __call__(self, event: Event, /) -> None:
        """Opens and closes the spans of a run, its plan, its steps and their attempts."""
        with self._lock:
            if isinstance(event, RunStarted | RunResumed):
                self._start_run(event)
            elif (tree := self._trees.get(event.thread_id)) is not None:
                self._follow(tree, event)

    def on_chat_model_start(
        self,
        serialized: dict[str, object],  # noqa: ARG002 - LangChain passes it by its place
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, object] | None = None,
        **_: object,
    ) -> None:
        """Starts the span of a model call."""
        with self._lock:
            if (context := self._open_place(metadata or {})) is None:
                return
            provider, name = read_model(metadata or {})
            call = self._handler.inference(provider, request_model=name, context=context)
            call.suspend()
            if call.should_capture_content:
                call.input_messages = describe_input([each for batch in messages for each in batch])
            self._calls[run_id] = call

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: object) -> None:
        """Ends the span of a model call with its tokens."""
        if isinstance(call := self._calls.pop(run_id, None), InferenceInvocation):
            add_response(call, response)
            call.stop()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Ends the span of a call that failed."""
        if (call := self._calls.pop(run_id, None)) is not None:
            call.fail(error)

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
        """Starts the span of a tool call."""
        with self._lock:
            if (context := self._open_place(metadata or {})) is None:
                return
            name = format_text((serialized or {}).get("name", "tool"))
            call = self._handler.tool(name, tool_type="function", context=context)
            call.suspend()
            call.tool_call_id = tool_call_id
            if call.should_capture_content:
                call.arguments = plain_json(input_str if inputs is None else inputs)
            self._calls[run_id] = call

    def on_tool_end(self, output: object, *, run_id: UUID, **_: object) -> None:
        """Ends the span of a tool call; a message with the status "error" is an error."""
        if not isinstance(call := self._calls.pop(run_id, None), ToolInvocation):
            return
        text = format_text(getattr(output, "content", output))
        if call.should_capture_content:
            call.tool_result = text
        if getattr(output, "status", None) == "error":
            call.fail(Error(text if call.should_capture_content else None, "tool_error"))
        else:
            call.stop()

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **_: object) -> None:
        """Ends the span of a tool call that raised."""
        self.on_llm_error(error, run_id=run_id)

    def _open_place(self, metadata: Mapping[str, object]) -> Context | None:
        """Returns the context of a call; None if no run with this hook makes it."""
        tree = self._trees.get(str(metadata.get("thread_id")))
        if tree is None:
            return None
        place, node = find_place(metadata), str(metadata.get("langgraph_checkpoint_ns"))
        # A tool does not know the step; the model that asked for it did, in the same execution of the node.
        place = tree.places.get(node, place) if place.step is None else place
        tree.places[node] = place
        return tree.open(place)

    def _start_run(self, event: RunStarted | RunResumed) -> None:
        if (old := self._trees.pop(event.thread_id, None)) is not None:
            old.close_all({})
        workflow = self._handler.workflow("plan_execute_monitor", conversation_id=event.thread_id)
        workflow.suspend()
        is_resumed = isinstance(event, RunResumed)
        before = event.state["usage"] if isinstance(event, RunResumed) else NO_USAGE
        if workflow.should_capture_content:
            task = event.state["task"] if isinstance(event, RunResumed) else event.task
            workflow.input_messages = [InputMessage("user", [TextPart(task)])]
        workflow.attributes.update({f"{PREFIX}.thread_id": event.thread_id, f"{PREFIX}.resumed": is_resumed})
        self._trees[event.thread_id] = SpanTree(
            self._tracer, self._handler, workflow, event.thread_id, before
        )

    def _follow(self, tree: SpanTree, event: Event) -> None:
        match event:
            case Planned() | Replanned():
                tree.close(Place(agent="planner"), {f"{PREFIX}.plan.steps": len(event.plan)})
                tree.close(Place(), {f"{PREFIX}.plan.steps": len(event.plan)})
            case StepStarted():
                tree.open(Place(event.step_index, event.attempt))
            case StepExecuted():
                tree.close(Place(event.record["step_index"], event.record["attempt"], "executor"))
            case StepJudged():
                self._end_attempt(tree, event.record, event.verdict)
            case StepRetried():
                self._metrics.count_retry("feedback" if event.decision is None else event.decision["use"])
            case RunFinished() | RunPaused() | RunInterrupted():
                self._end_run(tree, event)
            case _:
                pass

    def _end_attempt(self, tree: SpanTree, record: StepRecord, verdict: VerdictRecord) -> None:
        place = Place(record["step_index"], record["attempt"])
        context = tree.open(place)
        self._emit_result(context, "monitor", record["status"], verdict["feedback"])
        for outcome in record["report"]["checks"] if record["report"] else ():
            label = _LABELS[outcome["passed"]]
            self._emit_result(context, outcome["check"], label, outcome["sentence"])
        is_accepted = record["status"] in _ACCEPTED
        basis = record.get("basis", "none") if is_accepted else "none"
        labels = {f"{PREFIX}.status": record["status"], f"{PREFIX}.basis": basis}
        self._metrics.count_attempt(record["model"], labels, is_accepted=is_accepted)
        tree.close(place, labels, None if is_accepted else record["status"])
        if is_accepted:
            tree.close(Place(record["step_index"]), labels)

    def _end_run(self, tree: SpanTree, event: RunFinished | RunPaused | RunInterrupted) -> None:
        state = event.state
        status = _STOPPED.get(type(event), state["status"])
        basis = event.basis if isinstance(event, RunFinished) and event.basis else "none"
        labels = {f"{PREFIX}.status": status, f"{PREFIX}.basis": basis}
        evidence = event.evidence if isinstance(event, RunFinished) else None
        known = {f"{PREFIX}.evidence.{part}": str(source) for part, source in (evidence or {}).items()}
        failure = state["failure"]
        error = None if failure is None or status != "failed" else Error(None, failure["kind"])
        if tree.workflow.should_capture_content:
            tree.workflow.output_messages = [
                OutputMessage("assistant", [TextPart(state["output"] or "")], status)
            ]
        tree.close_all({**labels, **known}, error)
        del self._trees[event.thread_id]
        self._metrics.count_run(state, tree.before, labels)

    def _emit_result(self, context: Context, name: str, label: str, reason: str) -> None:
        attributes = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label}
        if self._handler.should_capture_content() and reason:
            attributes["gen_ai.evaluation.explanation"] = reason
        self._logger.emit(context=context, event_name="gen_ai.evaluation.result", attributes=attributes)
