"""One execution in, its evaluation out: the evaluation graph, with the monitor as its judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from evaluation import JudgeError, JudgeRequest, build_evaluation_graph
from evaluation.graph import EvaluationGraph
from evaluation.judges.call import aask_judge
from evaluation.pipeline import arun_pipeline
from evaluation.plugins import AnyJudge, Plugins
from evaluation.results.state import EvaluationState
from orchestrator.judging.agent_run import agent_run
from orchestrator.judging.contracts import OBJECTIVE, PlainContract
from orchestrator.judging.verdict import read_verdict
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.nested_graphs import (
    NodeConfig,
    is_watched,
    read_node_config,
    use_node_config,
    without_inherited_durability,
)
from orchestrator.state.graph_state import NO_USAGE, Json, OrchestratorState, StepRecord, Usage, VerdictRecord
from orchestrator.state.plain_values import format_repr
from orchestrator.state.usage import add_usage

_PLAIN_CRITERIA: Final = frozenset({OBJECTIVE, "correctness"})
"""Criteria that ask nothing beyond the objective itself."""

Report = Mapping[str, Json]
_NODES: Final = RunnableConfig(recursion_limit=25)
"""More than the graph has nodes: the limit of a short run, which it would inherit, may be less."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An execution's report, and how it came about.

    Attributes:
        report: The evaluation report as plain JSON.
        verdict: The monitor's own word, where it was asked and gave one.
        unjudged: Why a judge that was asked gave no verdict.
        error: What ended the judging for good, so that the run ends.
        usage: Of the judging.
        asked: Whether a judge was asked.
        transport_retries: Calls of the judge that were made again after a passing fault.
    """

    report: Report
    verdict: VerdictRecord | None
    unjudged: str | None
    error: Raised | None
    usage: Usage
    asked: bool
    transport_retries: int


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates executions.

    Attributes:
        monitor: Judges an output against an objective.
        judge: Stands in for the monitor, where one is configured.
        attempts: How often the monitor is asked while its answers cannot be read.
        graph: The evaluation graph; it keeps no checkpoints. Where nobody watches, its nodes are called in
            turn without its engine, which takes ten times as long as they do; the report is the same.
    """

    monitor: AgentMethod[object]
    judge: AnyJudge | None
    attempts: int
    graph: EvaluationGraph = field(
        default_factory=lambda: build_evaluation_graph(_Judge(), checkpointer=False)
    )

    async def evaluate(
        self, state: OrchestratorState, record: StepRecord, contract: PlainContract, run: RunContext
    ) -> Evaluated:
        """Evaluate the latest execution of the current step.

        Raises:
            GraphInterrupt: The judge asked for an interrupt that can be answered later.
        """
        asking = _Asking(self, record, run, state["usage"])
        given = agent_run(record, state["context"], model=record["model"])
        token = _asking.set(asking.ask)
        try:
            ended = await self._ended({**contract, "agent_run": given})
        finally:
            _asking.reset(token)
        if asking.interrupt is not None:
            raise asking.interrupt
        report = cast("Report", ended["evaluation_report"])
        return Evaluated(
            report,
            asking.verdict,
            asking.unjudged,
            asking.error,
            asking.usage,
            asked=asking.asked,
            transport_retries=asking.transport_retries,
        )

    async def _ended(self, case: Mapping[str, object]) -> Mapping[str, object]:
        if not is_watched():
            return await arun_pipeline(case, _JUDGED)
        with without_inherited_durability():
            return await self.graph.ainvoke(cast("EvaluationState", case), _NODES)


_asking: Final[ContextVar[Callable[[JudgeRequest], Awaitable[object]]]] = ContextVar("orchestrator_asking")


class _Judge:
    """The evaluation graph's judge: whoever judges the execution that is evaluated in this context."""

    async def ajudge(self, request: JudgeRequest) -> object:
        return await _asking.get()(request)


