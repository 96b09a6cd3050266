"""The next execution of a step: the prompt of the executor, and the sampling of its model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from agents.models.sampling import Sampling
from orchestrator.errors import ConfigurationError
from orchestrator.retry.correction import add_refusal, build_instruction, find_best_record, read_reason
from orchestrator.retry.plain_rules import read_rule
from orchestrator.retry.repair import number_parts
from orchestrator.retry.rules import (
    BaseRule,
    CustomRule,
    EscalateRule,
    FeedbackRule,
    LastOutput,
    ParallelRule,
    RepairRule,
    ResampleRule,
    ToldChecks,
)
from orchestrator.state.current_step import (
    current_index,
    current_records,
    last_refused_record,
    read_correction,
)
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import DecisionRecord, StepRecord

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_LARGEST_SEED: Final = 2**31 - 1
_REFUSED: Final = "Your output was not accepted. What has to change"
_REPAIR: Final = (
    "Reply only with the parts that have to change, each as its number in brackets and its new text, "
    'such as "[2] new text". Leave out the other parts: they stay as they are.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refused output, and the reason that its author is told."""

    output: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """One execution of a step.

    Attributes:
        instruction: The step, with what was added to it.
        context: Results of earlier steps.
        refused: The output to correct, which the executor gets apart; None if it gets none.
        temperature: Temperature of the model; None for its own.
        seed: Seed of the model; None for its own.
        model: Specification or name of another model; None for the executor's.
        draft: The output of which only the parts in the reply are replaced; None if the reply is the output.
    """

    instruction: str
    context: str
    refused: Refusal | None = None
    temperature: float | None = None
    seed: int | None = None
    model: str | None = None
    draft: str | None = None


CustomStrategy = Callable[[CustomRule, OrchestratorState, StepRequest], StepRequest]
"""Builds the request of a strategy of an installed package."""


def build_request(state: OrchestratorState, seed: int, custom: CustomStrategy) -> StepRequest:
    """Builds the next execution of the current step, as the decision in its last record says.

    Args:
        state: The state of the run.
        seed: The seed of the policy.
        custom: Called for a strategy of an installed package.
    """
    request = StepRequest(instruction=build_instruction(state), context=state["context"])
    refused = last_refused_record(state)
    if refused is None:
        return request
    rule = _read_rule(refused)
    attempt = refused["attempt"] + 1
    request = replace(
        request, seed=derive_seed(seed, current_index(state), attempt), temperature=rule.temperature
    )
    if isinstance(rule, FeedbackRule | EscalateRule):
        return _add_feedback(request, state, refused, rule)
    if isinstance(rule, RepairRule):
        return _add_repair(request, _choose_start(state, refused, rule.start_from))
    return custom(rule, state, request) if isinstance(rule, CustomRule) else request


def join_refusal(request: StepRequest) -> StepRequest:
    """Returns the request with the refused output in its context, for an executor that takes it there."""
    refused = request.refused
    if refused is None:
        return request
    return replace(
        request, context=add_refusal(request.context, refused.output, refused.reason), refused=None
    )


def derive_seed(seed: int, step_index: int, attempt: int) -> int:
    """Derives the seed of an execution: the same after a crash, and another one for each execution."""
    text = json.dumps([seed, step_index, attempt])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & _LARGEST_SEED


def list_wanted(record: StepRecord) -> list[str]:
    """Lists the requirements that an execution did not meet, the most severe first."""
    problems = record.get("problems")
    return [each["wanted"] for each in problems] if problems else [" ".join(read_reason(record).split())]


def _read_rule(
    refused: StepRecord,
) -> FeedbackRule | ResampleRule | RepairRule | EscalateRule | ParallelRule | CustomRule:
    """Returns the rule that the decision names; feedback after a correction, and for an older record."""
    decision = refused.get("decision")
    if decision is None or read_correction(refused) is not None:
        return FeedbackRule()
    rule = _parse_rule(decision)
    executing = FeedbackRule | ResampleRule | RepairRule | EscalateRule | ParallelRule | CustomRule
    return rule if isinstance(rule, executing) else FeedbackRule()


def _parse_rule(decision: DecisionRecord) -> BaseRule | None:
    try:
        return read_rule({**decision["options"], "use": decision["use"]})
    except ConfigurationError:  # a stored value that another version wrote
        return None


def _add_feedback(
    request: StepRequest, state: OrchestratorState, refused: StepRecord, rule: FeedbackRule | EscalateRule
) -> StepRequest:
    model = rule.model if isinstance(rule, EscalateRule) else None
    request = replace(request, model=model)
    if read_correction(refused) is not None:
        return replace(request, refused=Refusal(output=refused["result"], reason=read_reason(refused)))
    start = _choose_start(state, refused, rule.start_from)
    told = _choose_problems(start, rule.checks, _count_feedback(state))
    has_acted = any(record["tool_calls"] for record in current_records(state))
    last_output = choose_last_output(start, rule.last_output, has_acted=has_acted)
    if last_output == "none":
        wanted = list_wanted({**start, "problems": [start["problems"][at] for at in told]} if told else start)
        return replace(
            request, instruction=_add_list(request.instruction, "Keep to these requirements", wanted)
        )
    request = replace(request, refused=Refusal(output=start["result"], reason=_format_reason(start, told)))
    return join_refusal(request) if last_output == "quoted" else request


def choose_last_output(refused: StepRecord, last_output: LastOutput, *, has_acted: bool) -> LastOutput:
    """Returns how the refused output is shown: "auto" becomes "none" or "turn".

    Args:
        refused: The execution whose output may be shown.
        last_output: The option of the rule.
        has_acted: Whether an execution of the step called a tool: an executor that does not see the output
            would call it again.
    """
    if last_output != "auto":
        return last_output
    problems = refused.get("problems", ())
    is_stated = bool(problems) and all(problem.get("is_stated") for problem in problems)
    return "none" if is_stated and not has_acted else "turn"


def _choose_start(state: OrchestratorState, refused: StepRecord, start_from: str) -> StepRecord:
    best = find_best_record(current_records(state)) if start_from == "best" else None
    return refused if best is None else best


def _choose_problems(record: StepRecord, checks: ToldChecks, told_before: int) -> list[int]:
    """Returns the places of the problems to tell; empty for the whole feedback."""
    count = len(record.get("problems", []))
    if checks == "all" or not count:
        return []
    return [0 if checks == "worst" else told_before % count]


def _count_feedback(state: OrchestratorState) -> int:
    """Counts how often the executor of this step was told what failed, before this time."""
    decisions = [record.get("decision") for record in current_records(state)[:-1]]
    return sum(decision is not None and decision["use"] in {"feedback", "escalate"} for decision in decisions)


def _format_reason(record: StepRecord, told: Sequence[int]) -> str:
    if not told:
        return read_reason(record)
    return "\n".join([f"{_REFUSED}:", *(f"- {record['problems'][at]['text']}" for at in told)])


def _add_repair(request: StepRequest, start: StepRecord) -> StepRequest:
    draft = start["result"]
    text = _add_list(request.instruction, "A draft does not meet these requirements", list_wanted(start))
    instruction = f"{text}\n\nThe parts of the draft:\n{number_parts(draft)}\n\n{_REPAIR}"
    return replace(request, instruction=instruction, draft=draft)


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
