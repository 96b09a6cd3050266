"""tune: searches for the retry policy that pays; every policy gets the same, recorded replies of models."""

from __future__ import annotations

import hashlib
import random
import re
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Final, TypeAlias

from langchain_core.caches import BaseCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, Generation
from langgraph.cache.base import FullKey
from langgraph.cache.sqlite import SqliteCache
from typing_extensions import override

from agents import load_model
from evaluation.cases.case_files import TaskCase
from evaluation.sensitive.scanner import shorten
from evaluation.statistics import Interval, PairedDifference, paired_difference, proportion
from orchestrator.errors import ConfigurationError, RunFailedError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.settings import SupervisionPolicy
from orchestrator.state.graph_state import ENDED, OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.study.targets import NO_ANSWER, run_case
from orchestrator.study.tune_spec import (
    DEFAULT,
    FEWEST_HELD_OUT,
    TuneSpec,
    build_space,
    read_spec,
    read_tasks,
    split_tasks,
)

_LOCAL_PORT: Final = re.compile(r"(?<=//127\.0\.0\.1):\d+")


class RecordedReplies(BaseCache):
    """A LangChain cache in a SQLite file. Tasks follow each other.

    The second equal request of a run is another request: a new sample must not be the old one again.

    Args:
        path: The file.

    Raises:
        ConfigurationError: The file is no database, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._task, self._seen, self._lock = "", Counter[str](), threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._stored = SqliteCache[str](path=str(path))
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"the recorded replies {str(path)!r} cannot be used ({error}); delete the file to ask the "
                "models again"
            ) from None

    def begin(self, task: str) -> None:
        """Begins a run of a task; the runs of one task share their replies."""
        self._task = task
        self._seen.clear()

    @override
    def lookup(self, prompt: str, llm_string: str) -> Sequence[Generation] | None:
        request = _digest(prompt, llm_string)
        with self._lock:
            self._seen[request] += 1
            replies = self._stored.get([self._name_key(request)]).values()
            return [ChatGeneration(message=AIMessage.model_validate_json(each)) for each in replies] or None

    @override
    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        message = return_val[0].message if isinstance(return_val[0], ChatGeneration) else None
        if isinstance(message, AIMessage):
            with self._lock:
                key = self._name_key(_digest(prompt, llm_string))
                self._stored.set({key: (message.model_dump_json(), None)})

    @override
    def clear(self, **kwargs: object) -> None:
        self._seen.clear()

    def _name_key(self, request: str) -> FullKey:
        return (), f"{self._task}:{request}:{self._seen[request]}"


def _digest(prompt: str, llm_string: str) -> str:
    # The port of an embedded model differs in each process.
    model = _LOCAL_PORT.sub("", llm_string)
    return hashlib.sha256(f"{model}\0{prompt}".encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Trial:
    """A policy on some tasks.

    Attributes:
        name: Name of the policy.
        policy: The policy.
        states: The last state of the run of each task, in the order in which the tasks were run.
    """

    name: str
    policy: RetryPolicy
    states: Mapping[str, OrchestratorState]

    @property
    def successes(self) -> list[float]:
        """1 for each task that succeeded, 0 for each other."""
        return [float(state["status"] == "success") for state in self.states.values()]

    @property
    def success(self) -> float:
        """The share of tasks that succeeded."""
        return fmean(self.successes)

    @property
    def interval(self) -> Interval | None:
        """The exact 95 % interval of this share."""
        return proportion(round(sum(self.successes)), len(self.states)).interval

    @property
    def tokens(self) -> float:
        """Mean tokens of a run; 0 if a run does not report them."""
        values = [state["usage"]["total_tokens"] for state in self.states.values()]
        return fmean([value for value in values if value is not None]) if None not in values else 0.0


@dataclass(frozen=True, slots=True)
class TuneResult:
    """The result of a search.

    Attributes:
        spec: The specification.
        trials: Every policy tried, the default first.
        name: Name of the recommended policy.
        policy: The recommended policy.
        sentence: The recommendation with its reason, in one sentence.
        held_out: The best policy and the default on the held-out tasks; None if the default is the best.
        difference: Of their success on the held-out tasks, the best minus the default; None as above.
    """

    spec: TuneSpec
    trials: Sequence[Trial]
    name: str
    policy: RetryPolicy
    sentence: str
    held_out: tuple[Trial, Trial] | None = None
    difference: PairedDifference | None = None

    @property
    def states(self) -> list[OrchestratorState]:
        """The last states of all runs of the search, for ``replay``."""
        return [state for trial in self.trials for state in trial.states.values()]

    @property
    def outcomes(self) -> dict[str, list[bool]]:
        """Whether each task of the search succeeded under each policy."""
        tasks = self.trials[0].states
        return {task: [trial.states[task]["status"] == "success" for trial in self.trials] for task in tasks}


_NO_VERDICT: Final = NO_ANSWER | {"compressor_error", "contract_error", "cancelled"}
"""Failures that say nothing about a policy: a server was away, say."""
Progress: TypeAlias = Callable[[Sequence[Trial]], None]


def tune(
    spec: TuneSpec | str | Path,
    *,
    folder: str | Path = ".",
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
        load: Loads a model by its specification.
        on_trial: Is called with all trials after each one.

    Raises:
        ConfigurationError: The specification or the tasks are not accepted; nothing was spent.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded.
        RunFailedError: A run failed for a reason that says nothing about its policy; the replies are kept.
    """
    checked = spec if isinstance(spec, TuneSpec) else read_spec(spec)
    space, cases = build_space(checked), read_tasks(checked)
    # All of them before anything is spent.
    escalations = [name for policy in space.values() for name in policy.escalations]
    models = {name: load(name) for name in dict.fromkeys([checked.model, *escalations])}
    replies = RecordedReplies(Path(folder) / checked.name / "replies.sqlite")
    cached = {name: model.model_copy(update={"cache": replies}) for name, model in models.items()}

    def run_task(case: TaskCase, policy: RetryPolicy) -> OrchestratorState:
        replies.begin(case.title)
        state = run_case(
            cached[checked.model],
            case,
            retry_policy=policy,
            models=cached,
            planning="always" if checked.planning else "never",
            supervision_policy=SupervisionPolicy(human=False),
        )
        _check_verdict(state, case.title)
        return state

    return search(checked, space, cases, run_task, on_trial)


