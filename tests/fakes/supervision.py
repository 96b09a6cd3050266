"""Fakes of a supervised run: an executor that commits and assesses, a supervisor."""

import copy

from tests.fakes.answers import Answers
from tests.fakes.executor import FakeExecutor


def met(**more: object) -> dict[str, object]:
    return {"met_commitment": True, **more}


def missed(**more: object) -> dict[str, object]:
    return {"met_commitment": False, **more}


class SpeakingExecutor(FakeExecutor):
    """An executor that commits to each step and assesses its output.

    Args:
        answers: Outputs of the steps.
        said: Self-assessments in order; by default, every commitment is met.
        committed: Commitments in order.

    Attributes:
        commitments: The steps of all commitments.
        assessments: Step, commitment and output of each self-assessment.
    """

    def __init__(self, *answers, said=(), committed=()):
        super().__init__(*answers)
        self.commitments: list[str] = []
        self.assessments: list[tuple[str, dict, str]] = []
        self._said = Answers(tuple(said), lambda *_: met())
        self._committed = Answers(tuple(committed), lambda step: {"interpretation": f"I will {step}"})

    def commit_step(self, step, context=""):
        self.commitments.append(step)
        return self._committed.next(step)

    def assess_step(self, step, commitment, output):
        self.assessments.append((step, copy.deepcopy(commitment), output))
        return self._said.next(step, commitment, output)


def go_on(reason: str = "") -> dict[str, object]:
    return {"verdict": "continue", "reason": reason}


def reorient(correction: str = "be brief") -> dict[str, object]:
    return {"verdict": "reorient", "correction": correction}


def ask_human(question: str = "Is this right?") -> dict[str, object]:
    return {"verdict": "ask_human", "question": question}


def halt(reason: str = "this is dangerous") -> dict[str, object]:
    return {"verdict": "halt", "reason": reason}


class FakeSupervisor:
    """A supervisor with the two documented methods.

    Args:
        answers: Verdicts in order; by default, every step continues.
        reconciled: Returns the result of ``reconcile``; by default, a step escalates if its commitment is
            not met or the evaluation has findings.

    Attributes:
        requests: Arguments of ``supervise``.
        compared: Arguments of ``reconcile``.
    """

    def __init__(self, *answers, reconciled=None):
        self.requests: list[dict] = []
        self.compared: list[tuple[dict, dict, list[str]]] = []
        self._answers = Answers(answers, lambda request: go_on())
        self._reconciled = Answers((reconciled or self._compare,), self._compare)

    def reconcile(self, commitment, assessment, findings):
        self.compared.append(copy.deepcopy((commitment, assessment, list(findings))))
        return self._reconciled.next(commitment, assessment, findings)

    def supervise(self, request):
        self.requests.append(copy.deepcopy(request))
        return self._answers.next(request)

    @staticmethod
    def _compare(commitment, assessment, findings):
        triggers = [] if assessment["met_commitment"] else ["commitment_not_met"]
        triggers += [f"evaluation:{finding}" for finding in findings]
        return {"triggers": triggers, "escalate": bool(triggers)}
