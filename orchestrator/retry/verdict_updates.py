"""The update of the state after a verdict, and the request for the next execution of the step.

A step is accepted, executed again, planned again or given up, or a person is asked about it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from pydantic import BaseModel

from agents.credentials.masking import mask_keys
from agents.parsing.end_reasons import describe_block, is_blocked
from agents.prompts import fence_text, find_boundary
from agents.reply_types import GateDecision
from orchestrator.judging.contract_options import format_output
from orchestrator.judging.evidence import is_enough
from orchestrator.judging.feedback import (
    KEEP_CORRECTIONS,
    KEEP_REQUIREMENTS,
    explain_derived,
    findings_of,
    list_kinds,
)
from orchestrator.judging.judging_calls import Judging
from orchestrator.retry.policy import FeedbackRule, RetryDecision, RetryPolicy, decide
from orchestrator.runtime.bounded_call import RunContext, Spent
from orchestrator.state.graph_state import (
    Failure,
    FailureKind,
    OrchestratorState,
    StateUpdate,
    add_usage,
    is_answer_due,
    list_corrections,
    list_executions,
    read_correction,
)
from orchestrator.state.plain_values import plain_text
from orchestrator.state.records import (
    Attempt,
    DecisionRecord,
    EvidencePart,
    Requirement,
    SamplingRecord,
)
from orchestrator.supervision.human import build_question, describe_problems

_FORM: Final = frozenset({"format", "length", "language"})
"""The kinds of failures that are about the form of an output."""
_LARGEST_SEED: Final = 2**31 - 1
_AFTER_CORRECTION: Final = FeedbackRule().model_dump()
"""The values of the rule for an execution after a correction, which no rule of the policy decides about."""
_REFUSED: Final[Mapping[GateDecision, str]] = {
    "forbidden": "the contract forbids these calls, which did not run",
    "unknown": "it is not known whether these calls had their effect",
}


def read_outcome(record: Attempt) -> Literal["validated", "failed", "needs_review"]:
    """Returns how the evaluation judged an execution."""
    status = None if record["report"] is None else record["report"]["status"]
    if status in ("passed", "warning"):
        return "validated"
    # A refusal is no output that a check could have refused.
    if is_blocked(record.get("cut_off", "")):
        return "needs_review"
    # Any other status means "needs_review", so that only a stated pass counts as one.
    return "failed" if status == "failed" else "needs_review"


def next_state(
    state: OrchestratorState, record: Attempt, policy: RetryPolicy, *, is_auto: bool
) -> StateUpdate:
    """Returns the update after the evaluation of an execution, as the policy decides.

    Args:
        state: The state before the update.
        record: The execution, with its report.
        policy: The policy of the orchestrator. The run's own ``max_retries`` replaces the one in it, so
            that a resumed run keeps its bound.
        is_auto: Whether a task is only planned after it failed as a whole. One whose form alone fails is not:
            no part of it has that form. Nor is a final answer, which has the results of the steps.
    """
    judged: Attempt = {**record, "status": read_outcome(record)}
    if judged["status"] == "validated":
        return accept(state, add_decision(record, "accept", record.get("basis_reason") or "accepted"))
    kinds = list_kinds(record["report"]) if is_auto else []
    is_final = is_answer_due(state) or (bool(kinds) and _FORM.issuperset(kinds))
    replans = 0 if is_final else max(0, policy.max_replans - state["retries"]["replans"])
    bounded = policy.model_copy(update={"max_retries": state["max_retries"], "max_replans": replans})
    decision = decide(bounded, _list_judged(state, judged))
    if decision.use == "ask_human":
        text = record["verdict"]["feedback"] if record["verdict"] else "There is no verdict."
        return ask_person(with_decision(record, decision), "review", text)
    return _apply_refusal(state, with_decision(judged, decision), decision)


def _apply_refusal(state: OrchestratorState, judged: Attempt, decision: RetryDecision) -> StateUpdate:
    reason = decision.reason
    if decision.rule is not None:
        return retry(state, judged, semantic=True)
    if decision.use == "replan":
        # The planner's new steps are given to the executor, so the answer is masked for it, too.
        why = f"step {judged['step_index'] + 1}: {reason}: {read_reason(judged)}"
        underway = {**state["underway"], "replan": why}
        return {"results": [judged], "attempts": state["attempts"] + 1, "underway": underway}
    kind: FailureKind = "needs_review" if judged["status"] == "needs_review" else "attempts_exhausted"
    cut_off, feedback = judged.get("cut_off", ""), judged["verdict"]["feedback"] if judged["verdict"] else ""
    feedback = describe_block(cut_off) if is_blocked(cut_off) else feedback
    derived = explain_derived(judged["report"]) if judged["report"] else []
    return fail(state, judged, kind, "; ".join([f"{reason}: {feedback}", *derived]))


def with_decision(record: Attempt, decision: RetryDecision) -> Attempt:
    """Returns the execution with its decision, and the rule that decided."""
    options = {} if decision.rule is None else decision.rule.model_dump(mode="json")
    use, reason, rule = decision.use, decision.reason, decision.position
    return {**record, "decision": DecisionRecord(use=use, reason=reason, rule=rule, options=options)}


def add_decision(record: Attempt, use: str, reason: str, rule: int | None = None) -> Attempt:
    """Returns the execution with a decision; ``rule`` is the place of the rule that asked for it."""
    return with_decision(record, RetryDecision(use=use, reason=reason, position=rule))


def accept(state: OrchestratorState, record: Attempt) -> StateUpdate:
    """Returns the update after an execution that is accepted."""
    index = record["step_index"]
    return {
        "results": [{**record, "status": "validated"}],
        "context": _format_entry(record),
        "current_step_index": index + 1,
        "attempts": 0,
        "warnings": [
            *(f"step {index + 1}: {warning}" for warning in record["warnings"]),
            *warn_of_refused_calls(state, record),
        ],
        "question": None,
        "status": "success" if index + 1 >= len(state["plan"]) else "executing",
    }


def _format_entry(record: Attempt) -> str:
    """Formats an accepted step for the context of the next ones."""
    return f"Step {record['step_index'] + 1}: {record['step']}\nResult: {record['result']}"


def accept_output(
    update: StateUpdate, record: Attempt, output_type: type[BaseModel] | None, require: Requirement | None
) -> StateUpdate:
    """Returns the update with the output of the run, or the failure if its basis is not enough."""
    basis, parts = record.get("basis", "unverified"), record.get("evidence")
    evidence = {name: part["by"] for name, part in cast("dict[str, EvidencePart]", parts or {}).items()}
    update = {**update, "basis": basis, "evidence": evidence or None}
    if is_enough(basis, require):
        result = record["result"]
        output = result if output_type is None else format_output(output_type, result)
        return {**update, "status": "success", "output": output}
    reason = record.get("basis_reason", basis)
    message = f"the output is not accepted, because require is {require!r}: {reason}"
    return {**update, **build_failure("unverified", message)}


def warn_of_refused_calls(state: OrchestratorState, record: Attempt) -> list[str]:
    """Returns warnings if the executor called forbidden tools, or if the effect of a call is not known.

    Args:
        state: The state before the update.
        record: The last execution of the step.
    """
    calls = [call for execution in _list_judged(state, record) for call in execution["tool_calls"]]
    warnings = []
    for decision, words in _REFUSED.items():
        if names := dict.fromkeys(call["name"] for call in calls if call.get("gate") == decision):
            warnings.append(f"step {record['step_index'] + 1}: {words}: {', '.join(names)}")
    return warnings


def retry(state: OrchestratorState, record: Attempt, *, semantic: bool) -> StateUpdate:
    """Returns the update after an execution that is repeated.

    Args:
        state: The state before the update.
        record: The execution.
        semantic: True after a refusal, which counts as a retry; False after a correction by a supervisor
            or a person, which has its own bound.
    """
    retries = state["retries"]
    return {
        "results": [record],
        "attempts": state["attempts"] + 1,
        "retries": {**retries, "semantic": retries["semantic"] + semantic},
        "question": None,
    }


def fail(
    state: OrchestratorState,
    record: Attempt,
    kind: FailureKind,
    reason: str,
    error: BaseException | None = None,
) -> StateUpdate:
    """Returns the update after an execution that ends the run as failed."""
    return {
        "results": [record if "decision" in record else add_decision(record, "stop", reason)],
        "attempts": state["attempts"] + 1,
        "warnings": warn_of_refused_calls(state, record),
        "question": None,
        **build_failure(kind, reason, record["step_index"], error),
    }


def build_failure(
    kind: FailureKind, message: str, step_index: int | None = None, error: BaseException | None = None
) -> StateUpdate:
    """Build the update that ends a run as failed; its message has no credentials."""
    where = "" if step_index is None else f"step {step_index + 1}: "
    return {
        "status": "failed",
        "failure": Failure(
            kind=kind,
            message=mask_keys(plain_text(f"{where}{message}")),
            step_index=step_index,
            error_type=plain_text(type(error).__name__) if error is not None else None,
        ),
    }


def count_calls(state: OrchestratorState, spent: Spent | Judging) -> StateUpdate:
    """Returns the run's totals after the calls of an agent, or of an evaluation."""
    retries = {**state["retries"], "transport": state["retries"]["transport"] + spent.transport_retries}
    return {"usage": add_usage(state["usage"], spent.usage), "retries": retries}


