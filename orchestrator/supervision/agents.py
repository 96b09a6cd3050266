"""The phases that ask a model: COMMIT, POST and SUPERVISE; and RECONCILE, which asks none."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls.conversation import Conversation, Model, arun_conversation, run_conversation
from agents.contracts import JsonSchema
from agents.models.transport_retry import TransportRetry
from orchestrator.state.records import (
    CommitKind,
    Commitment,
    Reconciliation,
    SelfAssessment,
    SuperviseRequest,
    SupervisorVerdict,
)
from orchestrator.supervision import prompts
from orchestrator.supervision.prompts import ASSESSMENT_SCHEMA, COMMITMENT_SCHEMA, VERDICT_SCHEMA
from orchestrator.supervision.reconcile import reconcile
from orchestrator.supervision.replies import Execution, Occasion, read_assessment, read_commitment
from orchestrator.supervision.verdicts import UNREADABLE_REPLY, read_supervisor_verdict

_log: Final = logging.getLogger(__name__)

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)


class _PhaseAgent(BaseAgent):
    """An agent whose replies are held to one schema, and stamped."""

    def __init__(
        self,
        llm: Model,
        system_prompt: str,
        schema: JsonSchema | None,
        transport_retry: TransportRetry,
        clock: Clock,
    ) -> None:
        super().__init__(llm, system_prompt, type(self).__name__, transport_retry=transport_retry)
        self._schema = schema
        self._clock = clock

    def _time(self) -> str:
        return self._clock().astimezone(UTC).isoformat()


class CommitAgent(_PhaseAgent):
    """Says what an executor will do in a step, before it does it.

    Args:
        llm: Any LangChain chat model, usually the executor's.
        system_prompt: Replaces the built-in instructions.
        structured_output: Hold the replies to a JSON schema where the model supports it.
        transport_retry: How passing faults of the model's server are met.
        clock: Returns the time with its zone.
    """

    def __init__(
        self,
        llm: Model,
        system_prompt: str | None = None,
        *,
        structured_output: bool = True,
        transport_retry: TransportRetry = DEFAULT_RETRY,
        clock: Clock = utc_now,
    ) -> None:
        schema = COMMITMENT_SCHEMA if structured_output else None
        super().__init__(llm, system_prompt or prompts.COMMITTING, schema, transport_retry, clock)

    def commit(self, step: str, context: str, step_index: int, kind: CommitKind = "first") -> Commitment:
        """Commit to a step.

        Args:
            step: What is to be done.
            context: Results of earlier steps.
            step_index: Which step of the plan it is, from 0.
            kind: What the commitment is made for.

        Returns:
            The commitment; one whose ``readable`` is False, and a WARNING, for a reply that cannot be read.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: It refused for good.
        """
        return run_conversation(self._commit(step, context, step_index, kind))

    async def acommit(
        self, step: str, context: str, step_index: int, kind: CommitKind = "first"
    ) -> Commitment:
        """Like ``commit``, without blocking the event loop."""
        return await arun_conversation(self._commit(step, context, step_index, kind))

    def _commit(self, step: str, context: str, index: int, kind: CommitKind) -> Conversation[Commitment]:
        reply = yield from self._ask(prompts.commit_request(step, context), self._schema)
        commitment = read_commitment(reply, Occasion(index, step, self._time(), kind))
        if not commitment["readable"]:
            _log.warning("the commitment to step %d cannot be read: %.200r", index + 1, reply)
        return commitment


class AssessAgent(_PhaseAgent):
    """Says how an executor's output differs from what it committed to.

    Args:
        llm: Any LangChain chat model, usually the executor's.
        system_prompt: Replaces the built-in instructions.
        structured_output: Hold the replies to a JSON schema where the model supports it.
        transport_retry: How passing faults of the model's server are met.
        clock: Returns the time with its zone.
    """

    def __init__(
        self,
        llm: Model,
        system_prompt: str | None = None,
        *,
        structured_output: bool = True,
        transport_retry: TransportRetry = DEFAULT_RETRY,
        clock: Clock = utc_now,
    ) -> None:
        schema = ASSESSMENT_SCHEMA if structured_output else None
        super().__init__(llm, system_prompt or prompts.ASSESSING, schema, transport_retry, clock)

    def assess(
        self, step: str, commitment: Commitment, output: str, tools_used: Sequence[str], step_index: int
    ) -> SelfAssessment:
        """Assess an execution.

        Args:
            step: What was to be done.
            commitment: What the executor said before.
            output: What came of it.
            tools_used: The tools that were called, from the record of the execution.
            step_index: Which step of the plan it is, from 0.

        Returns:
            The assessment; not met and not ``readable``, and a WARNING, for a reply that cannot be read.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: It refused for good.
        """
        return run_conversation(self._assess(step, commitment, output, tools_used, step_index))

    async def aassess(
        self, step: str, commitment: Commitment, output: str, tools_used: Sequence[str], step_index: int
    ) -> SelfAssessment:
        """Like ``assess``, without blocking the event loop."""
        return await arun_conversation(self._assess(step, commitment, output, tools_used, step_index))

    def _assess(
        self, step: str, commitment: Commitment, output: str, tools_used: Sequence[str], index: int
    ) -> Conversation[SelfAssessment]:
        request = prompts.assess_request(step, commitment, output, tools_used)
        reply = yield from self._ask(request, self._schema)
        assessment = read_assessment(reply, Execution(index, output, self._time(), tools_used))
        if not assessment["readable"]:
            _log.warning("the self-assessment of step %d cannot be read: %.200r", index + 1, reply)
        return assessment


class ModelSupervisor(BaseAgent):
    """Decides on steps that are not clean, with a model.

    Args:
        llm: Any LangChain chat model; a better one than the executor's, where there is one.
        system_prompt: Replaces the built-in instructions.
        structured_output: Hold the replies to a JSON schema where the model supports it.
        transport_retry: How passing faults of the model's server are met.
        max_assumptions: How many assumptions a commitment may make; None for any number.

    Raises:
        ValueError: ``max_assumptions`` is no whole number of at least 0.
    """

    def __init__(
        self,
        llm: Model,
        system_prompt: str | None = None,
        *,
        structured_output: bool = True,
        transport_retry: TransportRetry = DEFAULT_RETRY,
        max_assumptions: int | None = None,
    ) -> None:
        role = system_prompt or prompts.SUPERVISING
        super().__init__(llm, role, "ModelSupervisor", transport_retry=transport_retry)
        if max_assumptions is not None and (type(max_assumptions) is not int or max_assumptions < 0):
            raise ValueError(f"max_assumptions is {max_assumptions!r}; give a whole number of at least 0")
        self.max_assumptions = max_assumptions
        self._schema = VERDICT_SCHEMA if structured_output else None

    def reconcile(
        self, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str] = ()
    ) -> Reconciliation:
        """Find what is not as committed to. No model is asked."""
        return reconcile(commitment, assessment, findings, self.max_assumptions)

    def supervise(self, request: SuperviseRequest) -> SupervisorVerdict:
        """Decide how a step goes on.

        Returns:
            The verdict; "ask_human", with a question that says so and a WARNING, for a reply that
            cannot be read.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: It refused for good.
        """
        return run_conversation(self._decide(request))

    async def asupervise(self, request: SuperviseRequest) -> SupervisorVerdict:
        """Like ``supervise``, without blocking the event loop."""
        return await arun_conversation(self._decide(request))

    def _decide(self, request: SuperviseRequest) -> Conversation[SupervisorVerdict]:
        reply = yield from self._ask(prompts.supervise_request(request), self._schema)
        verdict = read_supervisor_verdict(reply, prompts.shown_texts(request))
        if verdict["reason"].startswith(UNREADABLE_REPLY):
            _log.warning("%s: %.200r", verdict["reason"], reply)
        return verdict
