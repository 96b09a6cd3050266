"""``orchestrator evaluate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from agents import load_model
from evaluation.evalset.case_result import CaseResult
from evaluation.judges.model_judge import RubricJudge
from evaluation.recordings.recorded_run import RecordedRun
from evaluation.recordings.run_files import ReadRun, StateFormat, read_runs
from evaluation.reporting.result_files import write_csv, write_junit, write_markdown
from evaluation.values import as_object
from orchestrator.cli import shared_options as shared
from orchestrator.cli.process_exit import BAD_INPUT, FAILED
from orchestrator.cli.session.stored_options import open_store
from orchestrator.cli.session.task_files import read_evaluation_contract
from orchestrator.cli.view.consoles import build_console, print_logs_on, report_bad_input
from orchestrator.cli.view.terminal_text import count_noun, one_line
from orchestrator.errors import ConfigurationError
from orchestrator.experiments.recorded_evaluation import FailOn, RecordedEvaluation
from orchestrator.state.records import Requirement

_COLOURS: Final = {"passed": "green", "warning": "yellow", "needs_review": "yellow"}
_MOST_SHOWN: Final = 3
"""Most unread parts, and most runs to look at first, that are shown."""
Files = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files of recorded runs, in any known format.", metavar="FILE...", show_default=False
    ),
]
Contract = Annotated[
    str | None,
    typer.Option(help="A contract in YAML or JSON that holds for every run.", metavar="FILE"),
]
Threads = Annotated[
    list[str] | None, typer.Option("--thread", help="Evaluate this stored run (repeatable).", metavar="ID")
]
Fail = Annotated[FailOn, typer.Option(help="The least severe status that is not accepted.")]
Require = Annotated[Requirement | None, typer.Option(help="What an accepted run has to rest on.")]
Judge = Annotated[str | None, typer.Option(help="Ask this model what no program can decide.", metavar="SPEC")]
Json = Annotated[bool, typer.Option("--json", help="Print the report of each run as a line of JSON.")]
Output = Annotated[str | None, typer.Option(help="Write the results to this file.", metavar="FILE")]


def evaluate(  # noqa: PLR0917
    files: Files = None,
    contract: Contract = None,
    thread: Threads = None,
    db: shared.Database = None,
    fail_on: Fail = "failed",
    require: Require = None,
    judge: Judge = None,
    csv: Output = None,
    junit: Output = None,
    markdown: Output = None,
    json: Json = False,
) -> None:
    """Evaluate recorded runs of any framework against a contract.

    Without --contract, it looks for facts without a source, leaked credentials, replies that were cut off,
    and calls without an answer.

    Exit status: 0 if every run is accepted, 1 if not, 2 for bad input or a run that cannot be read.
    """
    if not files and not thread:
        raise typer.BadParameter("give FILE... or --thread ID")
    console = build_console(stderr=True)
    with print_logs_on(console), report_bad_input():
        model = None if judge is None else RubricJudge(load_model(judge))
        fields = read_evaluation_contract(contract)
        evaluation = RecordedEvaluation(fields, fail_on, require, model)
        results: list[CaseResult] = []
        with _open_runs(files or [], thread or [], db) as runs:
            for result in evaluation.evaluate(runs):
                results.append(result.without_run())
                if json:
                    typer.echo(_to_line(result))
                elif not result.accepted or result.status != "passed":
                    build_console().print(_draw_result(result))
        for path, write in ((csv, write_csv), (junit, write_junit), (markdown, write_markdown)):
            _write(path, write, results)
    _conclude(evaluation, results, console)


@contextmanager
def _open_runs(files: Sequence[Path], threads: Sequence[str], db: str | None) -> Iterator[Iterator[ReadRun]]:
    """Yields the runs of the files, and then the stored ones.

    Raises:
        ConfigurationError: A file cannot be read.
        StoreError: There is no store, or no such run.
    """
    if missing := [file for file in files if not file.is_file()]:
        raise ConfigurationError(f"{one_line(str(missing[0]))} is no file; give files of recorded runs")
    recorded = chain.from_iterable(map(read_runs, files))
    with open_store(db) if threads else nullcontext() as store:
        states = [] if store is None else [(each, store.history.show(each).state) for each in threads]
        stored = (
            RecordedRun({"case_id": thread, **run.case})
            for thread, state in states
            for run in StateFormat().read(as_object(state))
        )
        yield chain(recorded, stored)


def _write(
    path: str | None, write: Callable[[str, Sequence[CaseResult]], None], results: list[CaseResult]
) -> None:
    if path is None:
        return
    try:
        write(path, results)
    except OSError as error:
        raise ConfigurationError(
            f"{path!r} cannot be written ({error.strerror}); give another file"
        ) from None


def _to_line(result: CaseResult) -> str:
    return dumps({"run": result.name, "accepted": result.accepted, "basis": result.basis, **result.report})


def _draw_result(result: CaseResult) -> Text:
    head = (result.status, _COLOURS.get(result.status, "red"))
    reason = one_line(result.reasons[0], 300) if result.reasons else ""
    return Text.assemble(head, f"  {one_line(result.name)}  {reason}")


def _conclude(evaluation: RecordedEvaluation, results: Sequence[CaseResult], console: Console) -> None:
    """Prints the counts, the bases of the accepted runs, and the unread parts; exits."""
    accepted = [result for result in results if result.accepted]
    refused = [result for result in results if not result.accepted]
    statuses = _count(result.status for result in results)
    lines = [f"{len(accepted)} of {count_noun(len(results), 'run')} accepted ({statuses})"]
    if accepted:
        lines.append(f"what the accepted ones rest on: {_count(result.basis for result in accepted)}")
    if refused:
        lines.append("look at first:")
        for reason, count in Counter(each.reasons[:1] for each in refused).most_common(_MOST_SHOWN):
            lines.append(f"  {count_noun(count, 'run')}: {one_line(' '.join(reason), 300)}")
    lines += [f"not read: {one_line(text, 500)}" for text in evaluation.unread[:_MOST_SHOWN]]
    if (more := len(evaluation.unread) - _MOST_SHOWN) > 0:
        lines.append(f"and {more} more that were not read")
    console.print(Text("\n".join(lines)))
    if evaluation.problems or not results:
        raise typer.Exit(BAD_INPUT)
    if refused:
        raise typer.Exit(FAILED)


def _count(words: Iterable[str]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())