def stop_if_over_budget(update: StateUpdate, run: RunContext, step_index: int | None = None) -> StateUpdate:
    """Returns the update, as a failure if the run would go on and has exceeded its budget."""
    # A run that has ended keeps its own result: the budget only prevents further calls.
    is_over = update.get("status", "executing") != "executing"
    if is_over or (reason := run.find_excess(update["usage"])) is None:
        return update
    return {**update, "question": None, **build_failure("budget_exceeded", reason, step_index)}


def ask_person(record: Attempt, kind: Literal["supervision", "review"], text: str) -> StateUpdate:
    """Returns the update that asks a person about an execution."""
    triggers = record["supervision"]["triggers"] if record["supervision"] else []
    problems = describe_problems(triggers, findings_of(record["report"]))
    return {"results": [record], "question": build_question(record, kind, text, problems)}


def _list_judged(state: OrchestratorState, judged: Attempt) -> list[Attempt]:
    """Returns the executions of the step of this one, with this one as it was judged."""
    own = list_executions(state, judged["step_index"])
    return [*(other for other in own if other["attempt"] != judged["attempt"]), judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRequest:
    """One execution of a step.

    Attributes:
        instruction: The step, with additions.
        context: Results of earlier steps.
        sampling: How the model is asked to write the output.
        refused: The output to correct and the reason, which the executor gets apart; None if it gets none.
    """

    instruction: str
    context: str
    sampling: SamplingRecord
    refused: tuple[str, str] | None = None


def build_request(
    state: OrchestratorState, step: str, executions: Sequence[Attempt], policy: RetryPolicy
) -> StepRequest:
    """Returns the next execution of the current step, as the decision about the last one says.

    Args:
        state: The state before it.
        step: The text of the step.
        executions: The executions of the step so far.
        policy: The policy of the orchestrator.
    """
    instruction = build_instruction(step, executions)
    sampling = SamplingRecord(temperature=None, seed=None, model=None)
    request = StepRequest(instruction=instruction, context=state["context"], sampling=sampling)
    if not state["attempts"] or not executions:
        return request
    refused = executions[-1]
    rule, correction = _read_rule(refused), read_correction(refused)
    seed = derive_seed(policy.seed, refused["step_index"], refused["attempt"] + 1)
    sampling = SamplingRecord(temperature=rule["temperature"], seed=seed, model=rule.get("model"))
    request = replace(request, sampling=sampling)
    if rule["use"] == "resample":
        return request
    if correction is not None or not _hides_output(rule["last_output"], executions):
        return replace(request, refused=(refused["result"], read_reason(refused)))
    wanted = [each["wanted"] for each in refused.get("problems", ())]
    wanted = wanted or [" ".join(read_reason(refused).split())]
    return replace(request, instruction=_add_list(instruction, KEEP_REQUIREMENTS, wanted))


def build_instruction(step: str, executions: Sequence[Attempt]) -> str:
    """Returns the text of a step with all corrections by supervisors and people."""
    corrections = list_corrections(executions) if executions else []
    return _add_list(step, KEEP_CORRECTIONS, corrections) if corrections else step


def join_refusal(request: StepRequest) -> StepRequest:
    """Returns the request with the refused output in its context, for an executor that takes it there."""
    if request.refused is None:
        return request
    # A boundary that occurs in none of the texts, so that an output cannot pass for instructions.
    output, reason = request.refused
    mark = find_boundary(request.context, output, reason)
    parts = [
        request.context,
        fence_text("your last output", output, mark),
        fence_text("why it was refused; correct that", reason, mark),
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


def _read_rule(refused: Attempt) -> Mapping[str, Any]:
    """Returns the values of the rule that decided; after a correction, of the feedback."""
    options = refused["decision"]["options"] if "decision" in refused else {}
    is_ruled = "temperature" in options and read_correction(refused) is None
    return options if is_ruled else _AFTER_CORRECTION


def _hides_output(last_output: str, executions: Sequence[Attempt]) -> bool:
    """Returns whether the executor gets the requirements alone, and not the refused output."""
    if last_output != "auto":
        return last_output == "none"
    problems = executions[-1].get("problems", ())
    is_stated = bool(problems) and all(problem.get("is_stated") for problem in problems)
    # An executor that does not see the output would call its tools again.
    return is_stated and not any(record["tool_calls"] for record in executions)


def _add_list(text: str, head: str, items: Sequence[str]) -> str:
    return "\n".join([text, "", f"{head}:", *(f"- {item}" for item in items)])
