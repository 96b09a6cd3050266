"""Asserts in a test that a run is accepted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from pydantic import BaseModel

from evaluation import EvaluationContract, EvaluationReport, evaluate
from evaluation.plugins import PluginOptions
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.reporting.action_pairs import describe_failure
from evaluation.values import JsonObject
from orchestrator.experiments.recorded_evaluation import FailOn, RecordedEvaluation
from orchestrator.experiments.targets import read_output
from orchestrator.state.records import Requirement

if TYPE_CHECKING:
    from evaluation.judges.model_judge import RubricJudge  # LangChain is slow to import


def assert_evaluation(
    run: object,
    *,
    contract: EvaluationContract | Mapping[str, object] | None = None,
    require: Requirement | None = None,
    fail_on: FailOn = "failed",
    judge: RubricJudge | None = None,
    **options: Unpack[PluginOptions],
) -> EvaluationReport:
    """Evaluate a run and raise AssertionError if it is not accepted.

    Args:
        run: A case for ``evaluate``; or an ``agent_run``, the state of a run, LangChain's ``{"messages":
            [...]}``, or the answer as a text.
        contract: What is required, in place of the contract of a case. Without any contract: that no fact
            and no action is without a source, and the other checks that need none.
        require: What a success has to rest on: "checked", "judged" or "approved"; None for anything.
        fail_on: The least severe status that is not accepted: "warning", "needs_review" or "failed".
        judge: Scores what no program can.
        options: The plug-ins of ``evaluate``.

    Returns:
        The report of an accepted run.

    Raises:
        AssertionError: The run is not accepted. The text has the reasons, the expected calls beside the
            actual ones, and the answer.
        ContractError: The contract is wrong.
        TypeError: The run is none of these.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    fields = _read_contract(contract)
    evaluation = RecordedEvaluation(fields, fail_on, require, judge, keeps_runs=True)
    recorded = RecordedRun(_read_case(run))
    judged = evaluation.add_contract(recorded) or recorded
    report = evaluate(judged.case, judge=judge, **options)
    result = evaluation.build_result(report, judged)
    if not result.accepted:
        raise AssertionError(describe_failure(result))
    return report


def _read_contract(contract: EvaluationContract | Mapping[str, object] | None) -> JsonObject | None:
    if contract is None:
        return None
    if not isinstance(contract, EvaluationContract):
        fields: dict[str, Any] = dict(contract)
        contract = EvaluationContract(**fields)
    return contract.model_dump(mode="json", exclude_unset=True)


def _read_case(run: object) -> JsonObject:
    value = run.model_dump(mode="json", exclude_unset=True) if isinstance(run, BaseModel) else run
    if isinstance(value, Mapping) and "agent_run" in value:
        return value
    return {"agent_run": read_output(value)}
