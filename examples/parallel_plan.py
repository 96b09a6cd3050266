"""Run independent steps at the same time: the planner says which steps need which.

Three steps of half a second each need nothing, and a fourth step needs all of them. The agents need no model.
"""

import time
from collections.abc import Mapping, Sequence

from orchestrator import LangGraphOrchestrator
from orchestrator.events import Event, StepExecuted, StepStarted

CITIES = ["Oslo", "Cairo", "Lima"]


class Planner:
    """Plans one step for each city, and a last one that needs the others."""

    def generate_plan(self, task: str, /) -> Sequence[Mapping[str, object]]:
        """Return the steps with their needs: the ids of other steps."""
        measure = [{"id": city, "step": f"measure {city}", "needs": []} for city in CITIES]
        return [*measure, {"step": "find the warmest city", "needs": CITIES}]


class Executor:
    """Looks up temperatures slowly."""

    def execute_step(self, step: str, /, context: str = "") -> str:
        """Execute one step; the context has the results of the steps that it needs."""
        if step.startswith("measure"):
            time.sleep(0.5)
            return {"Oslo": "3 degrees", "Cairo": "27 degrees", "Lima": "19 degrees"}[step.split()[1]]
        return "Cairo" if "27 degrees" in context else "unknown"


class Monitor:
    """Approves every result."""

    def evaluate(self, objective: str, result: str) -> Mapping[str, object]:
        """Return a verdict."""
        return {"success": True, "feedback": f"{objective}: {result}"}


start = time.monotonic()


def print_event(event: Event) -> None:
    """Print when a step starts and ends, in seconds since the start."""
    seconds = time.monotonic() - start
    if isinstance(event, StepStarted):
        print(f"{seconds:.1f} s  started: {event.step}")
    if isinstance(event, StepExecuted):
        print(f"{seconds:.1f} s  ended: {event.record['step']}: {event.record['result']}")


orchestrator = LangGraphOrchestrator(Planner(), Executor(), Monitor(), hooks=[print_event])
state = orchestrator.run("Which city is the warmest?")
print(f"{state['status']}: {state['output']}")
