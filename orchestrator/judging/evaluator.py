"""Evaluates one execution of a step, with the monitor or another judge as the judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from agents.monitoring import require_clean_approvals
from evaluation import JudgeError, JudgeRequest, JudgeTrust, build_evaluation_graph, find_trust
from evaluation.graph import EvaluationGraph
from evaluation.judges.call import aask_judge
from evaluation.plugins import AnyJudge
from evaluation.results.state import EvaluationState
from orchestrator.judging.agent_run import build_agent_run
from orchestrator.judging.contracts import PLAIN_CRITERIA, PlainContract
from orchestrator.judging.options import EvaluationOptions
from orchestrator.judging.own_checks import add_own_checks
from orchestrator.judging.report import Report, alerts_of
from orchestrator.judging.tool_effects import ToolEffects
from orchestrator.judging.verdict import read_verdict
from orchestrator.planning.outline import describe_task
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.nested_graphs import (
    NodeConfig,
    describe_execution,
    read_node_config,
    use_outer_node,
    without_inherited_durability,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import StepRecord, VerdictRecord
from orchestrator.state.usage import NO_USAGE, Usage, add_usage

_NO_OPTIONS: Final = EvaluationOptions()
_NO_TOOLS: Final = ToolEffects()
_NODES: Final = RunnableConfig(recursion_limit=25)
"""More than the graph has nodes: it would inherit the recursion limit of the run, which may be lower."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The report of one execution, and the judging behind it.

    Attributes:
        report: The evaluation report as plain JSON; empty until the evaluation ends.
        verdict: The monitor's own verdict, if it gave one.
        unjudged: Why the judge gave no verdict.
        error: A permanent error of the judge, which ends the run.
        usage: Usage of the judge.
        asked: Whether a judge was called.
        transport_retries: Retries of the judge after transient errors.
    """

    report: Report = field(default_factory=dict)
    verdict: VerdictRecord | None = None
    unjudged: str | None = None
    error: Raised | None = None
    usage: Usage = field(default_factory=lambda: NO_USAGE)
    asked: bool = False
    transport_retries: int = 0


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates executions.

    Attributes:
        monitor: Judges an output against an objective; also takes ``task``.
        judge: Judges in place of the monitor; None for the monitor.
        attempts: Most calls of the monitor while its answers cannot be read.
        options: What the evaluation uses besides the contract and the judge.
        tools: Which tools of the executor write and which only read.
        agent: The monitor or the judge itself; its ``identity`` names it, by which its figures are kept.
        graph: The evaluation graph, as drawings and listings show it.
    """

    monitor: AgentMethod[object]
    judge: AnyJudge | None
    attempts: int
    options: EvaluationOptions = _NO_OPTIONS
    tools: ToolEffects = _NO_TOOLS
    agent: object = None
    graph: EvaluationGraph = field(init=False)
    _unstored_graph: EvaluationGraph = field(init=False)

    def __post_init__(self) -> None:
        """Builds the graph, and the one that runs: it keeps no checkpoints, since it is cheap to start again.

        Raises:
            ContractError: A plug-in is not accepted.
        """
        object.__setattr__(self, "graph", build_evaluation_graph(_Judge(), **self.options.list_plugins()))
        # LangGraph does not list a graph that is compiled without checkpoints, hence the two.
        unstored = self.graph.copy({"checkpointer": False}).with_config(_NODES)
        object.__setattr__(self, "_unstored_graph", unstored)

    def find_trust(self) -> JudgeTrust | None:
        """Returns the figures of the judge; None if it was not measured, or has no identity."""
        name: object = getattr(self.agent, "identity", None)
        return find_trust(name) if isinstance(name, str) else None

    async def evaluate(
        self, state: OrchestratorState, record: StepRecord, contract: PlainContract, run: RunContext
    ) -> Evaluated:
        """Evaluate the latest execution of the current step.

        Raises:
            GraphInterrupt: The judge raised an interrupt that can be answered later.
        """
        judging = _Judging(self, record, run, state["usage"], describe_task(state))
        checked = add_own_checks(contract, state, record)
        recorded = {**build_agent_run(record, state["context"]), **self.tools.as_recorded(checked)}
        baseline = await self.options.find_baseline(state["task"], record["step"])
        compared = {} if baseline is None else {"baseline_metrics": baseline}
        case = {**compared, **self.tools.add_to(checked), "agent_run": recorded}
        # A context variable, because one compiled graph serves steps that run in parallel.
        token = _ask.set(judging.ask)
        try:
            final = await self._run(record, case)
        finally:
            _ask.reset(token)
        if judging.interrupt is not None:
            raise judging.interrupt
        return replace(judging.result, report=cast("Report", final["evaluation_report"]))

    async def _run(self, record: StepRecord, case: Mapping[str, object]) -> Mapping[str, object]:
        place = describe_execution(record["step_index"], record["attempt"])
        config = RunnableConfig(run_name=f"evaluate step {record['step_index'] + 1}", metadata=place)
        with without_inherited_durability():
            return await self._unstored_graph.ainvoke(cast("EvaluationState", case), config)