def _check_verdict(state: OrchestratorState, task: str) -> None:
    failure = state["failure"]
    if state["status"] not in ENDED:
        raise KeyboardInterrupt
    if failure is not None and failure["kind"] in _NO_VERDICT:
        raise RunFailedError(
            f"the run of {format_repr(task, 80)} failed "
            f"({failure['kind']}: {shorten(failure['message'], 200)}), which says "
            "nothing about the policy; every reply is kept, so run the same command again"
        )


def search(
    spec: TuneSpec,
    space: Mapping[str, RetryPolicy],
    cases: Mapping[str, TaskCase],
    run: Callable[[TaskCase, RetryPolicy], OrchestratorState],
    on_trial: Progress = lambda _: None,
) -> TuneResult:
    """Tries the default and the policies of a space, and compares the best one with the default.

    Args:
        spec: The specification.
        space: The policies by name; a random sample of them is tried if ``spec.trials`` is less.
        cases: The tasks by name.
        run: Runs a task.
        on_trial: Is called with all trials after each one.
    """
    searched, held_out = split_tasks([*cases], spec)
    names = [*space]
    if len(names) > spec.trials:
        names = random.Random(spec.seed).sample(names, spec.trials)  # noqa: S311 - no secret
    policies = {DEFAULT: RetryPolicy(), **{name: space[name] for name in names}}

    def measure(name: str, tasks: Sequence[str]) -> Trial:
        return Trial(name, policies[name], {task: run(cases[task], policies[name]) for task in tasks})

    trials: list[Trial] = []
    for name in policies:
        trials.append(measure(name, searched))
        on_trial(trials)
    best = max(trials, key=lambda trial: (trial.success, -trial.tokens))
    result = TuneResult(spec, trials, DEFAULT, RetryPolicy(), "")
    if best.name == DEFAULT:
        return replace(result, sentence="Keep the default: no policy was better on the tasks of the search.")
    return recommend(result, measure(best.name, held_out), measure(DEFAULT, held_out))


def recommend(result: TuneResult, after: Trial, before: Trial) -> TuneResult:
    """Returns a search with its recommendation, which rests on the held-out runs of two policies."""
    result = replace(result, held_out=(after, before))
    difference = paired_difference(before.successes, after.successes)
    low, high = difference.interval
    count = len(after.states)
    measured = f"{difference.mean:+.3f} on {count} held-out tasks (95 % interval {low:+.3f} to {high:+.3f})"
    if count >= FEWEST_HELD_OUT and low > 0.0:
        sentence = f"Use {after.name}: its success rate differs from the default's by {measured}."
        return replace(result, name=after.name, policy=after.policy, sentence=sentence, difference=difference)
    reason = f"nothing can be told apart; the success rate of {after.name} differs by {measured}"
    if count < FEWEST_HELD_OUT:
        reason = f"nothing can be told apart with fewer than {FEWEST_HELD_OUT} held-out tasks (here {count})"
    return replace(result, sentence=f"Keep the default: {reason}.", difference=difference)
