"""Runs tasks with models: every policy gets the same, recorded replies to the same requests."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from langchain_core.caches import BaseCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from typing_extensions import override

from agents.models.identity import describe_origin, find_address
from evaluation.evalset.task_case import TaskCase
from evaluation.sensitive.quoting import shorten
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, RunFailedError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.state.graph_state import FailureKind, OrchestratorState
from orchestrator.state.plain_values import format_repr
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
        load: Callable[[str], BaseChatModel],
        escalations: Sequence[str],
    ) -> None:
        # All of them before anything is spent.
        models = {name: load(name) for name in dict.fromkeys([spec.model, *escalations])}
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
        self._replies.begin(case.title)
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
        _check_ended(state, case.title)
        return self._measure(state, case)

    def _measure(self, state: OrchestratorState, case: TaskCase) -> MeasuredRun:
        # The status of an attempt that was kept as the best of several refused ones.
        statuses = {record["status"] for record in (*state["results"], *state["synthesis"])}
        return MeasuredRun(
            success=state["status"] == "success" and "warning" not in statuses,
            tokens=state["usage"]["total_tokens"],
            run=read_run(state, case.title),
        )


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


_FIELDS: Final = ("content", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata")


class RecordedReplies(BaseCache):
    """A LangChain cache in a SQLite file, for one run after another; one process at a time can open it.

    The second equal request of a run is another request: a new sample must not be the old one again.

    Args:
        path: The file.
        most: Most replies that models are asked for, in all processes together; None for no bound.

    Raises:
        ConfigurationError: The file is no database, cannot be written, or is open in another process.

    Attributes:
        origins: For each address of a server, which model answers there; the port of an embedded one differs
            in each process.
        refused: Why the current run got no reply; empty if it got all.
    """

    def __init__(self, path: Path, most: int | None = None) -> None:
        self.origins: Mapping[str, str] = {}
        self._path, self._most = path, most
        self._lock = threading.Lock()
        self.begin("")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1, check_same_thread=False, isolation_level=None)
            # A second process would ask the models for the same replies.
            self._database.executescript("pragma locking_mode = exclusive; begin exclusive; commit")
        except (OSError, sqlite3.Error) as error:
            raise self._refuse(error) from None
        self._query("create table if not exists replies (key text primary key, reply text)")

    def begin(self, run: str) -> None:
        """Begins a run. Runs of the same name share their replies."""
        self._run, self.refused = run, ""
        self._seen: Counter[str] = Counter()

    def close(self) -> None:
        """Closes the file, for other processes."""
        self._database.close()

    @override
    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        request = self._digest(prompt, llm_string)
        with self._lock:
            self._seen[request] += 1
            rows = self._query("select reply from replies where key = ?", self._name_key(request))
            if not rows:
                self._check_budget()
                return None
            [(reply,)] = rows
            return [ChatGeneration(message=AIMessage(**json.loads(reply)))]

    @override
    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        request = self._digest(prompt, llm_string)
        message = return_val[0].message if isinstance(return_val[0], ChatGeneration) else None
        if isinstance(message, AIMessage):
            with self._lock:
                row = self._name_key(request), _dump(message)
                self._query("insert or ignore into replies (key, reply) values (?, ?)", *row)

    @override
    def clear(self, **kwargs: object) -> None:
        self._query("delete from replies")

    def _check_budget(self) -> None:
        [(count,)] = self._query("select cast(count(*) as text) from replies")
        if self._most is not None and int(count) >= self._most:
            self.refused = f"the budget of {self._most} model_calls is spent"
            raise BudgetSpentError(self.refused)

    def _name_key(self, request: str) -> str:
        return f"{self._run}:{request}:{self._seen[request]}"

    def _digest(self, prompt: str, llm_string: str) -> str:
        for address, origin in self.origins.items():
            llm_string = llm_string.replace(address, origin)
        return hashlib.sha256(f"{llm_string}\0{prompt}".encode("utf-8", "replace")).hexdigest()

    def _query(self, text: str, *values: str) -> list[tuple[str]]:
        try:
            return self._database.execute(text, values).fetchall()
        except sqlite3.Error as error:
            raise self._refuse(error) from None

    def _refuse(self, error: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"the recorded replies {str(self._path)!r} cannot be used ({error}); wait until another search "
            "has ended, or delete the file to ask the models again"
        )


def _dump(message: AIMessage) -> str:
    # Plain values only: a stored object could name any class to build.
    values = {name: value for name in _FIELDS if (value := getattr(message, name))}
    return json.dumps({"content": "", **values}, default=str)
