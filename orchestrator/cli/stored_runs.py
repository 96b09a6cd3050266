"""Opens the store of a command, finds its run, and the command that continues it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from shlex import quote

from evaluation.values import as_list
from orchestrator import persistence
from orchestrator.cli.consoles import clean
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence import Store
from orchestrator.persistence.store import default_path
from orchestrator.runs.run_saver import format_resume_call
from orchestrator.settings import check_thread_id
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
def open_store(path: str | None) -> Iterator[Store]:
    """Opens the store at a path or a URL; None is the file in the user's data folder.

    Raises:
        StoreError: The store is missing, cannot be opened or contains something else. It is unchanged.
    """
    if path is None and not default_path().exists():
        raise StoreError(f"no run is stored yet; `orchestrator run TASK` stores its run in {default_path()}")
    # Only a new run creates a store: a mistyped path must not leave an empty file.
    with persistence.open_store(path, make=False) as store:
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
