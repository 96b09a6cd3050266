"""Node: validates the case and fills the state for the other nodes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, Literal

from agents.parsing.outcomes import read_outcome
from agents.parsing.tool_names import guess_kind
from evaluation.checks.contract_checks import NamedCheck
from evaluation.contract.contract import EvaluationCase, EvaluationContract, Threshold, TrajectoryRules
from evaluation.contract.intake import (
    AcceptedCase,
    RefusedCase,
    read_case,
    refuse_case,
)
from evaluation.contract.requirements import DEFAULT_CONTRACT, Contract
from evaluation.contract.run import MEASURES, AgentRun, CallOutcome, ToolCall
from evaluation.findings import Finding
from evaluation.measures.metric_table import METRICS, find_threshold_problems
from evaluation.plugins import Plugins
from evaluation.report.redaction import Redactor
from evaluation.report.report_model import Action, EvaluationState, PreparedState, raise_alert
from evaluation.sensitive.scanner import EVERY_SEARCH, list_suspects, shorten
from evaluation.texts.json_texts import parse_json
from evaluation.values import JsonObject


def normalize_calls(run: AgentRun, rules: TrajectoryRules) -> list[Action]:
    """Return the recorded calls of a run, in order, as the comparison takes them.

    A reused answer stands for the earlier effect only if the run lacks the call that had it. The tools that
    change something by the run's own word can only make the evaluation stricter: their calls are counted as
    those of other tools, but an unknown outcome is undecided.

    Args:
        run: The run.
        rules: The contract's rules, which say what acts and reads.
    """
    actions, made = [], list[tuple[str, object]]()
    for call in run.tool_calls:
        outcome = _read_outcome(call, rules, run.acting_tools)
        if outcome == "reused" and (call.name, call.args) not in made:
            outcome = "acted"
        if outcome in {"acted", "stated"}:
            made.append((call.name, call.args))
        counted = _select_counted(call.name, outcome, rules, run.acting_tools)
        actions.append(_normalize_call(call, _find_call_error(call, outcome), counted))
    return actions


def _read_outcome(call: ToolCall, rules: TrajectoryRules, recorded: Collection[str]) -> CallOutcome | None:
    if isinstance(call.result, Mapping) and call.result.get("isError") is True:
        return "refused"
    # Without an answer, the record holds the calls alone, and says nothing of what they did.
    is_answered = call.result is not None or bool(call.error)
    if call.outcome is not None or not is_answered or not _acts(call, rules, recorded):
        return call.outcome
    return read_outcome(call.name, call.result, is_error=bool(call.error))


def _acts(call: ToolCall, rules: TrajectoryRules, recorded: Collection[str]) -> bool:
    if call.name in (rules.acting_tools or ()) or call.name in recorded:
        return True
    is_said = rules.acting_tools is not None or call.kind != "tool"
    return not is_said and guess_kind(call.name) == "acting"


def _find_call_error(call: ToolCall, outcome: CallOutcome | None) -> str | None:
    if outcome in {"acted", "stated", "reused"}:
        return None
    text = "error" if call.error is True else call.error or call.not_run
    return text or ("error" if outcome in ("refused", "denied") else None)


def _select_counted(
    name: str, outcome: CallOutcome | None, rules: TrajectoryRules, recorded: Collection[str]
) -> CallOutcome | None:
    """Return the outcome if effects are counted: the word of a run, or a guess, frees no call of a limit."""
    if name in (rules.acting_tools or ()):
        return outcome
    is_kept = outcome == "reused" or (outcome == "unknown" and name in recorded)
    return outcome if is_kept else None


_LONGEST_ERROR: Final = 1000
"""Most characters of the error that ended a run in its report."""

# Stands in the state for a case that was refused.
_NO_CASE: Final = AcceptedCase(
    Contract(), EvaluationCase(agent_run=AgentRun(messages=[])), {"agent_run": {}}, ""
)


def prepare_evaluation(state: object, plugins: Plugins) -> PreparedState:
    """Validate the case and normalise it; a case that is wrong anywhere is ``invalid``, with each problem."""
    case_read = read_case(state)
    if isinstance(case_read, RefusedCase):
        return _reject(case_read, plugins)
    contract = _complete_contract(case_read, plugins)
    if problems := [*find_threshold_problems(contract.rules)]:
        return _reject(refuse_case(problems, case_read.plain), plugins)
    return _fill_state(case_read, contract)


def after_preparation(state: EvaluationState) -> Literal["score_response_quality", "finalize_report"]:
    """Skip the evaluation of an invalid case."""
    return "finalize_report" if state["evaluation_status"] == "invalid" else "score_response_quality"


def _complete_contract(case_read: AcceptedCase, plugins: Plugins) -> Contract:
    """Return the contract with the checks of the plug-ins; the default contract if nothing is demanded."""
    stated = case_read.contract or Contract()
    known = {check.name for check in stated.rules.checks if isinstance(check, NamedCheck)}
    added = [NamedCheck(name=check.name) for check in plugins.checks if check.name not in known]
    if added:
        return stated.join(Contract.of(EvaluationContract(checks=[*added])))
    is_judged = plugins.judge is not None or case_read.case.fake_judge_response is not None
    return stated if case_read.contract or is_judged else DEFAULT_CONTRACT


def _reject(refused: RefusedCase, plugins: Plugins) -> PreparedState:
    # A problem may quote a value that only another part of the case shows to be a password.
    redactor = Redactor.of([refused.quoted], plugins.recognizers)
    problems = redactor.clean(list(refused.problems))
    findings = [Finding("input", "record", False, "critical", "invalid_input", each) for each in problems]
    return {
        **_fill_state(_NO_CASE, Contract()),
        "case_id": redactor.clean(refused.case_id),
        # The problems quote the case, which nothing has searched.
        "suspects": [*EVERY_SEARCH],
        "evaluation_status": "invalid",
        "errors": problems,
        "findings": findings,
        "alerts": [*map(raise_alert, findings)],
    }


def _fill_state(case_read: AcceptedCase, contract: Contract) -> PreparedState:
    case, plain, rules = case_read.case, case_read.plain, contract.rules
    return {
        "input": case.input,
        "case_id": case.case_id,
        "agent_run": plain["agent_run"],
        "actual_output": case_read.output,
        "findings": _list_doubts(case_read),
        "reference_output": rules.reference_output,
        "actual_trajectory": normalize_calls(case.agent_run, rules.trajectory),
        "trajectory_match_mode": choose_mode(rules),
        "run_metadata": _merge_metadata(plain),
        "thresholds": {name: _normalize_bound(name, bound) for name, bound in rules.thresholds.items()},
        "baseline_metrics": case.baseline_metrics,
        "fake_judge_response": case.fake_judge_response,
        "suspects": list_suspects(case_read.text),
        "demands": contract,
        "conversation": case_read.conversation,
        # The fields of the other nodes, so that all are present in any final state.
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


def describe_contract(contract: Contract) -> EvaluationState:
    """Return the fields of the state that hold a contract as JSON, for readers outside of the evaluation."""
    stated = contract.plain
    return {
        "expected_trajectory": stated.get("expected_trajectory") or [],
        "rubric": stated.get("rubric"),
        "contract": {name: value for name, value in stated.items() if value is not None},
    }


def _merge_metadata(plain: Mapping[str, Any]) -> dict[str, object]:
    """Join the metadata of all places of a valid case, of which the last one holds; null counts as absent."""
    run = plain["agent_run"]
    measures = {name: value for name, value in run.items() if name in MEASURES}
    places = (measures, run.get("metadata") or {}, plain.get("run_metadata") or {})
    return {name: value for place in places for name, value in place.items() if value is not None}


def choose_mode(contract: EvaluationContract) -> str:
    """Return the match mode of a contract.

    One that names the writing tools asks for their effects, which have no order by default.
    """
    is_stated = "trajectory_match_mode" in contract.model_fields_set
    asks_for_effects = contract.trajectory.acting_tools is not None
    return "any_order" if asks_for_effects and not is_stated else contract.trajectory_match_mode


def _list_doubts(case_read: AcceptedCase) -> list[Finding]:
    error = case_read.case.agent_run.error
    if error is None:
        return [*case_read.doubts]
    reason = f"The run ended in an error: {shorten(error, _LONGEST_ERROR) or 'without a text'}"
    return [*case_read.doubts, Finding("agent_run", "record", False, "critical", "execution", reason)]


def _normalize_call(call: ToolCall, error: str | None, outcome: CallOutcome | None) -> Action:
    # Broken JSON does not make the case invalid: the agent wrote it, and the evaluation judges the agent.
    args, problem = _parse_arguments(call.args)
    not_run = "denied" if outcome == "denied" else call.not_run
    return {
        "kind": call.kind,
        "name": call.name,
        "args": args,
        "args_error": problem,
        "args_text": call.args if problem and isinstance(call.args, str) else None,
        "result": call.result,
        "error": error,
        # A tool that has answered has run, whatever else the record says.
        "not_run": not_run if call.result is None else None,
        "outcome": outcome,
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
    value = next(iter(parse_json(recorded)), None)
    return (value, None) if isinstance(value, dict) else (None, "the arguments are not a JSON object")


def _normalize_bound(metric: str, bound: Threshold | float | bool) -> JsonObject:
    """Write a threshold as min and max; a plain number is one of them by the metric's better direction.

    Lower is better for a custom resource.
    """
    if isinstance(bound, Threshold):
        return {name: value for name, value in bound if value is not None}
    return {"min" if METRICS.get(metric) == "higher" else "max": float(bound)}
