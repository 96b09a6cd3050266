"""The options of ``orchestrator evaluate``, and the source of its results: recorded runs or cases."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

import typer
from pydantic import BaseModel, ConfigDict

from evaluation import ContractError, read_case_set
from evaluation.cases import stored_evaluation
from evaluation.cases.case_files import MAX_BYTES, YAML_SUFFIXES, read_values
from evaluation.cases.stored_evaluation import EvaluationHeader
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, read_runs
from evaluation.values import as_object
from orchestrator.cli import options as forms
from orchestrator.errors import ConfigurationError
from orchestrator.state.records import Requirement
from orchestrator.study.recorded_evaluation import FailOn, RecordedEvaluation, Source

_FOR_CASES: Final = ("target", "model", "repeat", "concurrency")


class EvaluateOptions(BaseModel):
    """The runs or cases, their contract, and the files of the results."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    files: forms.Files = None
    """Files of recorded runs in any known format, a file of cases, or one that --out wrote."""
    contract: forms.File[Path | None] = None
    """A contract that holds for every run, or cases whose names or tasks are those of the runs."""
    fail_on: FailOn | None = None
    """The least severe status that is not accepted. Default: needs_review."""
    require: Requirement | None = None
    """What an accepted run has to rest on."""
    judge: forms.Spec[str | None] = None
    """Ask this model what no program can decide."""
    init: bool = False
    """Write an example of a file of cases to FILE."""
    target: forms.Code[str | None] = None
    """What executes the cases: a function of the task, or an orchestrator. It imports MODULE from the current
    folder or an installed package: this runs its code."""
    model: forms.Spec[str | None] = None
    """Without a target: the model of the orchestrator. Default: local."""
    repeat: forms.Count[int | None] = None
    """How often each case is executed."""
    concurrency: forms.Count[int] = 1
    """Executions at once."""
    out: forms.OutputFile = None
    """Store each result as it ends. The same command continues an interrupted evaluation."""
    baseline: forms.OutputFile = None
    """Fail for cases that are worse than in this file, and for no others."""
    save_baseline: forms.OutputFile = None
    """Write the results as a baseline."""
    html: forms.OutputFile = None
    """Write a report to look at, with all runs in one HTML file."""
    junit: forms.OutputFile = None
    """Write a JUnit report to this file."""
    as_json: Annotated[bool, typer.Option("--json")] = False
    """Print the report of each run as a line of JSON."""

    @property
    def for_cases(self) -> list[str]:
        """The options that are given, and have an effect only on cases that are executed."""
        fields = type(self).model_fields
        given = [name for name in _FOR_CASES if getattr(self, name) != fields[name].default]
        return [f"--{name.replace('_', '-')}" for name in given]


def build_source(options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    """Builds the source of the results of a command.

    Raises:
        ConfigurationError: A file or an option cannot be used.
        ContractError: A file of cases or results cannot be used.
    """
    files = options.files or []
    if not any(map(_has_cases, files)):
        if options.for_cases:
            raise _refuse_options(options, "these runs are recorded")
        return _read_recorded(options, evaluation)
    if len(files) > 1:
        raise ConfigurationError("a file of cases is executed alone; give it without other runs")
    return _read_cases(files[0], options, evaluation)


def _refuse_options(options: EvaluateOptions, reason: str) -> ConfigurationError:
    names = ", ".join(options.for_cases)
    return ConfigurationError(f"nothing is executed, because {reason}; leave out {names}")


def _has_cases(file: Path) -> bool:
    if file.suffix.lower() != ".json" or file.stat().st_size > MAX_BYTES:
        return file.suffix.lower() in YAML_SUFFIXES
    try:
        data = as_object(read_values(file))
    except ValueError:
        return False
    return "version" in data and bool({"cases", "task"} & data.keys())


def _read_recorded(options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    if options.out is not None and options.out.is_file() and options.out.stat().st_size:
        raise ConfigurationError("--out has results, and recorded runs begin anew; give a new file")
    runs = chain.from_iterable(_read_file(file, evaluation) for file in options.files or ())
    return Source(evaluation, lambda _: evaluation.evaluate(runs), _build_header(options, evaluation))


def _read_file(file: Path, evaluation: RecordedEvaluation) -> Iterable[ReadRun]:
    """Reads recorded runs; of a file that ``--out`` wrote, those that it has, to judge them again."""
    if not stored_evaluation.is_stored_evaluation(file):
        return read_runs(file)
    if not evaluation.has_contract:
        raise ConfigurationError(
            f"{file.name} has results; --contract FILE judges their runs again, and the command that wrote "
            "them shows them as they are"
        )
    evaluation.unread += stored_evaluation.read_end(file).unread
    return (
        RecordedRun({"case_id": each.name, "agent_run": each.agent_run}, arm=each.arm, trial=each.trial)
        for each in stored_evaluation.read_results(file)
    )


def _read_cases(file: Path, options: EvaluateOptions, evaluation: RecordedEvaluation) -> Source:
    from orchestrator.study.case_runs import CaseRunner, build_case_source, read_target

    cases = read_case_set(file)
    if options.for_cases and all(case.agent_run is not None for case in cases.cases):
        raise _refuse_options(options, f"each case of {file.name} has an agent_run")
    if cases.target is not None and "--model" in options.for_cases:
        raise ConfigurationError(
            f"--model has no effect, because {file.name} has the target {cases.target}; leave out one of them"
        )
    target, model = options.target or cases.target, options.model or "local"
    runner = CaseRunner(read_target(cases, file, target, model), evaluation)
    header = _build_header(options, evaluation, target=target, model=None if target else model)
    return build_case_source([runner], cases, options.repeat, options.concurrency, header.options)


def _build_header(
    options: EvaluateOptions, evaluation: RecordedEvaluation, **named: object
) -> EvaluationHeader:
    values = {**named, "contract": evaluation.contract or evaluation.cases, "judge": options.judge}
    return EvaluationHeader(options={name: value for name, value in values.items() if value})


@contextmanager
def name_file() -> Iterator[None]:
    """Turns the error of a file that cannot be used into one sentence with its name.

    Raises:
        ConfigurationError: A file cannot be used.
        OSError: Reading or writing failed for another reason.
    """
    try:
        yield
    except ContractError as error:
        raise ConfigurationError(str(error)) from None
    except OSError as error:
        if error.filename is None:  # a closed pipe or a full disk is no wrong path
            raise
        name = str(error.filename)
        raise ConfigurationError(f"{name!r} cannot be used ({error.strerror}); give another file") from None


def check_outputs(written: Sequence[Path | None], inputs: Sequence[Path]) -> None:
    """Checks the files of results, before a long evaluation whose results they could not hold.

    Args:
        written: The files to write; None for one that is not asked for.
        inputs: The files to read, which would be replaced.

    Raises:
        ConfigurationError: The folder of a file does not exist, it is a file to read, or two results have the
            same file.
    """
    taken = [os.path.realpath(each) for each in inputs]
    for path in filter(None, written):
        if not path.parent.is_dir() or path.is_dir():
            raise ConfigurationError(
                f"{str(path)!r} is a folder, or in none; give another file for the results"
            )
        if os.path.realpath(path) in taken:
            raise ConfigurationError(
                f"{str(path)!r} is read by the command, or has other results, too; give another file"
            )
        taken.append(os.path.realpath(path))
