"""Runs tasks with models: every policy gets the same, recorded replies to the same requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.models.identity import describe_origin, find_address
from evaluation.evalset.task_case import TaskCase
from evaluation.sensitive.quoting import shorten
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import RunFailedError
from orchestrator.persistence import Store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.state.graph_state import FailureKind, OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.supervision.modes import SupervisionPolicy
from orchestrator.tuning.recorded_replies import RecordedReplies, ReplyStorage
from orchestrator.tuning.replay import read_run
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
        storage: Keeps the recorded replies, which all runs share.
        load: Loads a model by its specification.
        escalations: The models that rules escalate to.

    Raises:
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """

    def __init__(
        self,
        spec: TuneSpec,
        storage: ReplyStorage,
        load: Callable[[str], BaseChatModel],
        escalations: Sequence[str],
    ) -> None:
        # All of them before anything is spent.
        self._models = {name: load(name) for name in dict.fromkeys([spec.model, *escalations])}
        self._origins = {
            address: describe_origin(model)
            for model in self._models.values()
            if (address := find_address(model))
        }
        self._spec, self._storage = spec, storage

    def run(self, case: TaskCase, policy: RetryPolicy) -> MeasuredRun:
        """Runs a task once; see ``TaskRunner``.

        Raises:
            RunFailedError: The run failed for a reason that says nothing about the policy.
        """
        return measure_run(self.build(case, policy).run(case.task), case)

    def build(self, case: TaskCase, policy: RetryPolicy, store: Store | None = None) -> LangGraphOrchestrator:
        """Builds the orchestrator of one run; ``store`` stores it, and nobody is asked either way."""
        replies = RecordedReplies(self._storage, case.title, self._spec.budget.model_calls, self._origins)
        models = {name: each.model_copy(update={"cache": replies}) for name, each in self._models.items()}
        return LangGraphOrchestrator.from_model(
            models[self._spec.model],
            contract="from_task" if case.contract == "from_task" else case,
            retry_policy=policy,
            models=models,
            planning="always" if self._spec.planning else "never",
            supervision_policy=SupervisionPolicy(human=False),
            checkpointer=store,
        )


def has_verdict(state: OrchestratorState) -> bool:
    """Checks whether a run has ended for a reason that says something about its policy."""
    if state["status"] not in {"success", "failed"}:
        return False
    return state["failure"] is None or state["failure"]["kind"] not in _NO_VERDICT


def measure_run(state: OrchestratorState, case: TaskCase) -> MeasuredRun:
    """Measures a run by its last state.

    Raises:
        BudgetSpentError: The budget of calls ended it.
        RunFailedError: It failed for a reason that says nothing about the policy.
        KeyboardInterrupt: It was interrupted.
    """
    if not has_verdict(state):
        raise _explain_failure(state, case.title)
    # The status of an attempt that was kept as the best of several refused ones.
    statuses = {record["status"] for record in (*state["results"], *state["synthesis"])}
    return MeasuredRun(
        success=state["status"] == "success" and "warning" not in statuses,
        tokens=state["usage"]["total_tokens"],
        run=read_run(state, case.title),
    )


def _explain_failure(state: OrchestratorState, task: str) -> BaseException:
    failure = state["failure"]
    if failure is None:
        return KeyboardInterrupt()
    if failure["error_type"] == BudgetSpentError.__name__:
        return BudgetSpentError(failure["message"].rpartition(": ")[2])  # without the number of the step
    return RunFailedError(
        f"the run of {format_repr(task, 80)} failed "
        f"({failure['kind']}: {shorten(failure['message'], 200)}), which says "
        "nothing about the policy; every reply is kept, so run the same command again",
        failure,
        state,
    )
