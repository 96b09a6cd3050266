"""Fake planners."""

from tests.fakes.answers import Answers


class FakePlanner:
    """A plain planner: ``FakePlanner(["a", "b"])`` plans two steps.

    Attributes:
        tasks: The tasks of all calls.
    """

    def __init__(self, *answers):
        self.tasks: list[str] = []
        self._answers = Answers(answers, lambda task: [task])

    def generate_plan(self, task):
        self.tasks.append(task)
        return self._answers.next(task)


class AsyncFakePlanner(FakePlanner):
    async def generate_plan(self, task):
        return super().generate_plan(task)


def steps(count: int) -> list[str]:
    return [f"step {number}" for number in range(1, count + 1)]
