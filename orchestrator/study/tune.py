"""tune: searches for the retry policy that pays; every policy gets the same, recorded replies of models."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from langchain_core.caches import BaseCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from typing_extensions import override

from agents import load_model
from agents.models.identity import describe_origin, find_address
from evaluation.evalset.files import TaskCase
from evaluation.sensitive.scanner import shorten
from orchestrator.errors import ConfigurationError, RunFailedError
from orchestrator.persistence import open_store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.state.graph_state import ENDED, FailureKind, OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.study.replay import NamedPolicy, RecordedRun, read_run
from orchestrator.study.targets import run_case
from orchestrator.study.trials import (
    BudgetSpentError,
    MeasuredRun,
    TaskRunner,
    Trial,
    TuneResult,
    choose_best,
    recommend,
)
from orchestrator.study.tune_spec import DEFAULT, TuneSpec, build_space, read_spec, read_tasks, split_tasks
from orchestrator.supervision.modes import SupervisionPolicy

_FIELDS: Final = ("content", "tool_calls", "invalid_tool_calls", "usage_metadata", "response_metadata")


class SqliteReplies:
    """Keeps the replies in a SQLite file, which one process at a time can open.

    Raises:
        ConfigurationError: The file is no database, cannot be written, or is open in another process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=1, check_same_thread=False, isolation_level=None)
            # A second process would ask the models for the same replies.
            self._database.executescript("pragma locking_mode = exclusive; begin exclusive; commit")
        except (OSError, sqlite3.Error) as error:
            raise self._refuse(error) from None
        self._query("create table if not exists replies (key text primary key, reply text)")

    def find(self, key: str) -> str | None:
        """Returns a reply, or None."""
        return next((reply for (reply,) in self._query("select reply from replies where key = ?", key)), None)

    def add(self, key: str, reply: str) -> None:
        """Keeps a reply; the first one of a key stays."""
        self._query("insert or ignore into replies (key, reply) values (?, ?)", key, reply)

    def count(self) -> int:
        """Returns the number of replies."""
        [(count,)] = self._query("select cast(count(*) as text) from replies")
        return int(count)

    def close(self) -> None:
        """Closes the file, for other processes."""
        self._database.close()

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


@dataclass(eq=False, slots=True)
class RecordedReplies(BaseCache):
    """The LangChain cache of one run. Runs of the same name share their replies.

    The second equal request of a run is another request: a new sample must not be the old one again. Runs of
    the same name may follow each other; at the same time, they would ask for the same replies.

    Attributes:
        storage: Keeps the replies.
        run: Name of the run.
        most: Most replies that models are asked for, in all runs together; None for no bound. Requests that
            several runs make at the same moment may exceed it.
        origins: For each address of a server, which model answers there; the port of an embedded one differs
            in each process.
    """

    storage: SqliteReplies
    run: str
    most: int | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @override
    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        request = self._digest(prompt, llm_string)
        with self._lock:
            self._seen[request] += 1
            reply = self.storage.find(self._name_key(request))
            if reply is not None:
                return [ChatGeneration(message=AIMessage(**json.loads(reply)))]
            if self.most is not None and self.storage.count() >= self.most:
                raise BudgetSpentError(f"the budget of {self.most} model_calls is spent")
            return None

    @override
    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        request = self._digest(prompt, llm_string)
        message = return_val[0].message if isinstance(return_val[0], ChatGeneration) else None
        if isinstance(message, AIMessage):
            with self._lock:
                self.storage.add(self._name_key(request), _dump(message))

    @override
    def clear(self, **kwargs: object) -> None:
        self._seen.clear()

    def _name_key(self, request: str) -> str:
        return f"{self.run}:{request}:{self._seen[request]}"

    def _digest(self, prompt: str, llm_string: str) -> str:
        for address, origin in self.origins.items():
            llm_string = llm_string.replace(address, origin)
        return hashlib.sha256(f"{llm_string}\0{prompt}".encode("utf-8", "replace")).hexdigest()


