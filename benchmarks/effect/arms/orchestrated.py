"""Arms of this project: the same orchestrator with different contracts, with a planner and without."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from benchmarks.effect.arms.base import Answer, Trial
from benchmarks.effect.prompts import Prompt
from evaluation import EvaluationContract
from evaluation.task_checks.derivation import derive_checks
from orchestrator import LangGraphOrchestrator
from orchestrator.state.graph_state import OrchestratorState

_SMALL_PLAN = 3
"""Maximum number of steps that ``build_orchestrator`` lets the embedded model plan."""


class WholeTask:
    """Plans the task as its only step."""

    def generate_plan(self, task: str) -> list[str]:
        """Return the task."""
        return [task]


@dataclass(frozen=True, slots=True)
class Contract:
    """The arguments of an orchestrator for one prompt, with the numbers for the record."""

    arguments: Mapping[str, Any]
    checks: int | None = None
    unchecked: int | None = None

    @property
    def basis(self) -> str:
        """What a success rests on: checks that cover everything recognised in the task, or nothing known."""
        return "checked" if self.checks and not self.unchecked else "unverified"


@dataclass(frozen=True, slots=True)
class Orchestrated:
    """The orchestrator with one kind of contract.

    Attributes:
        name: Name of the arm.
        write_contract: Writes the contract for a prompt.
        is_planned: Whether the model plans the steps; if not, the task is the only step.
    """

    name: str
    write_contract: Callable[[Prompt], Contract]
    is_planned: bool = False
    package: str = ""
    module: str = ""

    def answer(self, trial: Trial) -> Answer:
        """Run the prompt as a task; a claim is the status ``success``."""
        contract, model = self.write_contract(trial.prompt), trial.model
        orchestrator = LangGraphOrchestrator(
            PlanningAgent(model, max_steps=_SMALL_PLAN) if self.is_planned else WholeTask(),
            ExecutionAgent(model),
            MonitoringAgent(model),
            max_retries=trial.retries,
            **contract.arguments,
        )
        state = orchestrator.run(trial.prompt.text)
        return Answer(
            output=find_last_output(state),
            claimed=state["status"] == "success",
            basis=contract.basis if state["status"] == "success" else None,
            checks=contract.checks,
            unchecked=contract.unchecked,
        )


def find_last_output(state: OrchestratorState) -> str:
    """Return the output of a run; the last text that the executor wrote if the run failed."""
    written = [record["result"] for record in (*state["results"], *state["synthesis"])]
    return state["output"] or next((text for text in reversed(written) if text), "")


def leave_open(_: Prompt) -> Contract:
    """Write no contract: the monitor alone judges."""
    return Contract({})


def write_official(prompt: Prompt) -> Contract:
    """Write the official instructions as checks of the final output."""
    checks = prompt.official_checks
    return Contract({"output_contract": EvaluationContract(checks=checks)}, checks=len(checks), unchecked=0)


def write_from_task(prompt: Prompt) -> Contract:
    """Write the checks that the words of the task state; without any, no contract."""
    derived = derive_checks(prompt.text)
    checks = [check.model_dump(exclude_none=True) for check in derived.checks]
    arguments = {"output_contract": EvaluationContract(checks=checks)} if checks else {}
    return Contract(arguments, len(checks), len(derived.unchecked))
