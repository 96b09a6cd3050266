"""Builds the record of an execution, which the monitor and the supervision complete."""

from __future__ import annotations

from orchestrator.retry.repair import keeps_end, replace_parts
from orchestrator.retry.step_request import StepRequest
from orchestrator.runtime.call import Raised, Returned
from orchestrator.state.current_step import current_records, current_step
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import read_text
from orchestrator.state.records import SamplingRecord, StepRecord
from orchestrator.state.supervision_records import SupervisionMode, SupervisionRecord
from orchestrator.supervision.human import blank_supervision


def build_record(
    state: OrchestratorState,
    called: Returned[object] | Raised,
    request: StepRequest,
    started_at: str,
    mode: SupervisionMode,
) -> StepRecord:
    """Returns the record of an execution that is not judged yet.

    Args:
        state: The state before the execution, with the commitment to it.
        called: The executor's result, or its error.
        request: What the executor was asked to do.
        started_at: When the execution began, as ISO 8601.
        mode: How the step is supervised.
    """
    index, step = current_step(state)
    result, error = _read_result(called)
    if request.draft is not None and error is None:
        result = replace_parts(request.draft, result)
    is_cut = isinstance(called, Raised) and called.kind == "needs_review"
    record = StepRecord(
        step_index=index,
        step=step,
        attempt=len(current_records(state)) + 1,
        result=result,
        status="pending_validation" if error is None else "needs_review" if is_cut else "failed",
        verdict=None,
        report=None,
        warnings=[error] if is_cut and error else [],
        supervision=_build_supervision(state, mode),
        tool_calls=called.spent.tool_calls,
        usage=called.spent.usage,
        judge_usage=state["underway"]["committing"],
        model=called.spent.model,
        transport_retries=called.spent.transport_retries,
        replan=state["retries"]["replans"],
        started_at=started_at,
        error=error,
        basis="unverified",
        sampling=SamplingRecord(temperature=request.temperature, seed=request.seed, model=request.model),
    )
    cut_off = called.spent.cut_off or _find_cut_draft(state, request.draft, result)
    return record if cut_off is None else {**record, "cut_off": cut_off}


def _find_cut_draft(state: OrchestratorState, draft: str | None, result: str) -> str | None:
    """Returns why the draft of a result was cut off, if its end was not rewritten; else None."""
    if draft is None or not keeps_end(draft, result):
        return None
    reasons = (record.get("cut_off") for record in current_records(state) if record["result"] == draft)
    return next(filter(None, reasons), None)


def _build_supervision(state: OrchestratorState, mode: SupervisionMode) -> SupervisionRecord | None:
    """Returns a record with the commitment of this execution."""
    if mode == "none":
        return None
    return {**blank_supervision(mode), "commitment": state["underway"]["commitment"]}


def _read_result(called: Returned[object] | Raised) -> tuple[str, str | None]:
    """Returns the output and no error, or no output and the error."""
    if isinstance(called, Raised):
        return called.output, called.message
    text = read_text(called.value)
    if text is None:
        return "", f"the executor returned a {type(called.value).__name__}; text is wanted"
    return text, None
