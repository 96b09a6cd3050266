"""Fake monitors."""

from __future__ import annotations

from tests.fakes.answers import Answers


def accept(feedback: str = "good") -> dict[str, object]:
    """A verdict that validates."""
    return {"success": True, "feedback": feedback}


def refuse(feedback: str = "not good") -> dict[str, object]:
    """A verdict that refuses."""
    return {"success": False, "feedback": feedback}


class FakeMonitor:
    """A plain monitor; without answers it validates everything.

    Attributes:
        calls: The objective and the result of each call.
    """

    def __init__(self, *answers):
        self.calls: list[tuple[str, str]] = []
        self._answers = Answers(answers, lambda objective, result: accept())

    def evaluate(self, objective, result):
        self.calls.append((objective, result))
        return self._answers.next(objective, result)


class AsyncFakeMonitor(FakeMonitor):
    """The same as a coroutine method under the plain name."""

    async def evaluate(self, objective, result):
        return super().evaluate(objective, result)
