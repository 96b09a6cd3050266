"""Finding: the one result of a check, measure, audit rule, threshold, comparison or judge; and its status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from evaluation.values import Severity

FindingKind = Literal[
    "invalid_input",
    "record",
    "execution",
    "policy",
    "response",
    "trajectory",
    "operational",
    "collaboration",
    "judge",
    "judge_error",
    "metric_error",
    "missing_data",
    "inconclusive",
    "undecided",
    "check_error",
    "lost_fact",
    "regression",
    "improvement",
    "drift",
    "anomaly",
    "defect",
    "suspicion",
]
EvaluationStatus = Literal["passed", "warning", "needs_review", "failed", "invalid"]
Group: TypeAlias = Literal["record", "response", "operational", "trajectory", "audit", "judge", "drift"]
CheckKind: TypeAlias = Literal["format", "content", "length", "language", "tool"]
Covers: TypeAlias = Literal["form", "content", "actions"]
CheckSource: TypeAlias = Literal["contract", "task", "function"]

TRUNCATED: Final = "truncated_reply"
"""The name of the finding about a last reply that reached its limit of tokens."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer to one requirement, measure, rule or comparison; made once, and never changed.

    Attributes:
        name: The metric, or the id of the audit rule.
        group: The part of the evaluation that made it.
        passed: None if the answer is not known.
        severity: The effect if it did not pass.
        kind: The kind of answer; with the severity, it decides the status of the run.
        reason: One sentence that names the problem and the change.
        observed: The value that was compared; of a check, what the run has, as a main clause.
        limit: The value that it was compared with; of a check, the requirement as an instruction.
        where: The place in the run, such as ``agent_run.final_output``.
        category: The category of an audit finding, such as ``safety``.
        evidence: Plain JSON that backs it: an excerpt, or what a function says.
        owner: The owner of the alert; None for the owner of the contract.
        action: The recommended action; None for the usual one of its kind.
        check: The check of the contract that it answers: its kind, or the name of a function; None
            if it answers no check.
        failure: The kind of failure of such a check.
        covers: The part of the answer that the check is about: its form, its content, or the actions.
        origin: ``function`` for a check of the user's code, ``task`` if the check quotes the
            task, else ``contract``.
        quote: The words of the task that state the check.
    """

    name: str
    group: Group
    passed: bool | None
    severity: Severity
    kind: FindingKind
    reason: str
    observed: object = None
    limit: object = None
    where: str = ""
    category: str = ""
    evidence: object = None
    owner: str | None = None
    action: str | None = None
    check: str | None = None
    failure: CheckKind = "content"
    covers: Covers = "content"
    origin: CheckSource = "contract"
    quote: str | None = None

    @property
    def ends_early(self) -> bool:
        """Whether it says that the output is missing or was cut off."""
        return self.kind == "execution" or self.name == TRUNCATED


STRICTNESS: Final[tuple[EvaluationStatus, ...]] = ("passed", "warning", "needs_review", "failed", "invalid")
"""From the mildest to the strictest."""

STATUS: Final[Mapping[FindingKind, Mapping[Severity, EvaluationStatus]]] = {
    # kind of finding    info                  warning                    critical
    "invalid_input": {"info": "invalid", "warning": "invalid", "critical": "invalid"},
    "record": {"info": "passed", "warning": "needs_review", "critical": "failed"},
    "execution": {"info": "failed", "warning": "failed", "critical": "failed"},
    "policy": {"info": "passed", "warning": "warning", "critical": "failed"},
    "response": {"info": "passed", "warning": "warning", "critical": "failed"},
    "trajectory": {"info": "passed", "warning": "warning", "critical": "failed"},
    "operational": {"info": "passed", "warning": "warning", "critical": "failed"},
    "collaboration": {"info": "passed", "warning": "warning", "critical": "failed"},
    "judge": {"info": "passed", "warning": "warning", "critical": "failed"},
    "regression": {"info": "passed", "warning": "warning", "critical": "failed"},
    "improvement": {"info": "passed", "warning": "passed", "critical": "passed"},
    "drift": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "anomaly": {"info": "passed", "warning": "warning", "critical": "needs_review"},
    "judge_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "metric_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "missing_data": {"info": "warning", "warning": "needs_review", "critical": "failed"},
    "inconclusive": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    # No judge settles it: whether a check holds is no matter of opinion.
    "undecided": {"info": "passed", "warning": "needs_review", "critical": "failed"},
    "check_error": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
    "defect": {"info": "passed", "warning": "warning", "critical": "failed"},
    "suspicion": {"info": "passed", "warning": "needs_review", "critical": "failed"},
    # No judge settles it: a text may say the same without the fact, but no check can tell.
    "lost_fact": {"info": "needs_review", "warning": "needs_review", "critical": "failed"},
}
"""The status by kind and severity. Only a measured finding, or a check, of severity info lets a run pass."""


def strictest_status(findings: Iterable[tuple[FindingKind, Severity]]) -> EvaluationStatus:
    """Return the strictest status of any finding; ``passed`` if there is none."""
    statuses = (STATUS[kind][severity] for kind, severity in findings)
    return max(statuses, key=STRICTNESS.index, default="passed")


ACTIONS: Final[Mapping[FindingKind, str]] = {
    "invalid_input": "Correct the case; nothing was evaluated.",
    "record": "Correct the record of the run, or have a person review it.",
    "execution": "Find the cause of the error, and run again.",
    "policy": "Block release and review the output against the policy.",
    "response": "Compare the output with what was asked, and correct the prompt or the agent.",
    "trajectory": "Block release and inspect tool routing.",
    "operational": "Inspect latency, tokens and calls; raise the limit only if the cost is accepted.",
    "collaboration": "Inspect the hand-offs between the agents.",
    "judge": "Read the judge's rationale and concerns, and correct the agent.",
    "judge_error": "Have a person review the run; the judge gave no usable answer.",
    "metric_error": "Correct the configuration named in the reason and evaluate again.",
    "missing_data": "Record the missing value, or remove its threshold.",
    "inconclusive": "Give a threshold or a judge, or have a person review the run.",
    "undecided": "Have a person decide whether the check holds.",
    "check_error": "Correct the check that the reason names, and evaluate again.",
    "lost_fact": "Compare the facts that the reason names with the reference.",
    "regression": "Compare with the baseline and find the change that caused it.",
    "improvement": "Confirm that the measurement is right, and renew the baseline.",
    "drift": "Compare inputs and versions with those of the baseline.",
    "anomaly": "Inspect the run; repeat it before drawing conclusions.",
    "defect": "Compare both sides that the reason names, and correct the agent.",
    "suspicion": "Have a person compare both sides that the reason names.",
}
"""The recommended action by kind of finding."""
