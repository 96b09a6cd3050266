"""Chooses who commits, assesses and supervises: models of the agents, or methods of the user's objects."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.runnables import Runnable

from agents.calls.conversation import Model
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import bind_method
from orchestrator.runtime.context import utc_now
from orchestrator.state.plain_values import format_text
from orchestrator.state.records import (
    Commitment,
    Reconciliation,
    SelfAssessment,
    SuperviseRequest,
    SupervisorVerdict,
)
from orchestrator.supervision.agents import AssessAgent, Clock, CommitAgent, ModelSupervisor, format_utc
from orchestrator.supervision.policy import SupervisionPolicy
from orchestrator.supervision.protocols import AssessingExecutor, CommittingExecutor, Supervisor
from orchestrator.supervision.reconcile import reconcile, reconcile_findings
from orchestrator.supervision.replies import (
    Execution,
    Occasion,
    build_assessment,
    build_commitment,
    build_reconciliation,
    build_verdict,
)
from orchestrator.supervision.reply_models import (
    AssessmentReply,
    CommitmentReply,
    ReconciliationReply,
    VerdictReply,
)
from orchestrator.supervision.reply_parsing import parse_mapping

Commit = Callable[[str, str, int], Awaitable[Commitment]]
"""Takes the step, the context and the step's index."""
Assess = Callable[[str, Commitment, str, Sequence[str], int], Awaitable[SelfAssessment]]
"""Takes the step, the commitment, the output, the tools that were called and the step's index."""
Reconcile = Callable[[Commitment | None, SelfAssessment | None, Sequence[str]], Reconciliation]
Comparison = Callable[[Commitment, SelfAssessment, Sequence[str]], Reconciliation]
Supervise = Callable[[SuperviseRequest], Awaitable[SupervisorVerdict]]


@dataclass(frozen=True, slots=True)
class Phases:
    """The functions of the supervision phases; None if nobody can do a phase.

    Attributes:
        commit: COMMIT, by the executor.
        assess: POST, by the executor.
        reconcile: RECONCILE, without a model.
        supervise: SUPERVISE, by the supervisor.
    """

    commit: Commit | None
    assess: Assess | None
    reconcile: Reconcile
    supervise: Supervise | None

    @property
    def is_complete(self) -> bool:
        """Checks whether every phase has somebody to do it."""
        return None not in (self.commit, self.assess, self.supervise)


def choose_phases(
    executor: object,
    monitor: object,
    supervisor: object,
    policy: SupervisionPolicy,
    clock: Clock = utc_now,
) -> Phases:
    """Chooses who does each phase.

    Args:
        executor: Commits and assesses with its own methods if it has them, else with its model.
        monitor: Its model supervises if there is no supervisor.
        supervisor: A chat model, an object with ``reconcile`` and ``supervise``, or None.
        policy: Bounds the number of assumptions in a commitment.
        clock: Returns the current time with its zone, for time stamps.

    Raises:
        ConfigurationError: ``supervisor`` is none of these, or its ``reconcile`` is a coroutine.
    """
    model = _find_model(executor)
    return Phases(
        commit=_choose_commit(executor, model, clock),
        assess=_choose_assess(executor, model, clock),
        reconcile=_choose_reconcile(supervisor, policy),
        supervise=_choose_supervise(supervisor, _find_model(monitor) or model),
    )


def _find_model(agent: object) -> Model | None:
    # A user's agent may have an attribute of this name that is no model.
    llm = getattr(agent, "llm", None)
    return llm if isinstance(llm, Runnable) else None


def _choose_commit(executor: object, model: Model | None, clock: Clock) -> Commit | None:
    if not isinstance(executor, CommittingExecutor):
        return None if model is None else CommitAgent(model, clock).acommit
    method = bind_method(executor, "commit_step")

    async def commit(step: str, context: str, step_index: int) -> Commitment:
        reply = parse_mapping(CommitmentReply, await method(step, context=context))
        return build_commitment(reply, Occasion(step_index, step, format_utc(clock())))

    return commit


def _choose_assess(executor: object, model: Model | None, clock: Clock) -> Assess | None:
    if not isinstance(executor, AssessingExecutor):
        return None if model is None else AssessAgent(model, clock).aassess
    method = bind_method(executor, "assess_step")

    async def assess(
        step: str, commitment: Commitment, output: str, tools_used: Sequence[str], step_index: int
    ) -> SelfAssessment:
        # User code gets copies, here and below: an executor must not rewrite its commitment afterwards.
        value = await method(step, copy.deepcopy(commitment), output)
        execution = Execution(step_index, output, format_utc(clock()), tools_used)
        return build_assessment(parse_mapping(AssessmentReply, value), execution)

    return assess


def _choose_reconcile(supervisor: object, policy: SupervisionPolicy) -> Reconcile:
    compare = _choose_comparison(supervisor, policy)

    def reconcile_step(
        commitment: Commitment | None, assessment: SelfAssessment | None, findings: Sequence[str]
    ) -> Reconciliation:
        if commitment is None or assessment is None:
            return reconcile_findings(findings)
        return compare(commitment, assessment, findings)

    return reconcile_step


def _choose_comparison(supervisor: object, policy: SupervisionPolicy) -> Comparison:
    # A supervisor's own bound is more specific than the policy's.
    if isinstance(supervisor, ModelSupervisor) and supervisor.max_assumptions is not None:
        return supervisor.reconcile
    if isinstance(supervisor, ModelSupervisor) or not isinstance(supervisor, Supervisor):
        return partial(reconcile, max_assumptions=policy.max_assumptions)
    if inspect.iscoroutinefunction(supervisor.reconcile):
        raise ConfigurationError(
            f"supervisor is a {type(supervisor).__name__} whose reconcile() is a coroutine; "
            "make it a plain method, which asks no model"
        )
    return partial(_call_reconcile, supervisor)


def _call_reconcile(
    supervisor: Supervisor, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str]
) -> Reconciliation:
    try:
        value = supervisor.reconcile(*copy.deepcopy((commitment, assessment, list(findings))))
        return build_reconciliation(parse_mapping(ReconciliationReply, value))
    except Exception as error:  # noqa: BLE001 - user code: a comparison that fails is not a clean step
        trigger = f"reconciliation_failed:{type(error).__name__}: {format_text(error)[:300]}"
        return Reconciliation(triggers=[trigger], escalate=True)


def _choose_supervise(supervisor: object, model: Model | None) -> Supervise | None:
    if supervisor is None:
        return None if model is None else ModelSupervisor(model).asupervise
    if isinstance(supervisor, Supervisor):
        method = bind_method(supervisor, "supervise")

        async def supervise(request: SuperviseRequest) -> SupervisorVerdict:
            return build_verdict(parse_mapping(VerdictReply, await method(copy.deepcopy(request))))

        return supervise
    if isinstance(supervisor, Runnable):
        return ModelSupervisor(supervisor).asupervise
    raise ConfigurationError(
        f"supervisor is {format_text(supervisor)[:80]}; give a chat model, or an object with reconcile() and "
        "supervise(), or None for the monitor's model"
    )
