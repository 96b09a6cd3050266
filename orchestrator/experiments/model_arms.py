"""The models and policies of a comparison: each executes the same cases with the same seeds."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from langchain_core.language_models import BaseChatModel

from agents.models.chat_options import Sampling, apply_sampling
from evaluation import run_from_state
from evaluation.evalset.case_result import CaseResult
from evaluation.evalset.task_case import TaskCase
from evaluation.values import as_object
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.targets import Target, load_limited_model
from orchestrator.persistence import Store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.state.graph_state import OrchestratorState

_NO_ANSWER: Final = frozenset({"planner_error", "executor_error", "monitor_error", "supervisor_error"})
"""Failures that say nothing of a model but that it did not answer."""


@dataclass(frozen=True, slots=True)
class ModelArm:
    """One side of a comparison.

    Attributes:
        name: Names the side in tables: the specification, the policy, or both.
        model: The model.
        policy: The retry policy; None for the default.
        store: Keeps the runs, so that each can be shown.
        seed: The seed of the first run of each case; the second run has the next one.
    """

    name: str
    model: BaseChatModel
    policy: RetryPolicy | None
    store: Store
    seed: int

    def build_target(self, trial: int) -> Target:
        """Builds what executes a case for this number of the run, from 0."""
        model = apply_sampling(self.model, Sampling(seed=self.seed + trial))

        def execute(case: TaskCase) -> object:
            thread_id = f"compare-{uuid.uuid4()}"
            orchestrator = LangGraphOrchestrator.from_model(
                model, contract=case, retry_policy=self.policy, checkpointer=self.store
            )
            return describe_state(orchestrator.run(case.task, thread_id), thread_id, self.store.where)

        return execute


def build_arms(
    models: Sequence[str],
    policies: Sequence[Path],
    store: Store,
    seed: int,
    calls_per_second: float | None = None,
) -> list[ModelArm]:
    """Loads every model and policy, before anything is executed.

    Args:
        models: Specifications; each is compared under each policy.
        policies: Files with retry policies; none for the default one.
        store: Keeps the runs.
        seed: The seed of the first run of each case.
        calls_per_second: The greatest rate of calls of each model; None for any.

    Raises:
        ConfigurationError: A file has no policy, or fewer than two sides are given, or one twice.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """
    chosen: dict[str | None, RetryPolicy | None] = {path.stem: _read_policy(path) for path in policies}
    sides = [(model, policy) for model in models for policy in chosen or {None: None}]
    names = [_name_arm(model, policy, len(models)) for model, policy in sides]
    if len({*names}) < max(2, len(names)):
        raise ConfigurationError(
            f"{', '.join(names)} is not a comparison; give at least two different models or policies"
        )
    loaded = {spec: load_limited_model(spec, calls_per_second) for spec in models}
    return [
        ModelArm(name, loaded[model], chosen.get(policy), store, seed)
        for name, (model, policy) in zip(names, sides, strict=True)
    ]


def describe_unanswered(results: Sequence[CaseResult]) -> list[str]:
    """Says of each arm how many runs ended because its model did not answer."""
    failed: dict[str, list[str]] = {}
    for result in results:
        error, known = result.agent_run.get("error"), as_object(result.agent_run.get("metadata"))
        if error is not None and known.get("failure", "executor_error") in _NO_ANSWER:
            failed.setdefault(result.arm, []).append(str(error))
    return [
        f"{arm}: {len(errors)} of {sum(each.arm == arm for each in results)} runs had no answer: {errors[0]}"
        for arm, errors in failed.items()
    ]


def _read_policy(path: Path) -> RetryPolicy:
    try:
        return RetryPolicy.from_yaml(path)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path.name}: {error}") from None


def _name_arm(model: str, policy: str | None, models: int) -> str:
    if policy is None:
        return model
    return policy if models == 1 else f"{model}, {policy}"


def describe_state(state: OrchestratorState, thread_id: str, store: str) -> dict[str, object]:
    """Returns the ``agent_run`` of a run, with its thread and its store."""
    failure, rates = state["failure"], state["usage"].get("rates")
    kind = failure and failure["kind"]
    known = {"thread_id": thread_id, "store": store, "failure": kind, "rates": rates}
    metadata = {name: value for name, value in known.items() if value is not None}
    return {**run_from_state(state), "metadata": metadata}