_ask: Final[ContextVar[Callable[[JudgeRequest], Awaitable[object]]]] = ContextVar("orchestrator_ask")


class _Judge:
    """The judge of the evaluation graph; asks the judge of the execution in the current context."""

    async def ajudge(self, request: JudgeRequest) -> object:
        return await _ask.get()(request)


@dataclass(slots=True)
class _Judging:
    """The calls of the judge for one execution, and their result."""

    evaluator: Evaluator
    record: StepRecord
    run: RunContext
    spent: Usage
    task: str
    place: NodeConfig = field(default_factory=read_node_config)
    result: Evaluated = field(default_factory=Evaluated)
    interrupt: GraphInterrupt | None = None

    async def ask(self, request: JudgeRequest) -> object:
        self.result = replace(self.result, asked=True)
        try:
            if self.evaluator.judge is not None:
                return await self._ask_judge(self.evaluator.judge, request)
            return await self._ask_monitor(request)
        except GraphInterrupt as interrupt:
            # The evaluation records what a judge raises, so the interrupt is kept for ``evaluate`` to raise.
            self.interrupt = interrupt
            raise JudgeError("the judge waits for an answer from a person") from interrupt

    async def _ask_judge(self, judge: AnyJudge, request: JudgeRequest) -> object:
        called = await self._call(lambda: aask_judge(judge, request))
        if isinstance(called, Returned):
            return called.value
        if called.kind is None and isinstance(called.error, JudgeError):
            self.result = replace(self.result, unjudged=str(called.error))
            raise called.error
        raise self._record_failure(called)

    async def _ask_monitor(self, request: JudgeRequest) -> object:
        objective, answer = objective_of(self.record["step"], request), None
        judge = partial(self.evaluator.monitor, task=self.task)
        for _ in range(self.evaluator.attempts):
            with require_clean_approvals():
                called = await self._call(judge, objective, self.record["result"])
            if isinstance(called, Raised):
                raise self._record_failure(called)
            answer = called.value
            if verdict := read_verdict(answer):
                self.result = replace(self.result, verdict=verdict)
                return _score_verdict(verdict, request)
        last = format_repr(answer, 300)
        problem = f"{self.evaluator.attempts} answers could not be read, the last: {last}"
        self.result = replace(self.result, unjudged=problem)
        raise JudgeError(problem, "malformed")

    async def _call(self, method: AgentMethod[object], *args: str) -> Returned[object] | Raised:
        with use_outer_node(self.place):
            called = await call_agent(
                method,
                *args,
                run=self.run,
                spent_before=add_usage(self.spent, self.result.usage),
                step_index=self.record["step_index"],
            )
        self.result = replace(
            self.result,
            usage=add_usage(self.result.usage, called.spent.usage),
            transport_retries=self.result.transport_retries + called.spent.transport_retries,
        )
        return called

    def _record_failure(self, called: Raised) -> JudgeError:
        error = None if called.transient else called
        self.result = replace(self.result, unjudged=called.message, error=error)
        return JudgeError(called.message)


def objective_of(step: str, request: JudgeRequest) -> str:
    """Return the text of the step with the further criteria of the contract."""
    criteria = [each for each in request.rubric.criteria if each.name not in PLAIN_CRITERIA]
    lines = [f"- {each.name}: {each.description}".removesuffix(": ") for each in criteria]
    parts = (
        step,
        request.rubric.instructions,
        "\n".join(["The result also has to meet each of these criteria:", *lines]) if lines else "",
        f"A good answer would be:\n{request.reference}" if request.reference is not None else "",
    )
    return "\n\n".join(part for part in parts if part)


def _score_verdict(verdict: VerdictRecord, request: JudgeRequest) -> dict[str, object]:
    """Convert success or failure to the highest or lowest score of the scale."""
    scale = request.rubric.scale
    rationale = verdict["feedback"]
    if not any(character.isalnum() for character in rationale):
        rationale = f"{'approved' if verdict['success'] else 'refused'} without a reason"
    return {"score": scale.max if verdict["success"] else scale.min, "rationale": rationale}


def is_refused_by_judge_alone(report: Report) -> bool:
    """Check that no deterministic check failed."""
    return all(alert["kind"] == "judge" for alert in alerts_of(report) if alert["severity"] == "critical")
