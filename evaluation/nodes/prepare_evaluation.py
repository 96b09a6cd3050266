"""Node: validates the case and fills the state for the other nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evaluation.importers.tool_answers import has_failed
from evaluation.inputs.contract import EvaluationCase, EvaluationContract, Threshold
from evaluation.inputs.intake import AcceptedCase, RefusedCase, merge_metadata, read_case, refuse_case
from evaluation.inputs.recorded_messages import Doubt
from evaluation.inputs.run import AgentRun, ToolCall
from evaluation.inputs.trajectory_rules import TrajectoryRules
from evaluation.metrics.chosen_metrics import leave_out_demands
from evaluation.metrics.metric_table import find_threshold_problems, metric_direction
from evaluation.plugins import Plugins
from evaluation.results.alerts import alert
from evaluation.results.findings import TRUNCATED, MetricOutcome, build_outcome
from evaluation.results.redaction import Redactor
from evaluation.results.state import Action, EvaluationState
from evaluation.sensitive.quoting import shorten
from evaluation.sensitive.scanner import may_contain_sensitive
from evaluation.texts.json_texts import parse_json
from evaluation.values import JsonObject, as_list, as_object

_CONTRACT: Final = frozenset(EvaluationContract.model_fields)


_LONGEST_ERROR: Final = 1000
"""Most characters of the error that ended a run in its report."""

# Stands in the state for a case that was refused.
_NO_CASE: Final = AcceptedCase(EvaluationCase(agent_run=AgentRun(messages=[])), {"agent_run": {}}, "")


def _blank_results() -> EvaluationState:
    """Return the fields of the other nodes with empty values, so that all are present in any final state."""
    return {
        "check_results": [],
        "response_metrics": {},
        "operational_metrics": {},
        "trajectory_metrics": {},
        "judge_decision": {},
        "judge_result": None,
        "audit_findings": [],
        "drift_signals": {},
        "alerts": [],
        # Fails closed: a run without a decision is not passed.
        "evaluation_status": "needs_review",
        "errors": [],
        "evaluation_report": None,
    }


def prepare_evaluation(state: object, plugins: Plugins) -> EvaluationState:
    """Validate the case and normalise it; a case that is wrong anywhere is ``invalid``, with each problem."""
    case_read = read_case(state)
    if isinstance(case_read, RefusedCase):
        return _reject(case_read, plugins)
    if problems := [*find_threshold_problems(case_read.case)]:
        return _reject(refuse_case(problems, case_read.plain), plugins)
    prepared = leave_out_demands(_fill_state(case_read), plugins)
    return _add_checks(prepared, plugins) if plugins.checks else prepared


def _add_checks(state: EvaluationState, plugins: Plugins) -> EvaluationState:
    """Name the checks of the plug-ins in the contract, unless it names them already."""
    checks = as_list(state["contract"].get("checks"))
    named = {as_object(check).get("name") for check in checks if as_object(check).get("check") == "function"}
    added = [{"check": "function", "name": check.name} for check in plugins.checks if check.name not in named]
    return {**state, "contract": {**state["contract"], "checks": [*checks, *added]}}


def _reject(refused: RefusedCase, plugins: Plugins) -> EvaluationState:
    # A problem may quote a value that only another part of the case shows to be a password.
    redactor = Redactor.of([refused.quoted], plugins.recognizers)
    problems = redactor.clean(list(refused.problems))
    outcomes = [build_outcome("invalid_input", "input", False, "critical", problem) for problem in problems]
    return {
        **_fill_state(_NO_CASE),
        "case_id": redactor.clean(refused.case_id),
        # The problems quote the case, which nothing has searched.
        "may_be_sensitive": True,
        "evaluation_status": "invalid",
        "errors": problems,
        "alerts": [alert(outcome) for outcome in outcomes],
    }


def _fill_state(case_read: AcceptedCase) -> EvaluationState:
    case, plain = case_read.case, case_read.plain
    return {
        **_blank_results(),
        "input": case.input,
        "case_id": case.case_id,
        "agent_run": as_object(plain["agent_run"]),
        "actual_output": case_read.output,
        "record_checks": [*map(_build_doubt, case_read.doubts), *_find_error(case)],
        "reference_output": case.reference_output,
        "actual_trajectory": [_normalize_call(call, case.trajectory) for call in case.agent_run.tool_calls],
        "expected_trajectory": [
            action if isinstance(action, dict) else {"name": action}
            for action in as_list(plain.get("expected_trajectory"))
        ],
        "trajectory_match_mode": _choose_mode(case),
        "run_metadata": merge_metadata(plain),
        "thresholds": {name: _normalize_bound(name, bound) for name, bound in case.thresholds.items()},
        "rubric": as_object(plain["rubric"]) if case.rubric else None,
        "baseline_metrics": case.baseline_metrics,
        "fake_judge_response": case.fake_judge_response,
        "contract": {name: value for name, value in plain.items() if name in _CONTRACT and value is not None},
        "may_be_sensitive": may_contain_sensitive(case_read.text),
    }


def _choose_mode(case: EvaluationCase) -> str:
    # A contract that names the writing tools asks for their effects, which have no order by default.
    if case.trajectory.asks_for_effects and "trajectory_match_mode" not in case.model_fields_set:
        return "any_order"
    return case.trajectory_match_mode


def _find_error(case: EvaluationCase) -> Iterator[MetricOutcome]:
    error = case.agent_run.error
    if error is not None:
        reason = f"The run ended in an error: {shorten(error, _LONGEST_ERROR) or 'without a text'}"
        yield build_outcome("execution", "agent_run", False, "critical", reason)


def _build_doubt(doubt: Doubt) -> MetricOutcome:
    if doubt.is_truncated:
        return build_outcome("response", TRUNCATED, False, doubt.severity, doubt.reason)
    return build_outcome("record", "agent_run", None, doubt.severity, doubt.reason)


def _normalize_call(call: ToolCall, rules: TrajectoryRules) -> Action:
    # Broken JSON does not make the case invalid: the agent wrote it, and the evaluation judges the agent.
    args, problem = _parse_arguments(call.args)
    is_write = call.name in (rules.writing_tools or ())
    failed = has_failed(call.result, rules.failed_answers, is_write=is_write)
    return {
        "kind": call.kind,
        "name": call.name,
        "args": args,
        "args_error": problem,
        "args_text": call.args if problem and isinstance(call.args, str) else None,
        "result": call.result,
        "error": "error" if failed or call.error is True else call.error or call.not_run,
        # A tool that has answered has run, whatever else the record says.
        "not_run": call.not_run if call.result is None else None,
        "agent": call.agent,
        "target": call.target,
        "latency_ms": call.latency_ms,
        "message": call.message,
    }


def _parse_arguments(recorded: object) -> tuple[JsonObject | None, str | None]:
    """Parse recorded arguments; returns them, or the reason why the text is not a JSON object."""
    if not isinstance(recorded, str):
        return recorded if isinstance(recorded, dict) else None, None
    # Providers write a call without arguments in these ways, too.
    if recorded.strip() in {"", "null"}:
        return None, None
    values = parse_json(recorded)
    if len(values) > 1:
        # Nobody can say which of the values the tool received.
        return None, "the arguments have a key twice"
    value = values[0] if values else None
    return (value, None) if isinstance(value, dict) else (None, "the arguments are not a JSON object")


def _normalize_bound(metric: str, bound: Threshold | float | bool) -> JsonObject:
    """Write a threshold as min and max; a plain number is one of them by the metric's better direction."""
    if isinstance(bound, Threshold):
        return {name: value for name, value in bound if value is not None}
    return {"min" if metric_direction(metric) == "higher" else "max": float(bound)}
