"""Judges the conversation of an agent against a contract: the run since a request, and the verdict on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from typing_extensions import TypedDict

from agents.loop.effects import Effect, is_correction
from evaluation import EvaluationReport
from evaluation.contract.requirements import Contract
from evaluation.contract.run import convert_calls
from evaluation.findings import EvaluationStatus
from evaluation.recordings.default_contract import build_default_contract
from orchestrator.judging.contract_choice import read_call_rules
from orchestrator.judging.evaluator import add_search
from orchestrator.judging.evidence import ACCEPTING, Evidence, is_enough, read_evidence
from orchestrator.judging.executor_tools import describe_repeat
from orchestrator.judging.feedback import feedback_of, list_kinds, read_expectations, report_score
from orchestrator.runtime.call_records import read_tool_calls
from orchestrator.state.records import Basis, EvidenceRecord, Report, Requirement, ToolCallRecord

_OPEN: Final = frozenset({"unverified"})
"""The kinds of failures that another answer cannot mend: nobody could say whether the last one is good."""


class ConversationAttempt(TypedDict):
    """One answer of an agent, its score from 0 to 1 (None if nothing was scored), and what has to change."""

    output: str
    status: EvaluationStatus
    score: float | None
    feedback: str


class ConversationVerdict(TypedDict):
    """The verdict on the answer of an agent, as plain JSON.

    ``accepted`` says whether ``status`` and ``basis`` are enough, and ``reason`` why, in one sentence.
    ``warnings`` names the tools that a retry called again, and that act by their names alone.
    """

    accepted: bool
    status: EvaluationStatus
    basis: Basis
    reason: str
    evidence: EvidenceRecord
    report: Report
    attempts: list[ConversationAttempt]
    warnings: list[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """What an agent did since a request.

    Attributes:
        messages: The messages since the request, with it.
        effects: The effects of calls by their ids.
    """

    messages: Sequence[BaseMessage]
    effects: Mapping[str, Effect]

    @classmethod
    def since(
        cls, request: str | None, messages: Sequence[BaseMessage], effects: Mapping[str, Effect]
    ) -> Conversation:
        """Returns the conversation since the message with this id; all of it if the message is gone."""
        start = next((at for at, each in enumerate(messages) if each.id == request), 0)
        return cls(messages[start:], effects)

    @property
    def output(self) -> str:
        """The text of the last message of the model."""
        replies = [each for each in self.messages if isinstance(each, AIMessage)]
        return str(replies[-1].text) if replies else ""

    @property
    def request(self) -> str:
        """What the user wrote."""
        asked = [each for each in self.messages if isinstance(each, HumanMessage) and not is_correction(each)]
        return "\n".join(str(each.text) for each in asked)

    @property
    def calls(self) -> list[ToolCallRecord]:
        """The calls of tools that have an answer, also those of refused answers."""
        return [
            call if "writes" in call or not _is_stated(self.effects, call) else {**call, "writes": True}
            for call in read_tool_calls(self.messages, self.effects)
        ]

    @property
    def repeated(self) -> list[str]:
        """The tools that act by their names alone, and were called as before."""
        effects = [self.effects.get(str(call.get("id"))) for call in self.calls]
        return sorted({each["name"] for each in effects if each and each.get("is_repeat")})

    def build_run(self) -> dict[str, object]:
        """Builds the ``agent_run``: all calls, and the last answer without the ones that were refused."""
        reply = next((each for each in reversed(self.messages) if isinstance(each, AIMessage)), None)
        reason = None if reply is None else reply.response_metadata.get("finish_reason")
        end = {"role": "assistant", "content": self.output, **({"finish_reason": reason} if reason else {})}
        probes = [effect["read_back"] for effect in self.effects.values() if "read_back" in effect]
        return {
            "input": self.request,
            "final_output": self.output,
            "messages": [{"role": "user", "content": self.request}, end],
            **convert_calls(self.calls),
            **({"probes": probes} if probes else {}),
            **_sum_tokens(self.messages),
        }


def build_case(conversation: Conversation, contract: Contract | None) -> dict[str, object]:
    """Returns the case of a conversation; without a contract, the audit of a recorded run decides."""
    run = conversation.build_run()
    if contract is None:
        return {"agent_run": run, **build_default_contract(run)}
    return {"contract": add_search(contract, is_wanted=True), "agent_run": run}


def read_verdict(  # noqa: PLR0917
    report: EvaluationReport,
    conversation: Conversation,
    contract: Contract | None,
    require: Requirement | None,
    judge: object,
    earlier: Sequence[ConversationAttempt],
) -> ConversationVerdict:
    """Returns the verdict on the last answer.

    Args:
        report: Its evaluation.
        conversation: The conversation.
        contract: The contract; None for what can be checked of any run.
        require: The least that an acceptance has to rest on.
        judge: Who scored it; its ``identity`` names it, by which its figures are kept.
        earlier: The answers before, which were refused.
    """
    plain: Report = report.model_dump(mode="json")
    evidence = read_evidence(plain, contract or Contract()).add_trust(judge)
    basis = evidence.basis
    is_accepted = evidence.accepted and is_enough(basis, require)
    feedback = read_expectations(contract or Contract(), conversation.request).mask(feedback_of(plain))
    attempt = ConversationAttempt(
        output=conversation.output, status=report.status, score=report_score(plain), feedback=feedback
    )
    reason = evidence.reason
    if evidence.accepted and not is_accepted:
        reason = f"require is {require!r}, and the answer is only {basis}: {reason}"
    return ConversationVerdict(
        accepted=is_accepted,
        status=report.status,
        basis=basis,
        reason=reason if evidence.accepted else feedback or report.summary,
        evidence=evidence.record,
        report=plain,
        attempts=[*earlier, attempt],
        warnings=[describe_repeat(name) for name in conversation.repeated],
    )


def can_be_mended(
    verdict: ConversationVerdict, conversation: Conversation, contract: Contract | None
) -> bool:
    """Returns whether another answer may be accepted.

    Not if nobody could judge the last one, if a call broke the contract for good, or if the agent repeats an
    answer that was refused.
    """
    report = verdict["report"]
    last, *before = reversed(verdict["attempts"])
    is_open = report["status"] == "invalid" or {*list_kinds(report)} <= _OPEN
    is_repeated = any(each["output"] == last["output"] for each in before)
    is_lost = read_call_rules([contract or Contract()]).find_lasting_breach(conversation.calls) is not None
    return not (verdict["status"] in ACCEPTING or is_open or is_repeated or is_lost)


def approve(verdict: ConversationVerdict, person: str) -> ConversationVerdict:
    """Returns the verdict after a person approved the answer."""
    evidence = Evidence(person=person)
    return {**verdict, "basis": evidence.basis, "reason": evidence.reason, "accepted": True}


def find_best_output(attempts: Sequence[ConversationAttempt]) -> str:
    """Returns the output with the highest score; of equal ones the latest."""
    scores = [-1.0 if each["score"] is None else each["score"] for each in attempts]
    best = max(range(len(attempts)), key=lambda at: (scores[at], at))
    return attempts[best]["output"]


def _is_stated(effects: Mapping[str, Effect], call: ToolCallRecord) -> bool:
    effect = effects.get(str(call.get("id")))
    return effect is not None and effect.get("is_stated", False)


def _sum_tokens(messages: Sequence[BaseMessage]) -> dict[str, object]:
    """Sums the tokens of the replies; nothing if one does not report them."""
    replies = [each for each in messages if isinstance(each, AIMessage)]
    usages = [each.usage_metadata for each in replies if each.usage_metadata]
    calls: dict[str, object] = {"model_calls": len(replies)}
    if len(usages) < len(replies):
        return calls
    return {
        **calls,
        "input_tokens": sum(usage["input_tokens"] for usage in usages),
        "output_tokens": sum(usage["output_tokens"] for usage in usages),
        "total_tokens": sum(usage["total_tokens"] for usage in usages),
    }
