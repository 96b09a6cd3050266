"""The open spans of one run: the workflow, its plan and steps, their attempts, and the agents of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from opentelemetry.context import Context
from opentelemetry.trace import Span, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.genai.handler import TelemetryHandler
from opentelemetry.util.genai.invocation import LocalAgentInvocation, WorkflowInvocation
from opentelemetry.util.genai.types import Error

from orchestrator.state.usage import Usage

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
        before: The usage until the run was resumed.
        places: The places of earlier calls, by the execution of the graph's node that made them.
    """

    tracer: Tracer
    handler: TelemetryHandler
    workflow: WorkflowInvocation
    thread_id: str
    before: Usage
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

    def close_all(self, attributes: Attributes, error: Error | None = None) -> None:
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
