"""Asks a model for a commitment, a self-assessment or a verdict."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final

from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls.conversation import Conversation, Model, arun_conversation, run_conversation
from agents.contracts import Unreadable
from agents.models.transport_retry import TransportRetry
from orchestrator.state.records import (
    Commitment,
    Reconciliation,
    SelfAssessment,
    SuperviseRequest,
    SupervisorVerdict,
)
from orchestrator.supervision import prompts
from orchestrator.supervision.reconcile import reconcile
from orchestrator.supervision.replies import (
    Execution,
    Occasion,
    build_assessment,
    build_commitment,
    build_verdict,
)
from orchestrator.supervision.reply_models import AssessmentReply, CommitmentReply, VerdictReply
from orchestrator.supervision.reply_parsing import R, parse_reply

_log: Final = logging.getLogger(__name__)

Clock = Callable[[], datetime]


class _PhaseAgent(BaseAgent):
    """An agent whose replies are read into one model."""

    def _ask_for(
        self, model: type[R], request: str, shown: Sequence[str] = (), *, structured_output: bool = True
    ) -> Conversation[R | Unreadable]:
        schema = model.response_schema() if structured_output else None
        text = yield from self._ask(request, schema)
        # A server may ignore the schema, or cut the reply at its token limit: nothing is taken for granted.
        reply = parse_reply(model, text, shown)
        if isinstance(reply, Unreadable):
            _log.warning(
                "%s: the reply of the model cannot be read (%s): %.200r", self.agent_name, reply.reason, text
            )
        return reply


class CommitAgent(_PhaseAgent):
    """Asks a model for the commitment to a step, before the executor starts.

    Args:
        llm: Any LangChain chat model, usually the executor's.
        clock: Returns the current time with its zone.
    """

    def __init__(self, llm: Model, clock: Clock) -> None:
        super().__init__(llm, prompts.COMMIT_INSTRUCTIONS, "CommitAgent")
        self._clock = clock

    async def acommit(self, step: str, context: str, step_index: int) -> Commitment:
        """Asks for a commitment to a step.

        Args:
            step: Text of the step.
            context: Results of earlier steps.
            step_index: Index of the step in the plan, from 0.

        Returns:
            The commitment. If the reply cannot be read, ``readable`` is False, and a WARNING is logged.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The model's server refuses the request.
        """
        reply = await arun_conversation(self._ask_for(CommitmentReply, prompts.commit_request(step, context)))
        return build_commitment(reply, Occasion(step_index, step, format_utc(self._clock())))


class AssessAgent(_PhaseAgent):
    """Asks a model how an output differs from its commitment.

    Args:
        llm: Any LangChain chat model, usually the executor's.
        clock: Returns the current time with its zone.
    """

    def __init__(self, llm: Model, clock: Clock) -> None:
        super().__init__(llm, prompts.ASSESS_INSTRUCTIONS, "AssessAgent")
        self._clock = clock

    async def aassess(
        self, step: str, commitment: Commitment, output: str, tools_used: Sequence[str], step_index: int
    ) -> SelfAssessment:
        """Asks for an assessment of an execution.

        Args:
            step: Text of the step.
            commitment: The commitment that was made before the execution.
            output: The executor's output.
            tools_used: Names of the tools that were called, from the record of the execution.
            step_index: Index of the step in the plan, from 0.

        Returns:
            The assessment. If the reply cannot be read, the commitment counts as not met, and a WARNING is
            logged.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The model's server refuses the request.
        """
        request = prompts.assess_request(step, commitment, output, tools_used)
        reply = await arun_conversation(self._ask_for(AssessmentReply, request, [output]))
        execution = Execution(step_index, output, format_utc(self._clock()), tools_used)
        return build_assessment(reply, execution)


class ModelSupervisor(_PhaseAgent):
    """Decides with a model how to continue after a step that is not clean.

    Args:
        llm: Any LangChain chat model, preferably a better one than the executor's.
        system_prompt: Replaces the built-in instructions.
        structured_output: Constrain the replies with a JSON schema if the model supports it.
        transport_retry: How transient errors of the model's server are retried.
        max_assumptions: Maximum number of assumptions in a commitment; None for no bound.

    Raises:
        ValueError: ``max_assumptions`` is not a whole number of at least 0.
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
        instructions = system_prompt or prompts.SUPERVISE_INSTRUCTIONS
        super().__init__(llm, instructions, "ModelSupervisor", transport_retry=transport_retry)
        # Not isinstance: a bool is an int, and True would count as 1.
        if max_assumptions is not None and (type(max_assumptions) is not int or max_assumptions < 0):
            raise ValueError(f"max_assumptions is {max_assumptions!r}; give a whole number of at least 0")
        self.max_assumptions = max_assumptions
        self._structured_output = structured_output

    def reconcile(
        self, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str] = ()
    ) -> Reconciliation:
        """Compares commitment, self-assessment and evaluation findings without calling a model."""
        return reconcile(commitment, assessment, findings, self.max_assumptions)

    def supervise(self, request: SuperviseRequest) -> SupervisorVerdict:
        """Decides how to continue after a step.

        Returns:
            The verdict. If the reply cannot be read, it is "ask_human" with a question that says so, and a
            WARNING is logged.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The model's server refuses the request.
        """
        return run_conversation(self._decide(request))

    async def asupervise(self, request: SuperviseRequest) -> SupervisorVerdict:
        """Like ``supervise``, without blocking the event loop."""
        return await arun_conversation(self._decide(request))

    def _decide(self, request: SuperviseRequest) -> Conversation[SupervisorVerdict]:
        reply = yield from self._ask_for(
            VerdictReply,
            prompts.supervise_request(request),
            prompts.list_shown_texts(request),
            structured_output=self._structured_output,
        )
        return build_verdict(reply)


def format_utc(time: datetime) -> str:
    """Formats a time in UTC, ISO 8601."""
    return time.astimezone(UTC).isoformat()
