"""Asks a model for a commitment, a self-assessment or a verdict."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from agents.base import DEFAULT_RETRY, BaseAgent
from agents.calls.conversation import Conversation, Model, arun_conversation, run_conversation
from agents.models.transport_retry import TransportRetry
from agents.reply_types import Unreadable
from orchestrator.state.supervision_records import (
    Commitment,
    Reconciliation,
    SelfAssessment,
    SupervisorVerdict,
)
from orchestrator.supervision import supervision_prompts as prompts
from orchestrator.supervision.reconcile import SuperviseRequest, reconcile
from orchestrator.supervision.replies import BROKEN, NOT_ALONE, R, VerdictReply, read_reply
from orchestrator.supervision.statements import build_verdict

_log: Final = logging.getLogger(__name__)


class PhaseAgent(BaseAgent):
    """An agent whose replies are read into one model."""

    async def aask_for(self, model: type[R], request: str, shown: Sequence[str] = ()) -> R | Unreadable:
        """Asks for a reply of one kind, once more if it does not stand alone.

        Args:
            model: The kind of reply.
            request: The prompt.
            shown: Texts of the prompt that may contain a quoted reply.

        Raises:
            ModelUnavailableError: The model's server does not answer.
            ModelRefusedError: The model's server refuses the request.
        """
        return await arun_conversation(self._ask_for(model, request, shown))

    def _ask_for(
        self, model: type[R], request: str, shown: Sequence[str] = ()
    ) -> Conversation[R | Unreadable]:
        text = yield from self._ask(request, model.response_schema())
        # A server may ignore the schema, or cut the reply at its token limit: nothing is taken for granted.
        reply = read_reply(model, text, shown)
        if isinstance(reply, Unreadable) and reply.reason in (NOT_ALONE, BROKEN):
            text = yield from self._ask(f"{request}\n\n{prompts.OBJECT_ALONE}", model.response_schema())
            reply = read_reply(model, text, shown)
        if isinstance(reply, Unreadable):
            _log.warning(
                "%s: the reply of %d characters cannot be read (%s)", self.agent_name, len(text), reply.reason
            )
        return reply


class ModelSupervisor(PhaseAgent):
    """Decides with a model how to continue after a step that is not clean.

    Args:
        llm: Any LangChain chat model, preferably a better one than the executor's.
        system_prompt: Replaces the built-in instructions.
        transport_retry: How transient errors of the model's server are retried.
    """

    def __init__(
        self, llm: Model, system_prompt: str | None = None, *, transport_retry: TransportRetry = DEFAULT_RETRY
    ) -> None:
        instructions = system_prompt or prompts.SUPERVISE_INSTRUCTIONS
        super().__init__(llm, instructions, "ModelSupervisor", transport_retry=transport_retry)

    def reconcile(
        self, commitment: Commitment, assessment: SelfAssessment, findings: Sequence[str] = ()
    ) -> Reconciliation:
        """Compares commitment, self-assessment and evaluation findings without calling a model."""
        return reconcile(commitment, assessment, findings)

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
        shown = prompts.list_shown_texts(request)
        return build_verdict(
            (yield from self._ask_for(VerdictReply, prompts.supervise_request(request), shown))
        )
