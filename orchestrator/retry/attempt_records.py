"""Builds the record of an execution, and lists the effects of the calls in records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agents.loop.effects import Effect
from agents.parsing.thoughts import remove_thoughts
from orchestrator.retry.verdict_updates import StepRequest
from orchestrator.runtime.bounded_call import Raised, Returned
from orchestrator.runtime.call_records import read_effects
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import read_text
from orchestrator.state.records import (
    Attempt,
    CallOrigin,
    EffectRecord,
    SupervisionMode,
    SupervisionRecord,
    ToolCallRecord,
)
from orchestrator.supervision import human


def build_record(  # noqa: PLR0917
    state: OrchestratorState,
    step: str,
    place: CallOrigin,
    called: Returned[object] | Raised,
    request: StepRequest,
    started_at: str,
    mode: SupervisionMode,
) -> Attempt:
    """Returns the record of an execution that is not judged yet.

    Args:
        state: The state before the execution, with the commitment to it.
        step: The text of the step.
        place: The index of the step and the number of the execution.
        called: The executor's result, or its error.
        request: The request to the executor.
        started_at: When the execution began, as ISO 8601.
        mode: How the step is supervised.
    """
    result, error = _read_result(called)
    is_cut = isinstance(called, Raised) and called.kind == "needs_review"
    supervision: SupervisionRecord | None = None
    if mode != "none":
        supervision = {**human.blank_supervision(mode), "commitment": state["underway"]["commitment"]}
    record = Attempt(
        step_index=place["step_index"],
        step=step,
        attempt=place["attempt"],
        result=result,
        status="pending_validation" if error is None else "needs_review" if is_cut else "failed",
        verdict=None,
        report=None,
        warnings=[error] if is_cut and error else [],
        supervision=supervision,
        tool_calls=called.spent.tool_calls,
        usage=called.spent.usage,
        judge_usage=state["underway"]["committing"],
        model=called.spent.model,
        transport_retries=called.spent.transport_retries,
        replan=state["retries"]["replans"],
        started_at=started_at,
        error=error,
        basis="unverified",
        sampling=request.sampling,
    )
    cut_off = called.spent.cut_off
    return record if cut_off is None else {**record, "cut_off": cut_off}


def _read_result(called: Returned[object] | Raised) -> tuple[str, str | None]:
    """Returns the output and no error, or no output and the error."""
    if isinstance(called, Raised):
        return called.output, called.message
    text = read_text(called.value)
    if text is None:
        return "", f"the executor returned a {type(called.value).__name__}; text is wanted"
    answer = remove_thoughts(text)
    return (text if answer == text.strip() else answer), None


def list_effects(records: Iterable[Attempt]) -> list[EffectRecord]:
    """Lists the calls of tools that act, in the order of the records."""
    return [
        _read_effect(CallOrigin(step_index=record["step_index"], attempt=record["attempt"]), call)
        for record in records
        for call in record["tool_calls"]
        if "outcome" in call
    ]


def list_open_effects(
    place: CallOrigin, stored: Mapping[str, Effect], calls: Iterable[ToolCallRecord]
) -> list[EffectRecord]:
    """Lists the effects of an execution under way, as its graph has stored them, and those of other calls."""
    acting = {key: effect for key, effect in stored.items() if not effect.get("is_open")}
    made = [*read_effects(acting), *(call for call in calls if "outcome" in call)]
    return [_read_effect(place, call) for call in made]


def _read_effect(place: CallOrigin, call: ToolCallRecord) -> EffectRecord:
    effect = EffectRecord(
        step_index=place["step_index"],
        attempt=place["attempt"],
        name=call["name"],
        args=call["args"],
        outcome=call["outcome"],
        answer=call["result"] if call["error"] is None else call["error"],
        is_guessed="writes" not in call,
    )
    if "answer" in call:
        effect["approval"] = call["answer"]
    if "read_back" in call:
        effect["read_back"] = call["read_back"]
    return effect
