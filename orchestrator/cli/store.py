"""Opens the store of a command, reads the options that are stored with its runs, and the baseline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from orchestrator import persistence
from orchestrator.cli.arguments.options import RunOptions
from orchestrator.cli.view.question import (
    describe_python_resume,
    format_delete_command,
    format_resume_command,
    format_show_command,
)
from orchestrator.errors import ConfigurationError, ResumeError, StoreError
from orchestrator.judging.options import EvaluationOptions
from orchestrator.persistence import RunSummary, Store
from orchestrator.persistence.store import default_path
from orchestrator.runs.summary import ENDED
from orchestrator.state.plain_values import format_repr

STORED: Final = "stored"
_READER: TypeAdapter[RunOptions] = TypeAdapter(with_config(ConfigDict(extra="forbid"))(RunOptions))


def describe_no_store(path: str | None) -> str | None:
    """Return what to do if the file in the user's data folder is meant and does not exist yet; else None."""
    file = default_path()
    if path is not None or file.exists():
        return None
    return f"no run is stored yet; `orchestrator run TASK` stores its run in {file}"


@contextmanager
def open_store(path: str | None, labels: Mapping[str, object] | None = None) -> Iterator[Store]:
    """Open the store at a path or a URL.

    Args:
        path: Path or URL; None for the file in the user's data folder.
        labels: Options to store with a new run. The store is created if it is missing. None if the command
            needs an existing store.

    Raises:
        StoreError: The store is missing, cannot be opened or contains something else. It is unchanged.
    """
    if labels is None and (problem := describe_no_store(path)) is not None:
        raise StoreError(problem)
    # Only a new run creates a store: a mistyped path must not leave an empty file.
    with persistence.open_store(path, make=labels is not None) as store:
        if labels is not None:
            store.keep(labels)
        yield store


def changed_options(options: RunOptions) -> dict[str, object]:
    """Return the options that differ from the defaults, which are stored with a run."""
    changed: dict[str, object] = _READER.dump_python(options, exclude_defaults=True)
    return changed


def parse_options(values: Mapping[str, object]) -> RunOptions:
    """Build options from values by name; defaults for the others."""
    return _READER.validate_python(values)


def restore_options(
    store: Store, thread_id: str, typed: Mapping[str, object], *, in_python: str
) -> RunOptions:
    """Return the options of a stored run with the typed changes, and store them from now on.

    Args:
        store: The store of the run.
        thread_id: Name of the run.
        typed: Fields of ``RunOptions`` to change.
        in_python: What to do with a run that was started in Python.

    Raises:
        StoreError: The thread does not exist, another program or version started it, or it cannot be read.
        ConfigurationError: The run has tools, and none are typed.
    """
    stored = store.history.command(thread_id)
    if stored is None:
        raise StoreError(
            f"thread {format_repr(thread_id, 80)} was not started by `orchestrator run`; {in_python}"
        )
    try:
        options = parse_options({**stored, **typed})
    except ValidationError as error:
        names = ", ".join(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
        raise StoreError(
            f"thread {format_repr(thread_id, 80)} was started with options that this version does not "
            f"accept ({names}); resume it with the version that started it"
        ) from error
    # A tool's name is code to run, and whoever wrote the store may have written any name.
    if options.tools and "tools" not in typed:
        raise ConfigurationError(
            f"thread {format_repr(thread_id, 80)} was started with --tools "
            f"{format_repr(' --tools '.join(options.tools), 200)}; give --tools again, because it runs code"
        )
    # A later resume continues with these options too.
    store.keep(changed_options(options))
    return options


def refuse_used_thread(store: Store, thread_id: str) -> None:
    """Refuse to start a run on a thread that has one, because that run would be lost.

    Raises:
        StoreError: The thread has a run, or one that cannot be read.
    """
    run = store.history.find(thread_id)
    if run is None:
        return
    name = format_repr(thread_id, 80)
    if run.status in ENDED:
        raise StoreError(
            f"thread {name} has a run that ended ({run.status}); give another --thread, "
            f"or delete it first with `{format_delete_command(thread_id, store.where)}`"
        )
    # Starting would overwrite the checkpoints that a resume needs.
    raise StoreError(
        f"thread {name} has an unfinished run ({run.status}); {_describe_resume(run, store)}"
        "give another --thread, or delete it first"
    )


def _describe_resume(run: RunSummary, store: Store) -> str:
    if run.status == "unreadable":
        return ""
    if store.history.command(run.thread_id) is None:
        return f"{describe_python_resume(None, run.thread_id)}, or "
    return f"resume it with `{format_resume_command(run.thread_id, store.where)}`, or "


def refuse_ended_run(store: Store, thread_id: str) -> None:
    """Refuse to resume a run that has ended, before its model is loaded.

    Raises:
        ResumeError: The run has ended.
    """
    run = store.history.find(thread_id)
    if run is not None and run.status in ENDED:
        raise ResumeError(
            f"thread {format_repr(thread_id, 80)} has ended as {run.status!r}; start a new run, "
            f"or print this one with `{format_show_command(thread_id, store.where)}`"
        )


def read_baseline(option: str | None, store: Store | None) -> EvaluationOptions:
    """Converts the option to the options of the evaluation.

    Args:
        option: "stored", the path of a JSON file with a report or with metrics by name, or None.
        store: The store of the run; None without one.

    Raises:
        ConfigurationError: The file cannot be read, or there is no store.
    """
    if option is None:
        return EvaluationOptions()
    if option != STORED:
        return EvaluationOptions(baseline=_read_file(option))
    if store is None:
        raise ConfigurationError("--baseline stored and --no-db contradict each other; leave one of them out")
    return EvaluationOptions(baseline=store.history.baseline)


def _read_file(path: str) -> Mapping[str, object]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"--baseline {format_repr(path, 200)} cannot be read ({_describe(error)}); "
            "give 'stored', or a JSON file with a report"
        ) from error
    if not isinstance(content, dict):
        raise ConfigurationError(
            f"--baseline {format_repr(path, 200)} holds a JSON {type(content).__name__}; "
            "give a report, or metrics by name"
        )
    return content


def _describe(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
