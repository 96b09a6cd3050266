"""Measures a judge: asks it about labelled outputs, and counts its verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from agents.monitoring import MonitoringAgent
from agents.reply_types import UNREADABLE_PREFIX
from evaluation.contract.rubric import Rubric
from evaluation.errors import ContractError, JudgeError
from evaluation.judges.figures import JudgeTrust, LabelledOutput, Verdict, compute_trust, load_labelled_set
from evaluation.judges.judge_call import SUBJECTIVE, ask_judge, read_judge_result
from evaluation.judges.model_judge import judge_errors
from evaluation.plugins import AnyJudge, JudgeFunction, JudgeRequest, check_judge

MeasuredJudge = MonitoringAgent | AnyJudge | JudgeFunction
RUBRIC: Final = Rubric.model_validate(
    {"name": "correctness", "criteria": [{"name": "correctness", "description": SUBJECTIVE["correctness"]}]}
)
"""The rubric of a judge that scores: the one of a contract without criteria of its own."""


def measure_judge(
    judge: MeasuredJudge,
    *,
    name: str | None = None,
    outputs: Iterable[LabelledOutput] | None = None,
    rubric: Rubric = RUBRIC,
) -> JudgeTrust:
    """Asks a judge about each output of a labelled set, one after the other: of the bundled set, about 130.

    Args:
        judge: A monitor, or any judge. A monitor is asked as a run asks it; any other judge scores the
            rubric, and accepts with its pass score.
        name: The name under which ``find_trust`` finds the figures. Default: the judge's ``identity``.
        outputs: The outputs to ask about, for instance your own with people's labels. Default: the whole
            bundled set.
        rubric: The rubric of a judge that is no monitor. Default: the criterion "correctness".

    Raises:
        ContractError: The judge has no identity and no name is given, or it is no judge.
        ModelUnavailableError: The server of a monitor's model does not answer.
        ModelRefusedError: The server of a monitor's model refused the request.
    """
    known = name or getattr(judge, "identity", None)
    if not isinstance(known, str):
        raise ContractError("the judge has no identity; give name=, with the model and its version")
    asked = load_labelled_set() if outputs is None else outputs
    return compute_trust(known, ((output.kind, judge_output(judge, output, rubric)) for output in asked))


def judge_output(judge: MeasuredJudge, output: LabelledOutput, rubric: Rubric = RUBRIC) -> Verdict:
    """Asks a judge about one output; raises as ``measure_judge`` does."""
    if isinstance(judge, MonitoringAgent):
        return _ask_monitor(judge, output)
    request = JudgeRequest(rubric, output.task, output.output)
    asked = cast("AnyJudge", check_judge(judge))
    try:
        score = read_judge_result(ask_judge(asked, request), rubric).score
    except Exception:  # noqa: BLE001 - a judge is the user's code and may raise anything
        return "needs_review"
    return "accepted" if score >= rubric.lowest_passing else "refused"


def _ask_monitor(monitor: MonitoringAgent, output: LabelledOutput) -> Verdict:
    try:
        with judge_errors(monitor.llm):
            verdict = monitor.evaluate(output.task, output.output)
    except JudgeError:  # the provider's filter blocked this output; other errors concern every output
        return "needs_review"
    if verdict["success"]:
        return "accepted"
    return "needs_review" if verdict["feedback"].startswith(UNREADABLE_PREFIX) else "refused"
