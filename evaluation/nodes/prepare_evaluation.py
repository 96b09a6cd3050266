"""Node: check what was handed in, and lay it out for the nodes that follow."""

from __future__ import annotations

import json
from typing import Final, NoReturn

from evaluation.inputs.contract import EvaluationContract
from evaluation.inputs.intake import AcceptedCase, RefusedCase, merge_metadata, read_case
from evaluation.inputs.messages import content_texts
from evaluation.inputs.rules import Threshold
from evaluation.inputs.run import AgentRun, ToolCall
from evaluation.metrics.registry import metric_direction
from evaluation.plugins import Plugins
from evaluation.results.alerts import alert
from evaluation.results.findings import build_outcome
from evaluation.results.state import Action, EvaluationState
from evaluation.sensitive.scanner import may_contain_sensitive
from evaluation.values import JsonObject, as_list, as_object

_CONTRACT: Final = frozenset(EvaluationContract.model_fields)


def blank_state() -> EvaluationState:
    """Give every field its empty value, so that all are there whatever happens."""
    return {
        "input": "",
        "case_id": None,
        "agent_run": {},
        "actual_output": "",
        "reference_output": None,
        "actual_trajectory": [],
        "expected_trajectory": [],
        "trajectory_match_mode": "in_order",
        "run_metadata": {},
        "thresholds": {},
        "rubric": None,
        "baseline_metrics": None,
        "contract": {},
        "may_be_sensitive": True,
        "response_metrics": {},
        "operational_metrics": {},
        "trajectory_metrics": {},
        "judge_decision": {},
        "judge_result": None,
        "audit_findings": [],
        "drift_signals": {},
        "alerts": [],
        "evaluation_status": "needs_review",
        "errors": [],
        "evaluation_report": None,
    }


def prepare_evaluation(state: object, plugins: Plugins) -> EvaluationState:  # noqa: ARG001
    """Validate the case and normalise it; a case that is wrong anywhere is ``invalid``, with each problem."""
    taken = read_case(state)
    return _invalid(taken) if isinstance(taken, RefusedCase) else _laid_out(taken)


def _invalid(refused: RefusedCase) -> EvaluationState:
    checks = [
        build_outcome("invalid_input", "input", False, "critical", problem) for problem in refused.problems
    ]
    return {
        **blank_state(),
        "case_id": refused.case_id,
        "evaluation_status": "invalid",
        "errors": list(refused.problems),
        "alerts": [alert(found) for found in checks],
    }


def _laid_out(taken: AcceptedCase) -> EvaluationState:
    case, plain = taken.case, taken.plain
    return {
        **blank_state(),
        "input": case.input,
        "case_id": case.case_id,
        "agent_run": as_object(plain["agent_run"]),
        "actual_output": output_of(case.agent_run),
        "reference_output": case.reference_output,
        "actual_trajectory": [_action(call) for call in case.agent_run.tool_calls],
        "expected_trajectory": [_expected(action) for action in as_list(plain.get("expected_trajectory"))],
        "trajectory_match_mode": case.trajectory_match_mode,
        "run_metadata": merge_metadata(plain),
        "thresholds": {name: _bound(name, given) for name, given in case.thresholds.items()},
        "rubric": as_object(plain["rubric"]) if case.rubric else None,
        "baseline_metrics": as_object(plain["baseline_metrics"])
        if case.baseline_metrics is not None
        else None,
        "contract": {name: value for name, value in plain.items() if name in _CONTRACT and value is not None},
        "may_be_sensitive": may_contain_sensitive(taken.text),
    }


def output_of(run: AgentRun) -> str:
    """Give the final output; where none is recorded, the text of the assistant's last message.

    A run whose last message called a tool was cut off before it answered: it has no output.
    """
    if run.final_output is not None:
        return run.final_output
    said = [message.get("content") for message in run.messages if message.get("role") == "assistant"]
    return "".join(content_texts(said[-1])) if said else ""


def _action(call: ToolCall) -> Action:
    args, wrong = _arguments(call.args)
    return {
        "kind": call.kind,
        "name": call.name,
        "args": args,
        "args_error": wrong,
        "result": call.result,
        "error": _error(call.error),
        "agent": call.agent,
        "target": call.target,
        "latency_ms": call.latency_ms,
    }


def _error(given: bool | str | None) -> str | None:
    return "error" if given is True else given or None


def _arguments(given: object) -> tuple[JsonObject | None, str | None]:
    """Read recorded arguments; text that is no JSON object is told, not raised."""
    if not isinstance(given, str):
        return given if isinstance(given, dict) else None, None
    try:
        value = json.loads(given, parse_constant=_no_number)
    except RecursionError:
        return None, "the arguments are nested too deep"
    except ValueError as error:
        return None, f"the arguments are no JSON: {error.args[0]}"
    return (value, None) if isinstance(value, dict) else (None, "the arguments are no JSON object")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _expected(action: object) -> JsonObject:
    return action if isinstance(action, dict) else {"name": action}


def _bound(metric: str, given: Threshold | float | bool) -> JsonObject:
    """Write a threshold out; a bare number is a minimum or a maximum by the metric's direction."""
    if isinstance(given, Threshold):
        return {name: value for name, value in given if value is not None}
    return {"min" if metric_direction(metric) == "higher" else "max": float(given)}
