"""Calls a user's strategy with the refused step."""

from __future__ import annotations

from orchestrator.errors import RetryStrategyError
from orchestrator.retry.attempts import read_attempts
from orchestrator.retry.refused_step import read_reason
from orchestrator.retry.rules import CustomRule
from orchestrator.retry.step_request import RefusedStep, StepRequest, list_wanted
from orchestrator.state.current_step import current_records
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_text


def build_custom_request(rule: CustomRule, state: OrchestratorState, request: StepRequest) -> StepRequest:
    """Calls the strategy of a rule.

    Raises:
        RetryStrategyError: The strategy raised, or returned something else than a StepRequest.
    """
    records = current_records(state)
    step = RefusedStep(
        request=request,
        output=records[-1]["result"],
        feedback=read_reason(records[-1]),
        wanted=tuple(list_wanted(records[-1])),
        history=read_attempts(records),
    )
    try:
        answer: object = rule.strategy(step)
    except (Exception, SystemExit) as error:
        text = f"{type(error).__name__}: {format_text(error)}"
        raise RetryStrategyError(f"the retry strategy {rule.name!r} raised {text}") from error
    if not isinstance(answer, StepRequest):
        raise RetryStrategyError(
            f"the retry strategy {rule.name!r} returned a {type(answer).__name__}; "
            "it has to return a StepRequest"
        )
    return answer