_JUDGED: Final = Plugins(_Judge())


@dataclass(slots=True)
class _Asking:
    """One execution's judging: what was asked and what came of it."""

    evaluator: Evaluator
    record: StepRecord
    run: RunContext
    spent: Usage
    place: NodeConfig = field(default_factory=read_node_config)
    usage: Usage = field(default_factory=lambda: NO_USAGE)
    transport_retries: int = 0
    asked: bool = False
    verdict: VerdictRecord | None = None
    unjudged: str | None = None
    error: Raised | None = None
    interrupt: GraphInterrupt | None = None

    async def ask(self, request: JudgeRequest) -> object:
        self.asked = True
        try:
            if self.evaluator.judge is not None:
                return await self._ask_judge(self.evaluator.judge, request)
            return await self._ask_monitor(request)
        except GraphInterrupt as interrupt:
            self.interrupt = interrupt
            raise JudgeError("the judge waits for an answer") from interrupt

    async def _ask_judge(self, judge: AnyJudge, request: JudgeRequest) -> object:
        called = await self._call(lambda: aask_judge(judge, request))
        if isinstance(called, Returned):
            return called.value
        if called.kind is None and isinstance(called.error, JudgeError):
            self.unjudged = str(called.error)
            raise called.error
        raise self._failed(called)

    async def _ask_monitor(self, request: JudgeRequest) -> object:
        objective, answer = objective_of(self.record["step"], request), None
        for _ in range(self.evaluator.attempts):
            called = await self._call(self.evaluator.monitor, objective, self.record["result"])
            if isinstance(called, Raised):
                raise self._failed(called)
            answer = called.value
            if verdict := read_verdict(answer):
                self.verdict = verdict
                return _scored(verdict, request)
        last = format_repr(answer, 300)
        self.unjudged = f"{self.evaluator.attempts} answers could not be read, the last: {last}"
        raise JudgeError(self.unjudged, "malformed")

    async def _call(self, method: AgentMethod[object], *args: str) -> Returned[object] | Raised:
        with use_node_config(self.place):
            called = await call_agent(
                method,
                *args,
                run=self.run,
                spent_before=add_usage(self.spent, self.usage),
                step_index=self.record["step_index"],
            )
        self.usage = add_usage(self.usage, called.spent.usage)
        self.transport_retries += called.spent.transport_retries
        return called

    def _failed(self, called: Raised) -> JudgeError:
        self.unjudged = called.message
        self.error = None if called.transient else called
        return JudgeError(called.message)


def objective_of(step: str, request: JudgeRequest) -> str:
    """The step's text, and what else the contract wants judged."""
    criteria = [one for one in request.rubric.criteria if one.name not in _PLAIN_CRITERIA]
    parts = [step]
    if request.rubric.instructions:
        parts.append(request.rubric.instructions)
    if criteria:
        wanted = [
            f"- {one.name}: {one.description}" if one.description else f"- {one.name}" for one in criteria
        ]
        parts.append("\n".join(["It has to be good by each of these criteria:", *wanted]))
    if request.reference is not None:
        parts.append(f"A good answer would be:\n{request.reference}")
    return "\n\n".join(parts)


def _scored(verdict: VerdictRecord, request: JudgeRequest) -> dict[str, object]:
    """The monitor's yes or no at the ends of the rubric's scale."""
    scale = request.rubric.scale
    rationale = verdict["feedback"]
    if not any(character.isalnum() for character in rationale):
        rationale = f"{'approved' if verdict['success'] else 'refused'} without a reason"
    return {"score": scale.max if verdict["success"] else scale.min, "rationale": rationale}


def refused_by_the_judge_alone(report: Report) -> bool:
    """Whether no deterministic check failed."""
    alerts = cast("Sequence[Mapping[str, Json]]", report["alerts"])
    return all(alert["kind"] == "judge" for alert in alerts if alert["severity"] == "critical")
