"""``orchestrator checks``."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import Final

import typer
from rich.text import Text

from evaluation import EvaluationContract, TaskCase, write_case_set
from evaluation.checks import CheckContext
from evaluation.task_checks import DerivedChecks, derive_checks
from orchestrator.cli import consoles, options

_NOTHING: Final = "Nothing of the task is checked by a program; a success would rest on the judge alone."
_HINT: Final = """\
Nothing says what the answer has to be: checks of the words of a task cover its form. Write them to a file
(--save FILE), add a line such as
  required_content: [{text: "..."}]
under `contract:`, and run the task with --contract FILE."""


def checks(
    task: options.Task,
    *,
    save: options.File[str | None] = None,
) -> None:
    """Print how a success of TASK is checked, and what stays unchecked.

    Exit status: 0, 2 for bad input.

    Args:
        save: Write the contract to a new file, YAML or JSON, to edit and pass to `run --contract`.
    """
    derived = derive_checks(task)
    if save is not None:
        _save(save, task, derived)
    consoles.build_console().print(Text("\n").join(_draw(derived)), soft_wrap=True)
    typer.echo(_HINT, err=True)


def _save(path: str, task: str, derived: DerivedChecks) -> None:
    contract = EvaluationContract(checks=list(derived.checks))
    write_case_set(path, [TaskCase(task=task, contract=contract, unchecked=list(derived.unchecked))])
    command = f"orchestrator run TASK --contract {quote(path)}"
    typer.echo(consoles.one_line(f"saved in {path}; `{command}` uses it", 5000), err=True)


def _draw(derived: DerivedChecks) -> Iterator[Text]:
    if not derived.checks:
        yield Text(_NOTHING, style="yellow")
    for check in derived.checks:
        # An instruction, such as "use at most 2 words".
        wanted = check.evaluate(CheckContext("")).wanted
        words = f"{wanted} (“{check.quote}”)" if check.quote else wanted
        yield Text.assemble(("checked: ", "green"), consoles.one_line(words), (f" [{check.check}]", "dim"))
    for phrase in derived.unchecked:
        yield Text.assemble(("not checked: ", "yellow"), f"“{consoles.one_line(phrase)}”")
