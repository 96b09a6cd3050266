"""Evaluates one execution of a step, with the monitor or another judge as the judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Final, cast

from langchain_core.runnables import RunnableConfig

from agents.calls.journal import read_config
from evaluation import (
    CheckContext,
    CheckOutcome,
    JudgeRequest,
    JudgeTrust,
    build_evaluation_graph,
    find_trust,
)
from evaluation.checks.contract_checks import read_contract_checks
from evaluation.checks.custom import CustomCheck
from evaluation.checks.kinds.tools import ProbeCheck, SourcedFacts
from evaluation.graph import EvaluationGraph
from orchestrator.judging.agent_run import add_own_checks, build_agent_run, build_whole_run
from orchestrator.judging.contract_choice import Demand
from orchestrator.judging.evaluation_options import EvaluationOptions
from orchestrator.judging.evidence import ACCEPTING
from orchestrator.judging.judging_calls import Evaluated, Judges, JudgingCalls
from orchestrator.judging.plain_contracts import list_checks
from orchestrator.judging.tools.executor_tools import ExecutorTools
from orchestrator.judging.tools.grounding import list_sources, refuse_unsourced
from orchestrator.judging.verification import Verifier
from orchestrator.runtime.langgraph_internals import without_durability
from orchestrator.runtime.run_context import RunContext
from orchestrator.state.current_step import describe_task
from orchestrator.state.evaluation_report import Report
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Grounding, StepRecord

_NODES: Final = RunnableConfig(recursion_limit=25)
"""More than the graph has nodes: it would inherit the recursion limit of the run, which may be lower."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates executions.

    Attributes:
        judges: Who decides: the monitor or another judge, and the tools that checks ask.
        options: Further inputs of the evaluation.
        tools: Which tools of the executor write and which only read.
        agent: The monitor or the judge itself; its ``identity`` names it, by which its figures are kept.
        grounding: The effect of a fact of an output that has no source.
        verifier: Verifies final outputs that no check proves; None for the figures of the judge.
        graph: The evaluation graph, as drawings and listings show it.
    """

    judges: Judges
    options: EvaluationOptions
    tools: ExecutorTools
    agent: object
    grounding: Grounding
    verifier: Verifier | None
    graph: EvaluationGraph = field(init=False)
    _unstored_graph: EvaluationGraph = field(init=False)

    def __post_init__(self) -> None:
        """Builds the graph, and the one that runs: it keeps no checkpoints, since it is cheap to start again.

        Raises:
            ContractError: A plug-in is not accepted.
        """
        graph = build_evaluation_graph(
            _Judge(),
            prices=self.options.prices,
            recognizers=self.options.recognizers,
            named_checks=self.options.named_checks,
            call_check=_call_check,
        )
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
            last = await self.evaluate(state, record, demand, run)
            evaluated = last.add_calls(evaluated)
        return demand, evaluated

    async def evaluate(
        self, state: OrchestratorState, record: StepRecord, demand: Demand, run: RunContext
    ) -> Evaluated:
        """Evaluate the latest execution of the current step against one demand.

        Raises:
            GraphInterrupt: The judge raised an interrupt that can be answered later.
        """
        judging = JudgingCalls(self.judges, record, run, describe_task(state))
        own = add_own_checks(demand.contract, state, record)
        acting = self.tools.tools.keys() - {*self.tools.reading}
        checked = refuse_unsourced(own, state, record, self.grounding, sorted(acting))
        built = build_whole_run(state, record) if demand.is_run else build_agent_run(record, state["context"])
        stated = read_contract_checks(list_checks(checked))
        # A whole run has its own sources, so that the recorded one is judged alike.
        is_sourced = checked is not own or not demand.is_run
        is_sourced = is_sourced and any(isinstance(each, SourcedFacts) for each in stated)
        given: dict[str, object] = {"sources": list_sources(state)} if is_sourced else {}
        if probes := [await judging.probe(asked) for asked in stated if isinstance(asked, ProbeCheck)]:
            given = {**given, "probes": probes}
        case = {**self.tools.add_to(checked), "agent_run": {**built, **given}}
        # A context variable, because one compiled graph serves steps that run in parallel.
        token = _current.set(judging)
        try:
            final = await self._run(record, case)
        finally:
            _current.reset(token)
        if judging.interrupt is not None:
            raise judging.interrupt
        report = cast("Report", final["evaluation_report"])
        return replace(judging.result, report=report, probes=tuple(probes))

    async def _run(self, record: StepRecord, case: Mapping[str, object]) -> Mapping[str, object]:
        place = {"step_index": record["step_index"], "attempt": record["attempt"]}
        named = RunnableConfig(run_name=f"evaluate step {record['step_index'] + 1}", metadata=place)
        config = without_durability(RunnableConfig(**{**read_config(), **named}))
        return await self._unstored_graph.ainvoke({**case}, config)


def _find_trust(agent: object) -> JudgeTrust | None:
    name: object = getattr(agent, "identity", None)
    return find_trust(name) if isinstance(name, str) else None


_current: Final[ContextVar[JudgingCalls]] = ContextVar("orchestrator_judging")


class _Judge:
    """The judge of the evaluation graph; asks the judge of the execution in the current context."""

    async def ajudge(self, request: JudgeRequest) -> object:
        return await _current.get().ask(request)


async def _call_check(check: CustomCheck, context: CheckContext) -> CheckOutcome:
    return await _current.get().run_check(check, context)
