"""Collects the cases of files as tests of pytest: one for each run of a case."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from agents import load_model
from agents.errors import AgentError
from evaluation import ContractError, read_case_set
from evaluation.cases.case_files import CaseSet
from evaluation.findings import UNVERIFIED
from evaluation.judges.model_judge import RubricJudge
from evaluation.reporting.summaries import clean_line, describe_failure
from orchestrator.errors import ConfigurationError
from orchestrator.study.case_runs import CaseRunner, Job, list_jobs, name_jobs, read_target
from orchestrator.study.recorded_evaluation import RecordedEvaluation

_Evalset: TypeAlias = tuple[list[Job], CaseRunner | None]
"""The runs of a file of cases; the runner is None if the tests are only listed."""
_CLEAN: Final = ("verdict", UNVERIFIED)
"""A property of the test of a run in which nothing was found, and whose answer nothing verifies."""
_EVALSETS: Final = pytest.StashKey[dict[str, _Evalset]]()


def pytest_configure(config: pytest.Config) -> None:
    """Read the files of cases, and collect them beside the paths of the command line, if it has any.

    Raises:
        pytest.UsageError: A file, the target or the model cannot be used.
    """
    names = [_find_path(config, name) for name in config.getoption("evalset")]
    config.stash[_EVALSETS] = {name: _read_evalset(Path(name), config) for name in names}
    given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
    # A given test of a file, such as cases.yaml::price, is collected alone.
    named = {_find_path(config, argument.partition("::")[0]) for argument in given}
    config.args = [*given, *(name for name in config.stash[_EVALSETS] if name not in named)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of cases."""
    is_evalset = str(file_path) in parent.config.stash[_EVALSETS]
    return EvalsetFile.from_parent(parent, path=file_path) if is_evalset else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the passed runs whose answer nothing verifies."""
    passed = [each for each in terminalreporter.getreports("passed") if each.when == "call"]
    if clean := sum(_CLEAN in each.user_properties for each in passed):
        terminalreporter.write_line(f"{clean} of {len(passed)} passed: {UNVERIFIED}")


class EvalsetFile(pytest.File):
    """A file of cases."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the runs; the runs of a case with several have numbers, from 1."""
        jobs, runner = self.config.stash[_EVALSETS][str(self.path)]
        for job, name in zip(jobs, name_jobs(jobs), strict=True):
            yield CaseItem.from_parent(self, name=clean_line(name), runner=runner, job=job)


class CaseItem(pytest.Item):
    """A run of a case."""

    def __init__(self, *, runner: CaseRunner | None, job: Job, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self.runner, self.job = runner, job

    def runtest(self) -> None:
        """Execute and evaluate the run; fail if it is not accepted."""
        if self.runner is None:
            return
        result = self.runner.run(self.job)
        self.user_properties += [("status", result.status), ("basis", result.basis)]
        if result.accepted and result.is_clean:
            self.user_properties.append(_CLEAN)
        if not result.accepted:
            pytest.fail(describe_failure(result), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the file and the heading of a failure."""
        return self.path, None, self.name


def _find_path(config: pytest.Config, name: str) -> str:
    # As pytest does: a link is not followed.
    return os.path.abspath(config.invocation_params.dir / name)


def _read_evalset(file: Path, config: pytest.Config) -> _Evalset:
    try:
        cases = read_case_set(file)
        runner = None if config.option.collectonly else _build_runner(cases, file, config)
        return list_jobs(cases, None), runner
    except OSError as error:
        raise pytest.UsageError(f"--evalset {file} cannot be used ({error.strerror})") from None
    except (AgentError, ConfigurationError, ContractError) as error:
        raise pytest.UsageError(clean_line(str(error))) from None


def _build_runner(cases: CaseSet, file: Path, config: pytest.Config) -> CaseRunner:
    option = config.option
    judge = None if option.evalset_judge is None else RubricJudge(load_model(option.evalset_judge))
    gate = RecordedEvaluation(None, option.evalset_fail_on, option.evalset_require, judge, keeps_runs=True)
    target = read_target(cases, file, option.evalset_target or cases.target, option.evalset_model)
    return CaseRunner(target, gate)
