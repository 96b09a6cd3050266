"""Fake monitors."""

from tests.fakes.answers import Answers


def accept(feedback: str = "good") -> dict[str, object]:
    return {"success": True, "feedback": feedback}


def refuse(feedback: str = "not good") -> dict[str, object]:
    return {"success": False, "feedback": feedback}


class FakeMonitor:
    """A plain monitor. Without answers, it accepts every result.

    Attributes:
        calls: Objective and result of each call.
    """

    def __init__(self, *answers):
        self.calls: list[tuple[str, str]] = []
        self._answers = Answers(answers, lambda objective, result: accept())

    def evaluate(self, objective, result):
        self.calls.append((objective, result))
        return self._answers.next(objective, result)


class AsyncFakeMonitor(FakeMonitor):
    async def evaluate(self, objective, result):
        return super().evaluate(objective, result)
