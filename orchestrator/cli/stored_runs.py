"""Opens the store of a command, finds its run, the options of that run, and the command that continues it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from shlex import quote

from pydantic import ValidationError

from evaluation.values import as_list
from orchestrator import persistence
from orchestrator.cli.consoles import clean
from orchestrator.cli.run_options import RunOptions
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence import Store
from orchestrator.persistence.store import default_path
from orchestrator.replaced_options import REPLACED
from orchestrator.runs.run_saver import format_resume_call
from orchestrator.settings import check_thread_id
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Question


def format_command(command: str, thread_id: str, store: str, tools: Sequence[str] = ()) -> str:
    """Returns a command about a run of a store, quoted for a shell."""
    where = () if store == str(default_path()) else ("--db", store)
    named = chain.from_iterable(("--tools", name) for name in tools)
    return " ".join(quote(clean(word)) for word in ("orchestrator", command, thread_id, *where, *named))


def format_resume(question: Question | None, thread_id: str, store: str, tools: Sequence[str] = ()) -> str:
    """Returns the command that resumes a run, with the accepted answers to its question."""
    accepted = () if question is None else question["accepts"]
    texts = {"approve": "", "correct": " TEXT"}
    answers = " | ".join(f"--{word}{texts.get(word, ' REASON')}" for word in accepted)
    return f"{format_command('resume', thread_id, store, tools)} {answers}".rstrip()


def describe_next(store: Store, thread_id: str) -> str:
    """Returns what continues a stored run: a command, or a call in Python, whose agents no command knows."""
    options, run = store.history.command(thread_id), store.history.find(thread_id)
    question = None if run is None else run.question
    if options is None:
        call = format_resume_call(clean(thread_id), question)
        return f"call orchestrator.{call} in Python, with its agents"
    # Printed only: the command that is typed decides which code runs.
    tools = [name for name in as_list(options.get("tools")) if isinstance(name, str)]
    return f"type: {format_resume(question, thread_id, store.where, tools)}"


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
    if options is None and path is None and not default_path().exists():
        raise StoreError(f"no run is stored yet; `orchestrator run TASK` stores its run in {default_path()}")
    # Only a new run creates a store: a mistyped path must not leave an empty file.
    with persistence.open_store(path, make=options is not None) as store:
        if options is not None:
            store.keep(options.model_dump(exclude_defaults=True))
        yield store


def find_thread(store: Store, name: str | None, *, last: bool, resumable: bool = False) -> str:
    """Returns the name of a run.

    Args:
        store: The store of the run.
        name: The name; a name that no run has is returned as it is.
        last: Without a name: the run that was stored last.
        resumable: Whether ``last`` is the latest of the runs that can be resumed.

    Raises:
        ConfigurationError: Both or none of them are given, or there is no run.
    """
    if (name is not None) == last:
        raise ConfigurationError(
            "THREAD is missing or given twice; give either the name of a run, as `orchestrator runs` lists "
            "it, or --last"
        )
    if name is not None:
        check_thread_id(name)
        return name
    runs = store.history.runs(limit=None if resumable else 1)
    found = next((run.thread_id for run in runs if run.can_resume or not resumable), None)
    if found is None:
        what = "no run that can be resumed" if resumable else "no run"
        raise ConfigurationError(f"{store.where} has {what}; `orchestrator runs` lists its runs")
    return found


def restore_options(store: Store, thread_id: str, typed: Mapping[str, object]) -> RunOptions:
    """Reads the options of a stored run as ``read_stored_options`` does, and stores them from now on."""
    options = read_stored_options(store, thread_id, typed)
    # A later resume continues with these options too.
    store.keep(options.model_dump(exclude_defaults=True))
    return options


def read_stored_options(store: Store, thread_id: str, typed: Mapping[str, object]) -> RunOptions:
    """Returns the options of a stored run with the typed changes.

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
        fields = [str(detail["loc"][0]) for detail in error.errors() if detail["loc"]]
        names = ", ".join(f"{each}, now {REPLACED[each][1]}" if each in REPLACED else each for each in fields)
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
    return options


def refuse_used_thread(store: Store, thread_id: str) -> None:
    """Refuses to start a run on a thread that has one, because that run would be lost.

    Raises:
        StoreError: The thread has a run, or one that cannot be read.
    """
    if (run := store.history.find(thread_id)) is not None:
        raise StoreError(
            f"thread {format_repr(thread_id, 80)} has a run ({run.status}); give another --thread; "
            f"`{format_command('show', thread_id, store.where)}` says how to go on, and `delete` deletes it"
        )
