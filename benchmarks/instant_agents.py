"""Agents that answer at once, so that a benchmark measures only the machinery around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Planner:
    """Returns the same plan for every task."""

    def __init__(self, plan: Iterable[str]) -> None:
        self.plan = list(plan)

    def generate_plan(self, task: str, /) -> list[str]:
        """Return the plan."""
        return self.plan


class Executor:
    """Returns the same result for every step."""

    def execute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return "done"


class Monitor:
    """Approves every result."""

    def evaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": "as asked"}


class AsyncPlanner(Planner):
    """A planner that is awaited."""

    async def agenerate_plan(self, task: str, /) -> list[str]:
        """Return the plan."""
        return self.generate_plan(task)


class AsyncExecutor(Executor):
    """An executor that is awaited."""

    async def aexecute_step(self, step_description: str, /, context: str = "") -> str:
        """Return a result."""
        return self.execute_step(step_description, context=context)


class AsyncMonitor(Monitor):
    """A monitor that is awaited."""

    async def aevaluate(self, objective: str, result: str) -> dict[str, object]:
        """Return a verdict."""
        return self.evaluate(objective, result)


def make_agents(plan: Iterable[str]) -> tuple[Planner, Executor, Monitor]:
    return Planner(plan), Executor(), Monitor()


def make_async_agents(plan: Iterable[str]) -> tuple[AsyncPlanner, AsyncExecutor, AsyncMonitor]:
    return AsyncPlanner(plan), AsyncExecutor(), AsyncMonitor()


def count_validated(records: Iterable[Mapping[str, object]]) -> int:
    return sum(record["status"] == "validated" for record in records)


def extend_context(context: str, index: int, step: str, result: str) -> str:
    entry = f"Step {index + 1}: {step}\nResult: {result}"
    return f"{context}\n\n{entry}" if context else entry
