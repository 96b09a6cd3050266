"""Opens the store of a command, and reads the options that are stored with its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pydantic import ValidationError

from orchestrator import persistence
from orchestrator.cli.options.run_options import Baseline, RunOptions
from orchestrator.cli.view.questions import describe_next, format_command
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.judging.options import EvaluationOptions
from orchestrator.persistence import Store
from orchestrator.persistence.store import default_path
from orchestrator.runs.summary import ENDED
from orchestrator.state.plain_values import format_repr


def describe_no_store(path: str | None) -> str | None:
    """Returns what to do if the file in the user's data folder is meant and does not exist; else None."""
    file = default_path()
    if path is not None or file.exists():
        return None
    return f"no run is stored yet; `orchestrator run TASK` stores its run in {file}"


@contextmanager
def open_store(path: str | None, options: RunOptions | None = None) -> Iterator[Store]:
    """Opens the store at a path or a URL.

    Args:
        path: Path or URL; None for the file in the user's data folder.
        options: Options to store with a new run. The store is created if it is missing. None if the command
            needs an existing store.

    Raises:
        StoreError: The store is missing, cannot be opened or contains something else. It is unchanged.
    """
    if options is None and (problem := describe_no_store(path)) is not None:
        raise StoreError(problem)
    # Only a new run creates a store: a mistyped path must not leave an empty file.
    with persistence.open_store(path, make=options is not None) as store:
        if options is not None:
            store.keep(options.model_dump(exclude_defaults=True))
        yield store


def restore_options(store: Store, thread_id: str, typed: Mapping[str, object]) -> RunOptions:
    """Returns the options of a stored run with the typed changes, and stores them from now on.

    Args:
        store: The store of the run.
        thread_id: Name of the run.
        typed: Fields of ``RunOptions`` to change.

    Raises:
        StoreError: The thread does not exist, another program or version started it, or it cannot be read.
        ConfigurationError: The run has tools, and none are typed.
    """
    name, stored = format_repr(thread_id, 80), store.history.command(thread_id)
    if stored is None:
        hint = describe_next(store, thread_id)
        raise StoreError(f"thread {name} was not started by `orchestrator run`; to go on, {hint}")
    try:
        options = RunOptions.model_validate({**stored, **typed})
    except ValidationError as error:
        names = ", ".join(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
        raise StoreError(
            f"thread {name} was started with options that this version does not accept ({names}); resume it "
            "with the version that started it"
        ) from error
    # A tool's name is code to run, and whoever wrote the store may have written any name.
    if options.tools and "tools" not in typed:
        raise ConfigurationError(
            f"thread {name} was started with --tools {format_repr(' --tools '.join(options.tools), 200)}; "
            "give --tools again, because it runs code"
        )
    # A later resume continues with these options too.
    store.keep(options.model_dump(exclude_defaults=True))
    return options


def refuse_used_thread(store: Store, thread_id: str) -> None:
    """Refuses to start a run on a thread that has one, because that run would be lost.

    Raises:
        StoreError: The thread has a run, or one that cannot be read.
    """
    run = store.history.find(thread_id)
    if run is None:
        return
    if run.status in ENDED or run.status == "unreadable":
        hint = f"`{format_command('delete', thread_id, store.where)}` deletes it"
    else:
        hint = f"to go on with it, {describe_next(store, thread_id)}"
    raise StoreError(
        f"thread {format_repr(thread_id, 80)} has a run ({run.status}); give another --thread; {hint}"
    )


def read_baseline(option: Baseline | None, store: Store | None) -> EvaluationOptions:
    """Converts the option ``--baseline`` to the options of the evaluation.

    Raises:
        ConfigurationError: There is no store.
    """
    if option is None:
        return EvaluationOptions()
    if store is None:
        raise ConfigurationError("--baseline stored and --no-db contradict each other; leave one of them out")
    return EvaluationOptions(baseline=store.history.baseline)
