"""Who commits, assesses and supervises: models of the agents, or methods of the caller's own objects."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from langchain_core.runnables import Runnable

from agents.calls.conversation import Model
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import agent_method
from orchestrator.runtime.context import utc_now
from orchestrator.state.plain_values import text_of
from orchestrator.state.records import (
    Commitment,
    Reconciliation,
    SelfAssessment,
    SuperviseRequest,
    SupervisorVerdict,
)
from orchestrator.supervision.agents import AssessAgent, Clock, CommitAgent, ModelSupervisor
from orchestrator.supervision.policy import SupervisionPolicy
from orchestrator.supervision.protocols import AssessingExecutor, CommittingExecutor, Supervisor
from orchestrator.supervision.reconcile import evaluated_only, reconcile
from orchestrator.supervision.replies import (
    Execution,
    Occasion,
    assessment_from,
    commitment_from,
    reconciliation_from,
)
from orchestrator.supervision.verdicts import supervisor_verdict_from

Commit = Callable[[str, str, int], Awaitable[Commitment]]
"""Takes the step, the context and the step's index."""
Assess = Callable[[str, Commitment, str, Sequence[str], int], Awaitable[SelfAssessment]]
"""Takes the step, the commitment, the output, the tools that were called and the step's index."""
Reconcile = Callable[[Commitment | None, SelfAssessment | None, Sequence[str]], Reconciliation]
Supervise = Callable[[SuperviseRequest], Awaitable[SupervisorVerdict]]


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases that are somebody's word; None where there is nobody to give it.

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
    def complete(self) -> bool:
        """Whether there is somebody for each."""
        return None not in (self.commit, self.assess, self.supervise)


def phases_of(
    executor: object,
    monitor: object,
    supervisor: object,
    policy: SupervisionPolicy,
    clock: Clock = utc_now,
) -> Phases:
    """Find out who gives each phase.

    Args:
        executor: Commits and assesses by its own methods, else its model does.
        monitor: Its model supervises where no supervisor is given.
        supervisor: A chat model, an object with ``reconcile`` and ``supervise``, or None.
        policy: Bounds the assumptions of a commitment.
        clock: Gives the time, with its zone, for what is stamped.

    Raises:
        ConfigurationError: ``supervisor`` is none of these, or its ``reconcile`` has to be awaited.
    """
    model = _model_of(executor)
    return Phases(
        commit=_commit(executor, model, clock),
        assess=_assess(executor, model, clock),
        reconcile=_reconcile(supervisor, policy),
        supervise=_supervise(supervisor, _model_of(monitor) or model),
    )


def _model_of(agent: object) -> Model | None:
    llm = getattr(agent, "llm", None)
    return llm if isinstance(llm, Runnable) else None


def _commit(executor: object, model: Model | None, clock: Clock) -> Commit | None:
    if not isinstance(executor, CommittingExecutor):
        return None if model is None else CommitAgent(model, clock=clock).acommit
    method = agent_method(executor, "commit_step")

    async def commit(step: str, context: str, step_index: int) -> Commitment:
        said = await method(step, context=context)
        return commitment_from(said, Occasion(step_index, step, clock().isoformat()))

    return commit


def _assess(executor: object, model: Model | None, clock: Clock) -> Assess | None:
    if not isinstance(executor, AssessingExecutor):
        return None if model is None else AssessAgent(model, clock=clock).aassess
    method = agent_method(executor, "assess_step")

    async def assess(
        step: str, commitment: Commitment, output: str, tools_used: Sequence[str], step_index: int
    ) -> SelfAssessment:
        # A copy, here and below: what is handed to foreign code must not be a way to change the record.
        said = await method(step, copy.deepcopy(commitment), output)
        return assessment_from(said, Execution(step_index, output, clock().isoformat(), tools_used))

    return assess


def _reconcile(supervisor: object, policy: SupervisionPolicy) -> Reconcile:
    def ours(
        commitment: Commitment | None, assessment: SelfAssessment | None, findings: Sequence[str]
    ) -> Reconciliation:
        if commitment is None or assessment is None:
            return evaluated_only(findings)
        return reconcile(commitment, assessment, findings, policy.max_assumptions)

    if isinstance(supervisor, ModelSupervisor) and supervisor.max_assumptions is not None:
        return _reconcile(None, policy.model_copy(update={"max_assumptions": supervisor.max_assumptions}))
    if not isinstance(supervisor, Supervisor) or isinstance(supervisor, ModelSupervisor):
        return ours
    if inspect.iscoroutinefunction(supervisor.reconcile):
        raise ConfigurationError(
            f"supervisor is a {type(supervisor).__name__} whose reconcile() is a coroutine; "
            "make it a plain method, which asks no model"
        )
    return _reconcile_by(supervisor, ours)


def _reconcile_by(foreign: Supervisor, ours: Reconcile) -> Reconcile:
    def theirs(
        commitment: Commitment | None, assessment: SelfAssessment | None, findings: Sequence[str]
    ) -> Reconciliation:
        if commitment is None or assessment is None:
            return ours(commitment, assessment, findings)
        try:
            given = copy.deepcopy((commitment, assessment, list(findings)))
            return reconciliation_from(foreign.reconcile(*given))
        except Exception as error:  # noqa: BLE001 - foreign code: what it cannot say is not clean
            trigger = f"reconciliation_failed:{type(error).__name__}: {text_of(error)[:300]}"
            return Reconciliation(triggers=[trigger], escalate=True)

    return theirs


def _supervise(supervisor: object, model: Model | None) -> Supervise | None:
    if supervisor is None:
        return None if model is None else ModelSupervisor(model).asupervise
    if isinstance(supervisor, Supervisor):
        method = agent_method(supervisor, "supervise")

        async def supervise(request: SuperviseRequest) -> SupervisorVerdict:
            return supervisor_verdict_from(await method(copy.deepcopy(request)))

        return supervise
    if isinstance(supervisor, Runnable):
        return ModelSupervisor(supervisor).asupervise
    raise ConfigurationError(
        f"supervisor is {text_of(supervisor)[:80]}; give a chat model, or an object with reconcile() and "
        "supervise(), or None for the monitor's model"
    )
