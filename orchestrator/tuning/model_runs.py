"""Runs tasks with models: every policy gets the same replies to the same requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.models.identity import describe_origin, find_address
from evaluation.evalset.task_case import TaskCase
from evaluation.sensitive.quoting import shorten
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, RunFailedError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.state.graph_state import FailureKind, OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.tuning.recorded_replies import RecordedReplies
from orchestrator.tuning.replay import read_run
from orchestrator.tuning.study_tasks import name_task
from orchestrator.tuning.trials import BudgetSpentError, MeasuredRun
from orchestrator.tuning.tune_spec import TuneSpec

_NO_VERDICT: Final[frozenset[FailureKind]] = frozenset({
    "planner_error", "executor_error", "compressor_error", "monitor_error", "supervisor_error",
    "contract_error", "cancelled",
})  # fmt: skip
"""Failures that say nothing about a policy: a server was away, say."""


class ModelRunner:
    """Runs a task for real, with the models of a specification.

    Args:
        spec: The specification.
        replies: The recorded replies, which all runs share.
        load: Loads a model by its specification.
        escalations: The models that rules escalate to.

    Raises:
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """

    def __init__(
        self,
        spec: TuneSpec,
        replies: RecordedReplies,
        load: Callable[[str], object],
        escalations: Sequence[str],
    ) -> None:
        # All of them before anything is spent.
        models = {name: _check_model(name, load(name)) for name in dict.fromkeys([spec.model, *escalations])}
        replies.origins = {
            address: describe_origin(model) for model in models.values() if (address := find_address(model))
        }
        self._models = {name: each.model_copy(update={"cache": replies}) for name, each in models.items()}
        self._spec, self._replies = spec, replies

    def run(self, case: TaskCase, policy: RetryPolicy) -> MeasuredRun:
        """Runs a task once; see ``TaskRunner``.

        Raises:
            RunFailedError: The run failed for a reason that says nothing about the policy.
        """
        self._replies.begin(name_task(case))
        orchestrator = LangGraphOrchestrator.from_model(
            self._models[self._spec.model],
            contract="from_task" if case.contract == "from_task" else case,
            retry_policy=policy,
            models=self._models,
            planning="always" if self._spec.planning else "never",
        )
        state = orchestrator.run(case.task)
        if self._replies.refused:
            raise BudgetSpentError(self._replies.refused)
        _check_ended(state, name_task(case))
        return self._measure(state, case)

    def _measure(self, state: OrchestratorState, case: TaskCase) -> MeasuredRun:
        run = read_run(state, name_task(case))
        # The status of an attempt that was kept as the best of several refused ones.
        statuses = {record["status"] for record in (*state["results"], *state["synthesis"])}
        return MeasuredRun(
            success=state["status"] == "success" and "warning" not in statuses,
            attempts=sum(len(step.attempts) for step in run.steps),
            model_calls=state["usage"]["model_calls"],
            tokens=state["usage"]["total_tokens"],
            seconds=self._replies.seconds,
            run=run,
        )


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
            "nothing about the policy; every reply is kept, so run the same command again",
            failure,
            state,
        )