def _dump(message: AIMessage) -> str:
    # Plain values only: a stored object could name any class to build.
    values = {name: value for name in _FIELDS if (value := getattr(message, name))}
    return json.dumps({"content": "", **values}, default=str)


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
        policies: Their rules name the models that they escalate to.

    Raises:
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
    """

    def __init__(
        self,
        spec: TuneSpec,
        storage: SqliteReplies,
        load: Callable[[str], BaseChatModel],
        policies: Sequence[NamedPolicy],
    ) -> None:
        # All of them before anything is spent.
        escalations = [model for each in policies for model in each.policy.escalations]
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
        replies = RecordedReplies(self._storage, case.title, self._spec.budget.model_calls, self._origins)
        models = {name: each.model_copy(update={"cache": replies}) for name, each in self._models.items()}
        state = run_case(
            models[self._spec.model],
            case,
            retry_policy=policy,
            models=models,
            planning="always" if self._spec.planning else "never",
            supervision_policy=SupervisionPolicy(human=False),
        )
        return measure_run(state, case)


def measure_run(state: OrchestratorState, case: TaskCase) -> MeasuredRun:
    """Measures a run by its last state.

    Raises:
        BudgetSpentError: The budget of calls ended it.
        RunFailedError: It failed for a reason that says nothing about the policy.
        KeyboardInterrupt: It was interrupted.
    """
    failure = state["failure"]
    if state["status"] not in ENDED or (failure and failure["kind"] in _NO_VERDICT):
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


Progress: TypeAlias = Callable[[Sequence[Trial]], None]


def tune(
    spec: TuneSpec | str | Path,
    *,
    folder: str | Path = ".",
    runner: TaskRunner | None = None,
    load: Callable[[str], BaseChatModel] = load_model,
    on_trial: Progress = lambda _: None,
) -> TuneResult:
    """Search for a retry policy on tasks that are run.

    Every policy is run on the same tasks with the same seeds, and equal requests to a model get equal,
    recorded replies. The best one is compared with the default on held-out tasks. A search that was
    interrupted goes on where it was if it is started again: no model is asked twice. If there are too few
    tasks for a recommendation, a warning is logged before the first run.

    Args:
        spec: The specification, or the path of its YAML file.
        folder: Where the folder of the study is kept, with the recorded replies.
        runner: Runs a task, in place of the model of the specification.
        load: Loads a model by its specification.
        on_trial: Is called with all trials after each one.

    Raises:
        ConfigurationError: The specification or the tasks are not accepted, or another process has the study
            open; nothing was spent.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
        RunFailedError: A run failed for a reason that says nothing about its policy; the replies are kept.
    """
    checked = spec if isinstance(spec, TuneSpec) else read_spec(spec)
    space, cases = build_space(checked), read_tasks(checked)
    file = Path(folder) / checked.name / "replies.sqlite"
    with ExitStack() as stack:
        used: TaskRunner = runner or ModelRunner(
            checked, stack.enter_context(closing(SqliteReplies(file))), load, space
        )

        def measure(candidate: NamedPolicy, tasks: Sequence[str]) -> Trial:
            return Trial(candidate, {task: used.run(cases[task], candidate.policy) for task in tasks})

        searched, held_out = split_tasks([*cases], checked)
        trials, stopped = search(
            choose_policies(checked, space), lambda each: measure(each, searched), on_trial
        )
        best, compared = choose_best(trials), None
        if best is not None and best.candidate != DEFAULT:
            try:
                compared = measure(best.candidate, held_out), measure(DEFAULT, held_out)
            except BudgetSpentError as error:
                stopped = f"{error}, so the best policy was not checked on held-out tasks"
    return TuneResult(checked, trials, recommend(best, compared), stopped)


def choose_policies(spec: TuneSpec, space: Sequence[NamedPolicy]) -> list[NamedPolicy]:
    """Returns the default, and all policies of the space; a random sample if the budget has fewer trials."""
    most = min(len(space), spec.budget.trials)
    chosen = space if most == len(space) else random.Random(spec.seed).sample(space, most)  # noqa: S311 - no secret
    return [DEFAULT, *chosen]


def search(
    candidates: Sequence[NamedPolicy], measure: Callable[[NamedPolicy], Trial], report: Progress
) -> tuple[list[Trial], str | None]:
    """Measures the policies one after the other, and calls ``report`` with all trials after each one.

    Returns:
        The trials, and why the search ended early; None if it did not.

    Raises:
        ConfigurationError: The budget does not suffice for the first policy, the default.
    """
    trials: list[Trial] = []
    try:
        for candidate in candidates:
            trials.append(measure(candidate))
            report(trials)
    except BudgetSpentError as error:
        if not trials:
            raise ConfigurationError(
                f"{error} before the default policy had run on all tasks; raise it, or give fewer tasks"
            ) from None
        return trials, str(error)
    return trials, None


def read_stored_runs(where: str) -> list[RecordedRun]:
    """Reads the finished runs of a store, by its path or URL.

    Raises:
        StoreError: The store cannot be read.
        ConfigurationError: The records of a run have gaps.
    """
    with open_store(where, make=False) as store:
        ended = [run for run in store.history.runs() if run.status in ENDED]
        runs = [read_run(store.history.show(run.thread_id).state) for run in ended]
    return [run for run in runs if run.steps]
