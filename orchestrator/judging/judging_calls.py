"""The calls behind one evaluation: of the judge, and of the user's checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from agents.loop.langgraph_internals import build_outer_config, read_config
from agents.parsing.verdicts import find_denial
from agents.reply_types import UNREADABLE_PREFIX
from evaluation import CheckContext, CheckOutcome, JudgeError, JudgeRequest
from evaluation.checks.contract_checks import FunctionCheck
from evaluation.judges.judge_call import aask_judge
from evaluation.judges.model_judge import describe_evidence
from evaluation.plugins import AnyJudge
from orchestrator.judging.evidence import is_plain
from orchestrator.planning.plan import describe_task
from orchestrator.runtime.bounded_call import AgentMethod, Raised, Returned, RunContext, call_agent
from orchestrator.state.graph_state import OrchestratorState, add_usage
from orchestrator.state.plain_values import format_repr, read_text
from orchestrator.state.records import (
    NO_USAGE,
    Attempt,
    Report,
    Usage,
    VerdictRecord,
)

MAX_EVIDENCE: Final = 4000
"""Most characters of the evidence that the monitor sees."""


@dataclass(frozen=True, slots=True)
class Judges:
    """Who decides about executions.

    Attributes:
        agent: The monitor, or the judge in its place; its figures are kept by its ``identity``.
        monitor: Judges an output against an objective; also takes ``task``.
        judge: Judges in place of the monitor; None for the monitor.
        attempts: Most calls of the monitor while its answers cannot be read.
    """

    agent: object
    monitor: AgentMethod[object]
    judge: AnyJudge | None
    attempts: int


@dataclass(slots=True)
class Judging:
    """The judging of one execution: calls the judge and the user's checks, and notes the results.

    Attributes:
        judges: Who decides.
        state: The state before the evaluation; after a failure, no judge is asked.
        record: The execution.
        run: The run.
        place: The config of the node.
        report: The evaluation report as plain JSON; empty until the evaluation ends.
        verdict: The monitor's own verdict, if it gave one.
        unjudged: Why the judge gave no verdict.
        error: A permanent error of the judge, or a limit of the run that a check met; it ends the run.
        usage: Usage of the judge, and of models that checks call.
        asked: Whether a judge was called.
        transport_retries: Retries of the judge after transient errors.
        interrupt: The question of the judge that waits for a person.
    """

    judges: Judges
    state: OrchestratorState
    record: Attempt
    run: RunContext
    place: RunnableConfig = field(default_factory=read_config)
    report: Report = field(default_factory=dict)
    verdict: VerdictRecord | None = None
    unjudged: str | None = None
    error: Raised | None = None
    usage: Usage = field(default_factory=NO_USAGE.copy)
    asked: bool = False
    transport_retries: int = 0
    interrupt: GraphInterrupt | None = None

    async def ajudge(self, request: JudgeRequest) -> object:
        """Asks the judge, or else the monitor.

        Raises:
            JudgeError: It gave no verdict, the run has ended, or it waits for a person; ``interrupt`` is set
                then.
        """
        if (failure := self.state["failure"]) is not None:
            raise JudgeError(f"the judge was not asked: {failure['message']}")
        self.asked = True
        try:
            if self.judges.judge is not None:
                return await self._ask_judge(self.judges.judge, request)
            return await self._ask_monitor(request)
        except GraphInterrupt as interrupt:
            # The evaluation records what a judge raises, so the interrupt is kept for ``evaluate`` to raise.
            self.interrupt = interrupt
            raise JudgeError("the judge waits for an answer from a person") from interrupt

    async def run_check(self, check: FunctionCheck, context: CheckContext) -> CheckOutcome:
        """Runs a check of the user."""
        called = await self._call(lambda: check.aevaluate(context))
        if isinstance(called, Returned):
            return cast("CheckOutcome", called.value)
        # The run ends by this error: it was cancelled, or its time or budget is over.
        self.error = called
        return check.fail_with_error(called.message)

    async def _ask_judge(self, judge: AnyJudge, request: JudgeRequest) -> object:
        called = await self._call(lambda: aask_judge(judge, request))
        if isinstance(called, Returned):
            return called.value
        if called.kind is None and isinstance(called.error, JudgeError):
            self.unjudged = str(called.error)
            raise called.error
        raise self._record_failure(called)

    async def _ask_monitor(self, request: JudgeRequest) -> object:
        objective, answer, cut = objective_of(self.record["step"], request), None, ""
        reads = [
            f"Read back with {read['name']} {read['args']}: {read['result'] or read['error']}"
            for call in self.record["tool_calls"]
            if (read := call.get("read_back")) is not None
        ]
        evidence = "\n".join(filter(None, [describe_evidence(request, MAX_EVIDENCE), *reads]))
        task = describe_task(self.state, self.record["step_index"], self.record["step"])
        judge = partial(self.judges.monitor, task=task, evidence=evidence)
        for _ in range(self.judges.attempts):
            called = await self._call(judge, objective, self.record["result"])
            if isinstance(called, Raised):
                raise self._record_failure(called)
            answer = called.value
            verdict = read_verdict(answer)
            # A reply that its provider cut off or blocked approves nothing.
            if verdict and not (verdict["success"] and called.spent.cut_off):
                self.verdict = verdict
                return score_verdict(verdict, request)
            cut = _TOO_SHORT if called.spent.cut_off == "length" else ""
        last = format_repr(answer, 300)
        self.unjudged = f"{self.judges.attempts} answers could not be read, the last{cut}: {last}"
        raise JudgeError(self.unjudged, "malformed")

    async def _call(self, method: AgentMethod[object], *args: str) -> Returned[object] | Raised:
        called = await call_agent(
            method,
            *args,
            run=self.run,
            step_index=self.record["step_index"],
            config=build_outer_config(self.place),
        )
        self.usage = add_usage(self.usage, called.spent.usage)
        self.transport_retries += called.spent.transport_retries
        return called

    def _record_failure(self, called: Raised) -> JudgeError:
        self.unjudged, self.error = called.message, None if called.transient else called
        return JudgeError(called.message)


_TOO_SHORT: Final = " cut off at the limit of tokens of the monitor's model, which is to be raised"


def read_verdict(answer: object) -> VerdictRecord | None:
    """Read a verdict from an answer of the monitor; None if it contains none or contradicts itself."""
    if not isinstance(answer, Mapping):
        return None
    # Checked by identity below, because 1 equals True and is no verdict.
    success, feedback = answer.get("success"), read_text(answer.get("feedback"))
    if feedback is None or (success is not True and success is not False):
        return None
    is_void = find_denial(answer) is not None if success else feedback.startswith(UNREADABLE_PREFIX)
    return None if is_void else VerdictRecord(success=success is True, feedback=feedback)


def objective_of(step: str, request: JudgeRequest) -> str:
    """Return the text of the step with the further criteria of the contract."""
    criteria = [each for each in request.rubric.criteria if not is_plain(each.name, each.description)]
    lines = [f"- {each.name}: {each.description}".removesuffix(": ") for each in criteria]
    parts = (
        step,
        request.rubric.instructions,
        "\n".join(["The result also has to meet each of these criteria:", *lines]) if lines else "",
        f"A good answer would be:\n{request.reference}" if request.reference is not None else "",
    )
    return "\n\n".join(part for part in parts if part)


def score_verdict(verdict: VerdictRecord, request: JudgeRequest) -> dict[str, object]:
    """Convert success or failure to the highest or lowest score of the scale."""
    scale, names = request.rubric.scale, [each.name for each in request.rubric.criteria]
    score = scale.max if verdict["success"] else scale.min
    rationale = verdict["feedback"]
    if not any(character.isalnum() for character in rationale):
        rationale = f"{'approved' if verdict['success'] else 'refused'} without a reason"
    # The objective names each criterion, so an approval holds for all of them.
    criteria = {"criteria": dict.fromkeys(names, score)} if verdict["success"] else {}
    return {"score": score, "rationale": rationale, **criteria}
