"""The next execution of a step: the prompt of the executor, and the sampling of its model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from agents.models.chat_options import Sampling
from agents.prompts import fence_text, find_boundary
from orchestrator.judging.feedback import KEEP_CORRECTIONS, KEEP_REQUIREMENTS
from orchestrator.retry.policy import (
    AskHumanRule,
    EscalateRule,
    ExecutingRule,
    FeedbackRule,
    RetryPolicy,
    RetryRule,
)
from orchestrator.state.current_step import (
    current_index,
    current_records,
    current_step,
    last_refused_record,
    list_corrections,
    read_correction,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import Attempt

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


_LARGEST_SEED: Final = 2**31 - 1
_RULE: Final = TypeAdapter[RetryRule](RetryRule)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused output, and the reason that its author is told."""

    output: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """One execution of a step.

    Attributes:
        instruction: The step, with additions.
        context: Results of earlier steps.
        refused: The output to correct, which the executor gets apart; None if it gets none.
        temperature: Temperature of the model; None for its own.
        seed: Seed of the model; None for its own.
        model: Specification or name of another model; None for the executor's.
    """

    instruction: str
    context: str
    refused: Refusal | None = None
    temperature: float | None = None
    seed: int | None = None
    model: str | None = None


def build_request(state: OrchestratorState, policy: RetryPolicy) -> StepRequest:
    """Returns the next execution of the current step, as the decision about the last one says."""
    request = StepRequest(instruction=build_instruction(state), context=state["context"])
    refused = last_refused_record(state)
    if refused is None:
        return request
    rule = _read_rule(refused)
    seed = derive_seed(policy.seed, current_index(state), refused["attempt"] + 1)
    request = replace(request, seed=seed, temperature=rule.temperature)
    if isinstance(rule, FeedbackRule | EscalateRule):
        return _add_feedback(request, state, refused, rule)
    return request


def build_instruction(state: OrchestratorState) -> str:
    """Returns the text of the current step with all corrections by supervisors and people."""
    _, step = current_step(state)
    corrections = list_corrections(current_records(state))
    return _add_list(step, KEEP_CORRECTIONS, corrections) if corrections else step


def join_refusal(request: StepRequest) -> StepRequest:
    """Returns the request with the refused output in its context, for an executor that takes it there."""
    refused = request.refused
    if refused is None:
        return request
    # A boundary that occurs in none of the texts, so that an output cannot pass for instructions.
    mark = find_boundary(request.context, refused.output, refused.reason)
    parts = [
        request.context,
        fence_text("your last output", refused.output, mark),
        fence_text("why it was refused; correct that", refused.reason, mark),
    ]
    return replace(request, context="\n\n".join(filter(None, parts)), refused=None)


def derive_seed(seed: int, step_index: int, attempt: int) -> int:
    """Derives the seed of an execution: the same after a crash, and another one for each execution."""
    text = json.dumps([seed, step_index, attempt])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & _LARGEST_SEED


def read_reason(refused: Attempt) -> str:
    """Returns the reason of a refusal for an agent: the correction that came with it, else the feedback."""
    verdict = refused["verdict"]
    return read_correction(refused) or refused.get("feedback") or (verdict["feedback"] if verdict else "")


def _read_rule(refused: Attempt) -> ExecutingRule:
    """Returns the rule that the decision names; feedback after a correction."""
    decision = refused.get("decision")
    if decision is None or read_correction(refused) is not None:
        return FeedbackRule()
    rule = _RULE.validate_python({**decision["options"], "use": decision["use"]})
    return FeedbackRule() if isinstance(rule, AskHumanRule) else rule


def _add_feedback(
    request: StepRequest,
    state: OrchestratorState,
    refused: Attempt,
    rule: FeedbackRule | EscalateRule,
) -> StepRequest:
    request = replace(request, model=rule.model if isinstance(rule, EscalateRule) else None)
    if read_correction(refused) is None and _hides_output(rule, refused, current_records(state)):
        wanted = [each["wanted"] for each in refused.get("problems", ())]
        wanted = wanted or [" ".join(read_reason(refused).split())]
        return replace(request, instruction=_add_list(request.instruction, KEEP_REQUIREMENTS, wanted))
    return replace(request, refused=Refusal(output=refused["result"], reason=read_reason(refused)))


def _hides_output(rule: FeedbackRule | EscalateRule, refused: Attempt, executions: Sequence[Attempt]) -> bool:
    """Returns whether the executor gets the requirements alone, and not the refused output."""
    if rule.last_output != "auto":
        return rule.last_output == "none"
    problems = refused.get("problems", ())
    is_stated = bool(problems) and all(problem.get("is_stated") for problem in problems)
    # An executor that does not see the output would call its tools again.
    return is_stated and not any(record["tool_calls"] for record in executions)


def _add_list(text: str, head: str, items: Sequence[str]) -> str:
    return "\n".join([text, "", f"{head}:", *(f"- {item}" for item in items)])


def build_sampling(request: StepRequest, models: Mapping[str, BaseChatModel]) -> Sampling | None:
    """Returns how the executor's model writes its reply; None if it keeps all its own settings.

    Args:
        request: The request.
        models: The models of escalations, by the name in the policy.
    """
    # A name that no rule has comes from a store; then the executor keeps its own model.
    model = None if request.model is None else models.get(request.model)
    sampling = Sampling(request.temperature, request.seed, model)
    return None if sampling == Sampling() else sampling
