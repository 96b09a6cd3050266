"""Arms of this project: the same orchestrator with different contracts, with a planner and without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from benchmarks.effect.arms.base import Answer, Trial
from evaluation import EvaluationContract
from orchestrator import LangGraphOrchestrator, RetryPolicy
from orchestrator.retry.policy import find_best_answer
from orchestrator.state.graph_state import OrchestratorState

_DEFAULT: Final = RetryPolicy()
_SMALL_PLAN: Final = 3
"""Maximum number of steps that ``from_model`` lets the embedded model plan."""


class WholeTask:
    """Plans the task as its only step."""

    def generate_plan(self, task: str) -> list[str]:
        """Return the task."""
        return [task]


@dataclass(frozen=True, slots=True)
class Orchestrated:
    """The orchestrator with one kind of contract.

    Attributes:
        name: Name of the arm.
        choose_contract: Returns the arguments of the orchestrator that say the contract.
        is_planned: Whether the model plans the steps; if not, the task is the only step.
        policy: The retries, besides their number.
    """

    name: str
    choose_contract: Callable[[Trial], Mapping[str, Any]]
    is_planned: bool = False
    policy: RetryPolicy = _DEFAULT
    package: str = ""
    module: str = ""

    def answer(self, trial: Trial) -> Answer:
        """Run the prompt as a task; a claim is the status ``success``."""
        orchestrator = LangGraphOrchestrator(
            PlanningAgent(trial.model, max_steps=_SMALL_PLAN) if self.is_planned else WholeTask(),
            ExecutionAgent(trial.model),
            MonitoringAgent(trial.model),
            retry_policy=self.policy.model_copy(update={"max_retries": trial.retries}),
            **self.choose_contract(trial),
        )
        return read_answer(orchestrator.run(trial.prompt.text))


def read_answer(state: OrchestratorState) -> Answer:
    """Read the answer of a run: its output; if it failed, its best attempt."""
    derived = state["declared"].get("derived")
    contract = derived["output"] if derived else None
    best = find_best_answer(state)
    return Answer(
        output=state["output"] or (best["result"] if best else ""),
        claimed=state["status"] == "success",
        basis=state["basis"],
        checks=len(cast("list[object]", contract["contract"].get("checks", []))) if contract else None,
        unchecked=len(contract["unchecked"]) if contract else None,
        is_whole=state["output"] is not None or (best is not None and "cut_off" not in best),
    )


def leave_open(_: Trial) -> Mapping[str, Any]:
    """No contract: the monitor alone judges."""
    return {"contract": None}


def derive_by_rules(_: Trial) -> Mapping[str, Any]:
    """The contract that the rules derive from the words of the task."""
    return {"contract": "from_task"}


def use_official(trial: Trial) -> Mapping[str, Any]:
    """The official instructions as checks of the final output."""
    return {"contract": EvaluationContract(checks=trial.prompt.official_checks)}
