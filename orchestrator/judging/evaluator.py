"""Evaluates one execution of a step, with the monitor or another judge as the judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from agents.calls.caller_config import read_config
from agents.monitoring import require_clean_approvals
from evaluation import (
    CheckContext,
    CheckOutcome,
    JudgeError,
    JudgeRequest,
    JudgeTrust,
    build_evaluation_graph,
    find_trust,
)
from evaluation.checks.custom import CustomCheck
from evaluation.graph import EvaluationGraph
from evaluation.judges.judge_call import aask_judge
from evaluation.plugins import AnyJudge, PluginOptions
from orchestrator.judging.agent_run import add_own_checks, build_agent_run, build_whole_run
from orchestrator.judging.contracts import Demand
from orchestrator.judging.evidence import ACCEPTING
from orchestrator.judging.grounding import list_sources, refuse_unsourced
from orchestrator.judging.options import EvaluationOptions
from orchestrator.judging.report import Report
from orchestrator.judging.tools.effects import ToolEffects
from orchestrator.judging.verdict import objective_of, read_verdict, score_verdict
from orchestrator.planning.outline import describe_task
from orchestrator.runtime.agent_methods import AgentMethod
from orchestrator.runtime.call import Raised, Returned, call_agent
from orchestrator.runtime.context import RunContext
from orchestrator.runtime.langgraph_internals import without_durability
from orchestrator.runtime.nested_graphs import build_outer_config, describe_execution
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Grounding, StepRecord, VerdictRecord
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
        error: A permanent error of the judge, or a limit of the run that a check met; it ends the run.
        usage: Usage of the judge, and of models that checks call.
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

    def add_calls(self, other: Evaluated) -> Evaluated:
        """Return this evaluation with the calls of another one."""
        return replace(
            self,
            usage=add_usage(other.usage, self.usage),
            asked=self.asked or other.asked,
            transport_retries=other.transport_retries + self.transport_retries,
        )


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
        grounding: What follows if a fact of an output has no source.
        graph: The evaluation graph, as drawings and listings show it.
    """

    monitor: AgentMethod[object]
    judge: AnyJudge | None
    attempts: int
    options: EvaluationOptions = _NO_OPTIONS
    tools: ToolEffects = _NO_TOOLS
    agent: object = None
    grounding: Grounding = "off"
    graph: EvaluationGraph = field(init=False)
    _unstored_graph: EvaluationGraph = field(init=False)

    def __post_init__(self) -> None:
        """Builds the graph, and the one that runs: it keeps no checkpoints, since it is cheap to start again.

        Raises:
            ContractError: A plug-in is not accepted.
        """
        plugins: PluginOptions = {**self.options.list_plugins(), "call_check": _call_check}
        graph = build_evaluation_graph(_Judge(), **plugins)
        object.__setattr__(self, "graph", graph)
        # LangGraph does not list a graph that is compiled without checkpoints, hence the two.
        unstored = self.graph.copy({"checkpointer": False}).with_config(_NODES)
        object.__setattr__(self, "_unstored_graph", unstored)

    async def find_trust(self) -> JudgeTrust | None:
        """Returns the figures of the judge; None if it was not measured, or has no identity."""
        # In a thread: both the identity of a model and its figures are read from files.
        return await asyncio.to_thread(_find_trust, self.agent)

    async def evaluate_all(
        self, state: OrchestratorState, record: StepRecord, demands: Sequence[Demand], run: RunContext
    ) -> tuple[Demand, Evaluated]:
        """Evaluate the latest execution of the current step; after a refusal, no further demand is evaluated.

        Returns:
            The demand that was evaluated last, and its evaluation with the calls of all.

        Raises:
            GraphInterrupt: The judge raised an interrupt that can be answered later.
        """
        demand, evaluated = demands[0], await self.evaluate(state, record, demands[0], run)
        for demand in demands[1:]:
            if evaluated.report["status"] not in ACCEPTING:
                break
            usage = add_usage(state["usage"], evaluated.usage)
            last = await self.evaluate({**state, "usage": usage}, record, demand, run)
            evaluated = last.add_calls(evaluated)
        return demand, evaluated

    async def evaluate(
        self, state: OrchestratorState, record: StepRecord, demand: Demand, run: RunContext
    ) -> Evaluated:
        """Evaluate the latest execution of the current step against one demand.

        Raises:
            GraphInterrupt: The judge raised an interrupt that can be answered later.
        """
        judging = _Judging(self, record, run, state["usage"], describe_task(state))
        own = add_own_checks(demand.contract, state, record)
        checked = refuse_unsourced(own, state, record, self.grounding, self.tools.names)
        built = build_whole_run(state, record) if demand.is_run else build_agent_run(record, state["context"])
        given = {} if checked is own else {"sources": list_sources(state)}
        recorded = {**built, **given, **self.tools.as_recorded(checked)}
        baseline = await self.options.find_baseline(state["task"], record["step"])
        compared = {} if baseline is None else {"baseline_metrics": baseline}
        case = {**compared, **self.tools.add_to(checked), "agent_run": recorded}
        # A context variable, because one compiled graph serves steps that run in parallel.
        token = _current.set(judging)
        try:
            final = await self._run(record, case)
        finally:
            _current.reset(token)
        if judging.interrupt is not None:
            raise judging.interrupt
        return replace(judging.result, report=cast("Report", final["evaluation_report"]))

    async def _run(self, record: StepRecord, case: Mapping[str, object]) -> Mapping[str, object]:
        place = describe_execution(record["step_index"], record["attempt"])
        named = RunnableConfig(run_name=f"evaluate step {record['step_index'] + 1}", metadata=place)
        config = without_durability(RunnableConfig(**{**read_config(), **named}))
        return await self._unstored_graph.ainvoke({**case}, config)


def _find_trust(agent: object) -> JudgeTrust | None:
    name: object = getattr(agent, "identity", None)
    return find_trust(name) if isinstance(name, str) else None


_current: Final[ContextVar[_Judging]] = ContextVar("orchestrator_judging")


class _Judge:
    """The judge of the evaluation graph; asks the judge of the execution in the current context."""

    async def ajudge(self, request: JudgeRequest) -> object:
        return await _current.get().ask(request)


async def _call_check(check: CustomCheck, context: CheckContext) -> CheckOutcome:
    return await _current.get().run_check(check, context)


@dataclass(slots=True)
class _Judging:
    """The calls of the judge and of the user's checks for one execution, and their result."""

    evaluator: Evaluator
    record: StepRecord
    run: RunContext
    spent: Usage
    task: str
    place: RunnableConfig = field(default_factory=read_config)
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

    async def run_check(self, check: CustomCheck, context: CheckContext) -> CheckOutcome:
        called = await self._call(lambda: check.aevaluate(context))
        if isinstance(called, Returned):
            return cast("CheckOutcome", called.value)
        # The run ends by this error: it was cancelled, or its time or budget is over.
        self.result = replace(self.result, error=called)
        return check.fail_with_error(called.message)

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
                return score_verdict(verdict, request)
        last = format_repr(answer, 300)
        problem = f"{self.evaluator.attempts} answers could not be read, the last: {last}"
        self.result = replace(self.result, unjudged=problem)
        raise JudgeError(problem, "malformed")

    async def _call(self, method: AgentMethod[object], *args: str) -> Returned[object] | Raised:
        called = await call_agent(
            method,
            *args,
            run=self.run,
            spent_before=add_usage(self.spent, self.result.usage),
            step_index=self.record["step_index"],
            config=build_outer_config(self.place),
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
