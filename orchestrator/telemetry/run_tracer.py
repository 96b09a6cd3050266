"""RunTracer: a hook and a callback handler that makes OpenTelemetry spans of runs."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Final, TypeAlias
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from agents.credentials.masking import mask_keys
from orchestrator.errors import ConfigurationError
from orchestrator.runtime import events
from orchestrator.state.plain_values import format_text, plain_json
from orchestrator.state.records import StepRecord, VerdictRecord

try:
    from opentelemetry._logs import get_logger
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Status, StatusCode, Tracer, get_tracer, set_span_in_context
    from opentelemetry.util.genai import types as genai
    from opentelemetry.util.genai.handler import TelemetryHandler
    from opentelemetry.util.genai.invocation import (
        InferenceInvocation,
        LocalAgentInvocation,
        ToolInvocation,
        WorkflowInvocation,
    )
except ModuleNotFoundError as error:
    raise ConfigurationError(
        f"traces need the package {error.name}; install plan-execute-monitor[otel]"
    ) from error

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

_AGENTS: Final = {"planner_node": "planner", "executor_node": "executor", "monitor_node": "monitor"}
_ROLES: Final = {"human": "user", "ai": "assistant"}


def find_place(metadata: Mapping[str, object]) -> Place:
    """Finds the agent that makes a call, and the execution if the metadata names it."""
    path = str(metadata.get("langgraph_checkpoint_ns", "")).split("|")
    nodes = [part.split(":")[0].removeprefix("branch_") for part in path]
    known = [_AGENTS[node] for node in nodes if node in _AGENTS]
    agent = known[-1] if known else nodes[0].removesuffix("_node")
    step, attempt = metadata.get("step_index"), metadata.get("attempt")
    is_executed = isinstance(step, int) and isinstance(attempt, int) and agent != "planner"
    return Place(step, attempt, agent) if is_executed else Place(agent=agent)  # type: ignore[arg-type]


def read_model(metadata: Mapping[str, object]) -> tuple[str, str | None]:
    """Returns the provider and the name of the model that is called, as LangChain states them."""
    name = metadata.get("ls_model_name")
    return str(metadata.get("ls_provider") or "unknown"), None if name is None else str(name)


def describe_input(messages: Sequence[BaseMessage]) -> list[genai.InputMessage]:
    """Describes the messages that a model gets."""
    return [genai.InputMessage(_ROLES.get(each.type, each.type), _list_parts(each)) for each in messages]


def add_response(call: InferenceInvocation, response: LLMResult) -> None:
    """Adds the reply, its tokens and its reason for ending to the span of a call."""
    generation = response.generations[0][0] if response.generations and response.generations[0] else None
    if not isinstance(generation, ChatGeneration) or not isinstance(generation.message, AIMessage):
        return
    message, details = generation.message, generation.message.response_metadata
    if usage := message.usage_metadata:
        call.input_tokens, call.output_tokens = usage["input_tokens"], usage["output_tokens"]
    if isinstance(name := details.get("model_name") or details.get("model"), str):
        call.response_model_name = name
    call.finish_reasons = [str(details.get("finish_reason") or details.get("done_reason") or "stop")]
    if call.should_capture_content:
        call.output_messages = [genai.OutputMessage("assistant", _list_parts(message), *call.finish_reasons)]


def _list_parts(message: BaseMessage) -> list[genai.MessagePart]:
    if message.type == "tool":
        return [genai.ToolCallResponsePart(message.text, getattr(message, "tool_call_id", None))]
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    asked = [genai.ToolCallRequestPart(call["args"], call["name"], call["id"]) for call in calls]
    return [*([genai.TextPart(message.text)] if message.text else []), *asked]


def _hide_text(call: InferenceInvocation | ToolInvocation, error: genai.Error) -> genai.Error:
    """Returns the error of a span with its type alone, since its text is content, unless that is captured."""
    return genai.Error(mask_keys(error.message or "") if call.should_capture_content else None, error.type)


Attributes: TypeAlias = Mapping[str, str | bool | int | float]
PREFIX: Final = "plan_execute_monitor"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something happens in a run.

    Attributes:
        step: Index of the step, from 0; None for the plan.
        attempt: Number of the execution, from 1; None for the step as a whole.
        agent: Name of the agent; None for the execution as a whole.
    """

    step: int | None = None
    attempt: int | None = None
    agent: str | None = None

    @property
    def parent(self) -> Place | None:
        """The place around this one; None if that is the run."""
        if self.agent is not None:
            return Place(self.step, self.attempt)
        return Place(self.step) if self.attempt is not None else None

    @property
    def name(self) -> str:
        """The name of the span."""
        if self.step is None:
            return "plan"
        return f"step {self.step + 1}" if self.attempt is None else f"attempt {self.attempt}"

    @property
    def attributes(self) -> Attributes:
        """The attributes of the span."""
        values = {"step_index": self.step, "attempt": self.attempt}
        return {f"{PREFIX}.{name}": value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class SpanTree:
    """Opens each span when something first happens in it, below the spans around it.

    Events and calls arrive on their own, so that either may be the first.

    Attributes:
        tracer: Makes the spans of the plan, the steps and the attempts.
        handler: Makes the spans of the agents.
        workflow: The span of the run.
        thread_id: Thread of the run.
        places: The places of earlier calls, by the execution of the graph's node that made them.
    """

    tracer: Tracer
    handler: TelemetryHandler
    workflow: WorkflowInvocation
    thread_id: str
    places: dict[str, Place] = field(default_factory=dict)
    _open: dict[Place, Span | LocalAgentInvocation] = field(default_factory=dict)

    def open(self, place: Place | None) -> Context:
        """Opens the span of a place unless it is open, and returns the context for what happens in it."""
        if place is None:
            return self.workflow.context
        if place not in self._open:
            self._open[place] = self._start(place, self.open(place.parent))
        span = self._open[place]
        return span.context if isinstance(span, LocalAgentInvocation) else set_span_in_context(span)

    def close(self, place: Place, attributes: Attributes | None = None, error: str | None = None) -> None:
        """Ends the span of a place with everything in it; does nothing if it is not open."""
        for inner in [each for each in self._open if each.parent == place]:
            self.close(inner)
        span = self._open.pop(place, None)
        if isinstance(span, LocalAgentInvocation):
            span.attributes.update(attributes or {})
            span.stop()
        elif span is not None:
            span.set_attributes(attributes or {})
            if error is not None:
                span.set_status(Status(StatusCode.ERROR, error))
            span.end()

    def close_all(self, attributes: Attributes, error: genai.Error | None = None) -> None:
        """Ends every span, and the workflow last."""
        for place in [*self._open]:
            self.close(place)
        self.workflow.attributes.update(attributes)
        if error is None:
            self.workflow.stop()
        else:
            self.workflow.fail(error)

    def _start(self, place: Place, context: Context) -> Span | LocalAgentInvocation:
        if place.agent is None:
            attributes = {**place.attributes, f"{PREFIX}.thread_id": self.thread_id}
            return self.tracer.start_span(place.name, context, attributes=attributes)
        agent = self.handler.invoke_local_agent(
            agent_name=place.agent, context=context, conversation_id=self.thread_id
        )
        agent.attributes.update(place.attributes)
        agent.suspend()  # what the caller does next is not part of the agent
        return agent


_SCOPE: Final = "plan-execute-monitor"
_ACCEPTED: Final = ("validated", "warning")
_LABELS: Final[Mapping[bool | None, str]] = {True: "passed", False: "failed", None: "undecided"}
_STOPPED: Final[Mapping[type[events.Event], str]] = {
    events.RunPaused: "waiting",
    events.RunInterrupted: "interrupted",
}


class RunTracer(BaseCallbackHandler):
    """Makes a trace of each run: workflow, plan, steps, attempts, agents, and calls of models and tools.

    Pass it as a hook, ``hooks=[RunTracer()]``; it then receives the calls of the agents, too. Spans of
    workflows, agents, models and tools follow OpenTelemetry's conventions for generative AI. Each verdict,
    and each of its checks, is an event ``gen_ai.evaluation.result`` whose parent is the span of the attempt.

    Args:
        tracer_provider: Makes the spans. Default: the global one, as for the other two.
        meter_provider: Makes the metrics of the calls of models.
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
        self._trees: dict[str, SpanTree] = {}
        self._calls: dict[UUID, InferenceInvocation | ToolInvocation] = {}
        self._lock = threading.RLock()

    def __call__(self, event: events.Event, /) -> None:
        """Opens and closes the spans of a run, its plan, its steps and their attempts."""
        with self._lock:
            if isinstance(event, events.RunStarted | events.RunResumed):
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
            call.fail(_hide_text(call, genai.Error.from_exception(error)))

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
            call.fail(_hide_text(call, genai.Error(text, "tool_error")))
        else:
            call.stop()

    on_tool_error = on_llm_error

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

    def _start_run(self, event: events.RunStarted | events.RunResumed) -> None:
        if (old := self._trees.pop(event.thread_id, None)) is not None:
            old.close_all({})
        workflow = self._handler.workflow("plan_execute_monitor", conversation_id=event.thread_id)
        workflow.suspend()
        is_resumed = isinstance(event, events.RunResumed)
        if workflow.should_capture_content:
            task = event.state["task"] if isinstance(event, events.RunResumed) else event.task
            workflow.input_messages = [genai.InputMessage("user", [genai.TextPart(task)])]
        workflow.attributes.update({f"{PREFIX}.thread_id": event.thread_id, f"{PREFIX}.resumed": is_resumed})
        self._trees[event.thread_id] = SpanTree(self._tracer, self._handler, workflow, event.thread_id)

    def _follow(self, tree: SpanTree, event: events.Event) -> None:
        match event:
            case events.Planned() | events.Replanned():
                tree.close(Place(agent="planner"), {f"{PREFIX}.plan.steps": len(event.plan)})
                tree.close(Place(), {f"{PREFIX}.plan.steps": len(event.plan)})
            case events.StepStarted():
                tree.open(Place(event.step_index, event.attempt))
            case events.StepExecuted():
                tree.close(Place(event.record["step_index"], event.record["attempt"], "executor"))
            case events.StepJudged():
                self._end_attempt(tree, event.record, event.verdict)
            case events.RunFinished() | events.RunPaused() | events.RunInterrupted():
                self._end_run(tree, event)
            case _:
                pass

    def _end_attempt(self, tree: SpanTree, record: StepRecord, verdict: VerdictRecord) -> None:
        place = Place(record["step_index"], record["attempt"])
        context = tree.open(place)
        self._emit_result(context, "monitor", record["status"], verdict["feedback"])
        for outcome in record["report"]["checks"] if record["report"] else ():
            self._emit_result(context, outcome["check"], _LABELS[outcome["passed"]], outcome["sentence"])
        is_accepted = record["status"] in _ACCEPTED
        basis = record.get("basis", "none") if is_accepted else "none"
        labels = {f"{PREFIX}.status": record["status"], f"{PREFIX}.basis": basis}
        tree.close(place, labels, None if is_accepted else record["status"])
        if is_accepted:
            tree.close(Place(record["step_index"]), labels)

    def _end_run(
        self, tree: SpanTree, event: events.RunFinished | events.RunPaused | events.RunInterrupted
    ) -> None:
        state = event.state
        status = _STOPPED.get(type(event), state["status"])
        basis = event.basis if isinstance(event, events.RunFinished) and event.basis else "none"
        labels = {f"{PREFIX}.status": status, f"{PREFIX}.basis": basis}
        evidence = getattr(event, "evidence", None) or {}
        known = {f"{PREFIX}.evidence.{part}": str(source) for part, source in evidence.items()}
        failure = state["failure"]
        error = None if failure is None or status != "failed" else genai.Error(None, failure["kind"])
        if tree.workflow.should_capture_content:
            tree.workflow.output_messages = [
                genai.OutputMessage("assistant", [genai.TextPart(state["output"] or "")], status)
            ]
        tree.close_all({**labels, **known}, error)
        del self._trees[event.thread_id]

    def _emit_result(self, context: Context, name: str, label: str, reason: str) -> None:
        attributes = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.label": label}
        if self._handler.should_capture_content() and reason:
            attributes["gen_ai.evaluation.explanation"] = reason
        self._logger.emit(context=context, event_name="gen_ai.evaluation.result", attributes=attributes)
