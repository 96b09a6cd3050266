"""Reads the recorded attempts at tasks from stored runs, from results of evaluations, and from other runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from filecmp import cmp
from itertools import combinations
from operator import attrgetter
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from evaluation.cases.case_files import read_values
from evaluation.cases.case_result import CaseResult, is_stored_evaluation, read_end, read_results
from evaluation.contract.intake import UnreadableCase
from evaluation.judges.figures import JudgeTrust
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import read_runs
from evaluation.reporting.summaries import read_measure
from evaluation.values import JsonObject, as_object, group_by
from orchestrator import persistence
from orchestrator.errors import ConfigurationError
from orchestrator.state.graph_state import ENDED, OrchestratorState, sum_usage
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Attempt
from orchestrator.study.recorded_evaluation import RecordedEvaluation
from orchestrator.study.replay import read_steps
from orchestrator.study.targets import NO_ANSWER
from orchestrator.study.trial_outcomes import Trial, TriedAttempt
from orchestrator.study.worth import estimate_worth

_ACCEPTED: Final = "validated"


def read_trials(
    files: Sequence[Path],
    truth: str | None = None,
    judge: JudgeTrust | None = None,
    store: str | None = None,
) -> dict[str, list[Trial]]:
    """Reads the trials of files, by the model or the policy that made them.

    Args:
        files: Stores of runs in SQLite, stored evaluations, and recorded runs in any known format.
        truth: The field that says whether an attempt is right: of the run, of its metadata, or of each
            attempt of a stored run. Default: the known right answers of stored evaluations.
        judge: The judge whose figures are used.
        store: The path or the URL of a further store of runs.

    Raises:
        ConfigurationError: A run cannot be used, or does not belong to the others.
        ContractError: A file is no stored evaluation, or one that has not ended.
        OSError: A file cannot be read.
    """
    if copies := [pair for pair in combinations(files, 2) if cmp(*pair, shallow=False)]:
        raise ConfigurationError(f"{copies[0][1]} has the runs of {copies[0][0]} again; give them once")
    stored = [] if store is None else _read_store(store, truth)
    try:
        trials = [*stored, *(each for file in files for each in _read_file(file, truth))]
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise ConfigurationError(f"the {place} of a stored run cannot be read; leave the run out") from None
    if judge is not None:
        _check_judge(trials, judge)
    for group in group_by(trials, attrgetter("arm", "task")).values():
        _check_task(group)
    return group_by(trials, attrgetter("arm"))


def _refuse(name: object, problem: str) -> ConfigurationError:
    return ConfigurationError(f"{format_repr(str(name), 80)} {problem}")


def _check_task(trials: Sequence[Trial]) -> None:
    if any(each.contract != trials[0].contract for each in trials):
        raise _refuse(trials[0].task, "has trials under different contracts; give those of one")
    numbers = [each.number for each in trials if each.number is not None]
    if numbers and max(numbers) - min(numbers) >= len(numbers):
        raise _refuse(trials[0].task, "lacks a trial between others; give all trials, or number them anew")


def _check_judge(trials: Iterable[Trial], judge: JudgeTrust) -> None:
    asked = [each.judge for trial in trials for each in trial.attempts if each.judge is not None]
    if not asked:
        raise ConfigurationError("no judge was asked about these runs; leave out the figures of a judge")
    others = [name for name in asked if name and not name.startswith(tuple(judge.name.split()))]
    if others:
        raise ConfigurationError(
            f"{others[0]} judged these runs, and the figures are of another judge, {judge.name}; give "
            "those of `orchestrator doctor --judge SPEC --json` with the same model"
        )


def _read_file(file: Path, truth: str | None) -> Iterator[Trial]:
    if _is_database(file):
        yield from _read_store(file, truth)
    elif is_stored_evaluation(file):
        _refuse_unread(file, read_end(file).unread)
        yield from (_read_result(each, None, truth) for each in read_results(file))
    else:
        runs = [*read_runs(file)]
        _refuse_unread(file, [each.problem for each in runs if isinstance(each, UnreadableCase)])
        yield from _read_runs([each for each in runs if isinstance(each, RecordedRun)], truth)


def _is_database(file: Path) -> bool:
    # Only SQLite opens what may be a store: to close it by other means drops the locks of this process.
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            return bool(connection.execute("PRAGMA schema_version").fetchone()[0])
    except sqlite3.DatabaseError:
        return False


def _read_store(where: str | Path, truth: str | None) -> Iterator[Trial]:
    with persistence.open_store(where, make=False) as store:
        for run in store.history.runs():
            yield read_state(store.history.show(run.thread_id).state, truth=truth)


def _refuse_unread(file: Path, problems: Sequence[str]) -> None:
    if problems:
        more = f" (and {len(problems) - 1} more)" if problems[1:] else ""
        raise _refuse(file.name, f"cannot be read: {problems[0]}{more}; mend or remove what is named")


def _read_runs(runs: Sequence[RecordedRun], truth: str | None) -> Iterator[Trial]:
    evaluation = RecordedEvaluation(None, keeps_runs=True)
    others = [run for run in runs if not _find_state(run.source)]
    for run, result in zip(others, evaluation.evaluate(others), strict=True):
        yield _read_result(result, run.source, truth)
    yield from (read_state(state, run.source, truth) for run in runs if (state := _find_state(run.source)))


def _find_state(source: JsonObject) -> JsonObject:
    """Returns the state of a stored run; empty for any other run."""
    state = as_object(source.get("state", source))
    return state if {"plan", "results", "status"} <= state.keys() else {}


def _read_truth(truth: str, name: str, *places: JsonObject) -> bool:
    value = next((place[truth] for place in places if truth in place), None)
    if value not in (0, 1):
        stated = "is missing" if value is None else f"is {format_repr(value, 40)}"
        raise _refuse(
            name, f"has no truth: its field {truth!r:.60} {stated}; give true, false, 1 or 0 in each run"
        )
    return bool(value)


def _find_problem(result: CaseResult) -> str | None:
    """Returns why a result says nothing of an attempt."""
    if result.status == "invalid":
        return f"is invalid: {'; '.join(result.reasons[:1])}"
    is_unanswered = str(as_object(result.agent_run.get("metadata")).get("failure")) in NO_ANSWER
    return "has a run whose model did not answer; run it again, or leave it out" if is_unanswered else None


def _read_result(result: CaseResult, source: JsonObject | None = None, truth: str | None = None) -> Trial:
    run = result.agent_run
    if (problem := _find_problem(result)) is not None:
        raise _refuse(result.name, problem)
    places = (source or {}, run, as_object(run.get("metadata")), result.model_dump(include={"correct"}))
    latency = read_measure(run, "latency_ms")
    attempt = TriedAttempt(
        accepted=result.accepted,
        right=result.correct if truth is None else _read_truth(truth, result.name, *places),
        verdict=result.basis,
        tokens=read_measure(run, "total_tokens"),
        seconds=None if latency is None else latency / 1000,
        cost_usd=read_measure(run, "cost_usd"),
        judge=_find_judge(result.report),
    )
    return Trial(result.name, [attempt], arm=result.arm, number=result.trial, contract=result.expected)


def describe_results(results: Sequence[CaseResult]) -> list[dict[str, object]]:
    """Describes the worth of attempts of each arm whose cases were repeated, and have known right answers."""
    return [
        estimate_worth(map(_read_result, group)).describe(arm)
        for arm, group in group_by(results, attrgetter("arm")).items()
        if len({each.name for each in group}) < len(group)
        and all(each.correct is not None and _find_problem(each) is None for each in group)
    ]


_STATE: Final = TypeAdapter(OrchestratorState)
_VERDICTS: Final = {
    None, "attempts_exhausted", "needs_review", "unverified", "halted", "denied", "unwanted_effect",
}  # fmt: skip
"""Kinds of failures that a verdict leads to; any other one says nothing of the attempts."""


def read_state(value: object, source: JsonObject | None = None, truth: str | None = None) -> Trial:
    """Reads a run of the orchestrator: the attempts at each of its steps.

    Args:
        value: The state of the run.
        source: An object with the label of the run, which is that of its last attempt.
        truth: The field with the label, also of the record of each attempt; None if there is none.

    Raises:
        ConfigurationError: It has not ended with a verdict, or lacks an attempt.
        ValidationError: It is no state.
    """
    state = _STATE.validate_python(value)
    steps = read_steps(state)
    records = [record for step in steps for record in step]
    is_accepted = all(step[-1]["status"] == _ACCEPTED for step in steps)
    failure = state["failure"]
    kind = None if failure is None else failure["kind"]
    has_verdict = kind in _VERDICTS and state["status"] in ENDED and not (is_accepted and failure)
    if not has_verdict or any(each["replan"] for each in records):
        problem = f"was planned anew, or ended without a verdict ({kind or state['status']})"
        raise _refuse(state["task"], f"{problem}; resume it, or leave it out")
    labels = [_find_label(each, each is records[-1], source or {}, truth) for each in records]
    befores = [before for step in steps for before in [None, *step[:-1]]]
    attempts = [*map(_read_attempt, records, befores, labels)]
    stopped = not is_accepted and len(steps[-1]) <= state["max_retries"]
    return Trial(state["task"], attempts, stopped, contract=state["declared"].get("derived"))


def _find_label(record: Attempt, is_last: bool, source: JsonObject, truth: str | None) -> bool | None:
    own: JsonObject = {**record}
    return _read_truth(truth, record["step"], own, source) if truth and (is_last or truth in own) else None


def _read_attempt(record: Attempt, before: Attempt | None, right: bool | None) -> TriedAttempt:
    usage = sum_usage(record)
    decision = None if before is None else before.get("decision")
    rule = None
    if decision is not None and decision["rule"] is not None:
        rule = decision["rule"], {**decision["options"], "use": decision["use"]}
    return TriedAttempt(
        accepted=record["status"] == _ACCEPTED,
        right=right,
        verdict=record.get("basis", ""),
        tokens=usage["total_tokens"],
        seconds=usage["latency_ms"] / 1000,
        cost_usd=usage["cost_usd"],
        step=record["step_index"],
        use="another attempt" if decision is None else decision["use"],
        kinds=tuple(dict.fromkeys(each["kind"] for each in record.get("problems", ()))),
        rule=rule,
        judge=_find_judge(record["report"] or {}),
    )


def _find_judge(report: JsonObject) -> str | None:
    """Returns the model that was asked for a verdict, empty if it is unknown; None if none was asked."""
    judge = as_object(report.get("judge"))
    return str(as_object(judge.get("usage")).get("model") or "") if judge.get("called") else None


def read_judge_figures(file: Path) -> JudgeTrust:
    """Reads the figures of a judge that `orchestrator doctor --judge SPEC --json` has printed.

    Raises:
        ConfigurationError: The file has none.
        OSError: The file cannot be read.
    """
    try:
        fields = as_object(read_values(file))
        # Strict types are read from JSON.
        known = {name: fields[name] for name in ("name", "counts") if name in fields}
        return TypeAdapter(JudgeTrust).validate_json(json.dumps(known))
    except ValueError:
        raise _refuse(
            file.name, "has no figures of a judge; give what `orchestrator doctor --judge SPEC --json` prints"
        ) from None
