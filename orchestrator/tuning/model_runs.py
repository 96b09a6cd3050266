"""Runs tasks with models: every candidate gets the same replies to the same requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents import load_model
from agents.models.address import find_address
from agents.models.identity import describe_origin, identify_model
from evaluation.evalset.task_case import TaskCase
from evaluation.sensitive.quoting import shorten
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, RunFailedError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.budget import Budget
from orchestrator.state.graph_state import FailureKind, OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.candidates import Candidate, digest_value
from orchestrator.tuning.recorded_replies import RecordedReplies
from orchestrator.tuning.replay import read_run
from orchestrator.tuning.study_tasks import name_task
from orchestrator.tuning.trials import MeasuredRun
from orchestrator.tuning.tune_spec import TuneSpec

_NO_VERDICT: Final[frozenset[FailureKind]] = frozenset({
    "planner_error", "executor_error", "compressor_error", "monitor_error", "supervisor_error",
    "contract_error", "cancelled",
})  # fmt: skip
"""Failures that say nothing about a policy: a server was away, say."""


class ModelRunner:
    """Runs a task for real, with the models of a specification.

    Attributes:
        identity: Digest of the models with their settings and origins; equal in every process.

    Raises:
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """

    def __init__(
        self,
        spec: TuneSpec,
        replies: Path,
        load: Callable[[str], object] = load_model,
        escalations: Sequence[str] = (),
    ) -> None:
        # All of them before anything is spent.
        names = dict.fromkeys([*spec.models, *escalations])
        models = {name: _check_model(name, load(name)) for name in names}
        self.identity = digest_value([*map(_describe_model, models.values()), spec.planning])
        self._replies = RecordedReplies(replies, _list_origins([*models.values()]))
        self._models = {
            name: each.model_copy(update={"cache": self._replies}) for name, each in models.items()
        }
        self._planning, self._prices = spec.planning, spec.prices

    def run(self, case: TaskCase, candidate: Candidate, repeat: int) -> MeasuredRun:
        """Runs a task once; see ``TaskRunner``.

        Raises:
            RunFailedError: The run failed for a reason that says nothing about the policy.
        """
        seeded = candidate.policy.model_copy(update={"seed": candidate.policy.seed + repeat})
        orchestrator = self._build(self._models[candidate.model], case, seeded)
        self._replies.begin(f"{name_task(case)}:{repeat}")
        asked, started = self._replies.asked, time.monotonic()
        state = orchestrator.run(case.task)
        _check_ended(state, name_task(case))
        calls = self._replies.asked - asked
        return self._measure(state, case, calls, time.monotonic() - started)

    def _build(self, model: BaseChatModel, case: TaskCase, policy: RetryPolicy) -> LangGraphOrchestrator:
        return LangGraphOrchestrator.from_model(
            model,
            contract="from_task" if case.contract == "from_task" else case,
            retry_policy=policy,
            models=self._models,
            budget=Budget(prices=self._prices),
            planning="always" if self._planning else "never",
        )

    def _measure(self, state: OrchestratorState, case: TaskCase, calls: int, elapsed: float) -> MeasuredRun:
        usage, run = state["usage"], read_run(state, name_task(case))
        # The status of an attempt that was kept as the best of several refused ones.
        statuses = {record["status"] for record in (*state["results"], *state["synthesis"])}
        return MeasuredRun(
            success=state["status"] == "success" and "warning" not in statuses,
            model_calls=usage["model_calls"],
            tokens=usage["total_tokens"],
            cost_usd=usage["cost_usd"],
            seconds=self._replies.seconds,
            attempts=sum(len(step.attempts) for step in run.steps),
            spent_calls=calls,
            spent_seconds=elapsed,
            spent_usd=(usage["cost_usd"] or 0.0) if calls else 0.0,
            run=run,
        )


def _describe_model(model: BaseChatModel) -> list[object]:
    address = find_address(model)
    plain = {name: value for name, value in model if isinstance(value, str | int | float | None)}
    # The port of an embedded server changes.
    settings = {name: value for name, value in plain.items() if not address or address not in str(value)}
    return [identify_model(model) or type(model).__qualname__, describe_origin(model), settings]


def _list_origins(models: Sequence[BaseChatModel]) -> dict[str, str]:
    """Returns for each address of a server which model answers there."""
    return {address: describe_origin(model) for model in models if (address := find_address(model))}


def _check_model(name: str, model: object) -> BaseChatModel:
    if not isinstance(model, BaseChatModel):
        raise ConfigurationError(
            f"model {name!r} is a {type(model).__name__}; give a chat model of LangChain"
        )
    return model


def _check_ended(state: OrchestratorState, task: str) -> None:
    failure = state["failure"]
    if state["status"] not in {"success", "failed"}:
        raise KeyboardInterrupt
    if failure is not None and failure["kind"] in _NO_VERDICT:
        raise RunFailedError(
            f"the run of {format_repr(task, 80)} failed "
            f"({failure['kind']}: {shorten(failure['message'], 200)}), which says "
            "nothing about the policy; every finished run is kept, so run the same command again",
            failure,
            state,
        )
