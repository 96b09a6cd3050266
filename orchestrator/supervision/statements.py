"""Asks models for statements and verdicts, and builds the records. An unreadable reply approves nothing.

It becomes a commitment that is not readable, a commitment that was not met, a reconciliation that escalates,
or a verdict that asks a person.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Final, cast

from pydantic import TypeAdapter, ValidationError

from agents.base import BaseAgent
from agents.calls.conversation import Conversation, arun_conversation, run_conversation
from agents.parsing.loose_json import replace_surrogates
from agents.reply_types import Unreadable
from evaluation.sensitive.quoting import shorten
from orchestrator.state.supervision_records import (
    CommitKind,
    Commitment,
    Reconciliation,
    SelfAssessment,
    SupervisorVerdict,
)
from orchestrator.supervision import supervision_prompts as prompts
from orchestrator.supervision.reconcile import SuperviseRequest, reconcile
from orchestrator.supervision.replies import (
    BROKEN,
    NOT_ALONE,
    AssessmentReply,
    CommitmentReply,
    R,
    VerdictReply,
    format_value,
    read_reply,
)

UNREADABLE_REPLY: Final = "the supervisor's reply cannot be read"
"""Start of the reason of a verdict whose reply cannot be read."""
RAW_LIMIT: Final = 300
"""Maximum number of characters that are kept of an unreadable reply."""
OUTPUT_LIMIT: Final = 500
"""Maximum number of characters of the output in a self-assessment."""

_RECONCILIATION: Final = TypeAdapter(Reconciliation)
_BLANK_COMMITMENT: Final = CommitmentReply.model_validate({"interpretation": "unreadable"})
_UNMET_ASSESSMENT: Final = AssessmentReply.model_validate({"met": False})


def build_commitment(
    reply: CommitmentReply | Unreadable, step_index: int, instruction: str, now: datetime, kind: CommitKind
) -> Commitment:
    """Builds a commitment. If the reply cannot be read, ``interpretation`` is an excerpt of it.

    Args:
        reply: The reply that states it.
        step_index: Index of the step.
        instruction: Text of the step with its corrections.
        now: Current time in UTC.
        kind: The execution that it is for.
    """
    fields = reply
    if isinstance(fields, Unreadable):
        # Not validated: an excerpt may be empty.
        excerpt = format_value(_excerpt(fields.raw))
        fields = _BLANK_COMMITMENT.model_copy(update={"interpretation": excerpt})
    stated = {
        "step_index": step_index,
        "kind": kind,
        "instruction": instruction,
        **fields.model_dump(),
        "readable": fields is reply,
        "time": now.isoformat(),
    }
    return cast("Commitment", stated)


def build_assessment(
    reply: AssessmentReply | Unreadable,
    step_index: int,
    output: str,
    tools_used: Sequence[str],
    now: datetime,
) -> SelfAssessment:
    """Builds a self-assessment. One that cannot be read counts as not met, with a concern that says so.

    Args:
        reply: The reply that states it.
        step_index: Index of the step.
        output: Output of the execution.
        tools_used: Names of the tools that were called.
        now: Current time in UTC.
    """
    fields = reply
    if isinstance(fields, Unreadable):
        concern = f"the self-assessment cannot be read ({fields.reason}): {_excerpt(fields.raw)}"
        fields = _UNMET_ASSESSMENT.model_copy(update={"concerns": [concern]})
    return SelfAssessment(
        step_index=step_index,
        actual_output=shorten(output, OUTPUT_LIMIT),
        met_commitment=fields.met,
        deviations=fields.deviations,
        concerns=fields.concerns,
        unexpected=fields.unexpected,
        # From the record, never from the reply: a model may claim tools that it did not call.
        tools_used=list(tools_used),
        readable=fields is reply,
        time=now.isoformat(),
    )


def build_reconciliation(value: object) -> Reconciliation:
    """Builds a reconciliation of a supervisor's own value. It escalates if it cannot be read."""
    try:
        result = _RECONCILIATION.validate_python(value, strict=True)
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        reason = ": ".join([*map(str, problem["loc"]), problem["msg"]])
        return Reconciliation(triggers=[f"reconciliation_unreadable:{reason}"], escalate=True)
    return {**result, "escalate": result["escalate"] or bool(result["triggers"])}


def build_verdict(reply: VerdictReply | Unreadable) -> SupervisorVerdict:
    """Builds a verdict. If the reply cannot be read, it asks a person, with a reason that says so."""
    if isinstance(reply, Unreadable):
        raw = _excerpt(" ".join(reply.raw.split()))
        reason = f"{UNREADABLE_REPLY}: {reply.reason}"
        text = f"How should this step continue? Please decide, because {reason}. The reply: {raw}".rstrip()
        return SupervisorVerdict(verdict="ask_human", correction="", question=text, reason=reason)
    detail, word = reply.detail(), reply.verdict
    return SupervisorVerdict(
        verdict=word,
        correction=detail if word == "reorient" else "",
        question=detail if word == "ask_human" else "",
        reason=reply.reason if word in ("reorient", "ask_human") else detail,
    )


def _excerpt(raw: str) -> str:
    return shorten(replace_surrogates(raw), RAW_LIMIT)


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

    instructions = prompts.SUPERVISE_INSTRUCTIONS

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
