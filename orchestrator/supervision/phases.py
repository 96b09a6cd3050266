"""Chooses who commits, assesses and supervises: models of the agents, or methods of the user's objects."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from langchain_core.runnables import Runnable

from agents.models.model_call import Model
from agents.reply_types import Unreadable
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError
from orchestrator.runtime.agent_methods import bind_method
from orchestrator.state.plain_values import format_text
from orchestrator.state.records import (
    Commitment,
    Reconciliation,
    SelfAssessment,
    SupervisorVerdict,
)
from orchestrator.supervision import statements
from orchestrator.supervision.modes import SuperviseRequest, SupervisionPolicy, Supervisor, reconcile
from orchestrator.supervision.replies import (
    AssessmentReply,
    CommitmentReply,
    VerdictReply,
    read_mapping,
)

Commit = Callable[[str, str, str], Awaitable[CommitmentReply | Unreadable]]
"""Takes the step with its corrections, the context and the task."""
Assess = Callable[[str, Commitment, str, Sequence[str], str], Awaitable[AssessmentReply | Unreadable]]
"""Takes the step, the commitment, the output, the tools that were called and the task."""
Reconcile = Callable[[Commitment, SelfAssessment, Sequence[str]], Reconciliation]
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


def choose_phases(executor: object, monitor: object, supervisor: object, policy: SupervisionPolicy) -> Phases:
    """Chooses who does each phase.

    Args:
        executor: Commits and assesses with its methods ``commit_step`` and ``assess_step`` if it has them,
            else with its model.
        monitor: Its model supervises if there is no supervisor.
        supervisor: A chat model, an object with ``reconcile`` and ``supervise``, or None.
        policy: Bounds the number of assumptions in a commitment.

    Raises:
        ConfigurationError: ``supervisor`` is none of these.
    """
    model = _find_model(executor)
    return Phases(
        commit=_choose_commit(executor, model),
        assess=_choose_assess(executor, model),
        reconcile=_choose_reconcile(supervisor, policy),
        supervise=_choose_supervise(supervisor, _find_model(monitor) or model),
    )


def _find_model(agent: object) -> Model | None:
    # A user's agent may have an attribute of this name that is no model.
    llm = getattr(agent, "llm", None)
    return llm if isinstance(llm, Runnable) else None


def _choose_commit(executor: object, model: Model | None) -> Commit | None:
    if hasattr(executor, "commit_step"):
        method = bind_method(executor, "commit_step")

        async def commit(step: str, context: str, task: str) -> CommitmentReply | Unreadable:
            return read_mapping(CommitmentReply, await method(step, context=context, task=task))

        return commit
    if model is None:
        return None
    agent = statements.PhaseAgent(model, statements.COMMIT_INSTRUCTIONS, "CommitAgent")
    return lambda *stated: agent.aask_for(CommitmentReply, statements.commit_request(*stated))


def _choose_assess(executor: object, model: Model | None) -> Assess | None:
    if hasattr(executor, "assess_step"):
        method = bind_method(executor, "assess_step")

        async def assess(
            step: str,
            commitment: Commitment,
            output: str,
            tools_used: Sequence[str],  # noqa: ARG001 - an executor knows its tools
            task: str,
        ) -> AssessmentReply | Unreadable:
            # User code gets copies, here and below: an executor must not rewrite its commitment afterwards.
            reply = await method(step, copy.deepcopy(commitment), output, task=task)
            return read_mapping(AssessmentReply, reply)

        return assess
    if model is None:
        return None
    agent = statements.PhaseAgent(model, statements.ASSESS_INSTRUCTIONS, "AssessAgent")
    return lambda step, commitment, output, tools, task: agent.aask_for(
        AssessmentReply, statements.assess_request(step, commitment, output, tools, task), [output, task]
    )


def _choose_reconcile(supervisor: object, policy: SupervisionPolicy) -> Reconcile:
    # A ModelSupervisor compares as the orchestrator does, but knows no bound of assumptions.
    if isinstance(supervisor, Supervisor) and not isinstance(supervisor, statements.ModelSupervisor):
        return partial(_call_reconcile, supervisor)
    return partial(reconcile, max_assumptions=policy.max_assumptions)


def _call_reconcile(
    supervisor: Supervisor, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str]
) -> Reconciliation:
    try:
        value = supervisor.reconcile(*copy.deepcopy((commitment, assessment, list(findings))))
        return statements.build_reconciliation(value)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - user code: a comparison that fails is not a clean step
        trigger = f"reconciliation_failed:{type(error).__name__}: {shorten(format_text(error), 300)}"
        return Reconciliation(triggers=[trigger], escalate=True)


def _choose_supervise(supervisor: object, model: Model | None) -> Supervise | None:
    if supervisor is None:
        return None if model is None else statements.ModelSupervisor(model).asupervise
    if isinstance(supervisor, Supervisor):
        method = bind_method(supervisor, "supervise")

        async def supervise(request: SuperviseRequest) -> SupervisorVerdict:
            return statements.build_verdict(read_mapping(VerdictReply, await method(copy.deepcopy(request))))

        return supervise
    if isinstance(supervisor, Runnable):
        return statements.ModelSupervisor(supervisor).asupervise
    raise ConfigurationError(
        f"supervisor is {shorten(format_text(supervisor), 80)}; "
        "give a chat model, or an object with reconcile() and "
        "supervise(), or None for the monitor's model"
    )
