"""Derives the contract of a task, prints it and saves it; reads a saved contract for a run."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

import typer
from rich.text import Text

from agents.errors import AgentError
from agents.models.spec import load_model
from agents.sync import run_sync
from evaluation import ContractError, EvaluationContract, TaskCase, read_case_set, write_case_set
from evaluation.task_checks import DerivedChecks, derive_checks
from orchestrator.cli.arguments.tasks import read_task
from orchestrator.cli.process.exits import report_bad_input
from orchestrator.cli.process.opening import announce
from orchestrator.cli.view.consoles import build_console, print_logs_on
from orchestrator.cli.view.contract import describe_check
from orchestrator.cli.view.text import one_line, to_json
from orchestrator.errors import ConfigurationError
from orchestrator.settings import check_task
from orchestrator.task_contracts.model_writer import ModelWriter
from orchestrator.task_contracts.writers import drop_unquoted

_NOTHING: Final = "The task states nothing that a program can check; a success would rest on the judge alone."
_UNCHECKED: Final = "Nothing of the task is checked by a program; a success would rest on the judge alone."


def print_checks(
    task: str | None, *, task_file: str | None, save: str | None, model: str | None, json: bool
) -> None:
    """Print the contract that is derived from a task, and save it if a file is named.

    Raises:
        typer.Exit: The task, the model or the file is not accepted.
    """
    with report_bad_input():
        text = check_task(read_task(task, task_file))
        derived = _derive(text, model)
        if save is not None:
            _save(save, text, derived)
            command = f"orchestrator run TASK --contract {quote(save)}"
            typer.echo(one_line(f"saved in {save}; `{command}` uses it", 5000), err=True)
    if json:
        typer.echo(to_json(_to_plain(text, derived)).encode())
    else:
        build_console().print(Text("\n").join(_draw(derived)), soft_wrap=True)


def read_contract(path: str, task: str) -> TaskCase:
    """Read the case of a task from a file.

    Raises:
        ConfigurationError: The file cannot be used, or it has no case for this task, or several.
    """
    try:
        cases = read_case_set(path).cases
    except ContractError as error:
        raise ConfigurationError(
            f"--contract: {error} (a file has version, task and contract, as `checks --save` writes them)"
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"--contract {path!r} cannot be read ({error.strerror}); give a file that `checks --save` wrote"
        ) from None
    matches = [case for case in cases if case.task.split() == task.split()]
    if len(matches) != 1:
        tasks = "; ".join(f"{one_line(case.task, 80)!r}" for case in cases[:3])
        raise ConfigurationError(
            f"--contract {path!r} has {len(matches) or 'no'} cases for this task; "
            f"give a file with one (its tasks: {tasks})"
        )
    return matches[0]


def _derive(task: str, model: str | None) -> DerivedChecks:
    if model is None:
        return derive_checks(task)
    with print_logs_on(build_console(stderr=True)):
        with announce(f"loading the model {model} ..."):
            writer = ModelWriter(load_model(model))
        try:
            return drop_unquoted(run_sync(lambda: writer.awrite_checks(task)), task)
        except AgentError as error:
            raise ConfigurationError(f"--model {model!r} did not answer: {error}") from None


def _save(path: str, task: str, derived: DerivedChecks) -> None:
    contract = EvaluationContract(checks=list(derived.checks))
    case = TaskCase(task=task, contract=contract, unchecked=list(derived.unchecked))
    try:
        write_case_set(path, [case])
    except FileExistsError:
        raise ConfigurationError(f"--save {path!r} exists already; give a new file, or delete it") from None
    except OSError as error:
        raise ConfigurationError(
            f"--save {path!r} cannot be written ({error.strerror}); give another file"
        ) from None


def _to_plain(task: str, derived: DerivedChecks) -> dict[str, object]:
    return {
        "task": task,
        "checks": [
            {**check.model_dump(mode="json", exclude_defaults=True), "wanted": describe_check(check)}
            for check in derived.checks
        ],
        "unchecked": list(derived.unchecked),
        "warnings": list(derived.warnings),
    }


def _draw(derived: DerivedChecks) -> Iterator[Text]:
    if not derived.checks:
        states_something = derived.unchecked or derived.warnings
        yield Text(_UNCHECKED if states_something else _NOTHING, style="yellow")
    for check in derived.checks:
        quote = f" (“{one_line(check.quote)}”)" if check.quote else ""
        yield Text.assemble(("checked: ", "green"), one_line(describe_check(check)), (quote, "dim"))
    for phrase in derived.unchecked:
        yield Text.assemble(("not checked: ", "yellow"), f"“{one_line(phrase)}”")
    for warning in derived.warnings:
        yield Text.assemble(("warning: ", "yellow"), one_line(warning))
