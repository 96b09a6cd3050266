"""The store of the command line: what is said of it in the words of a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from orchestrator.cli.view.question import resume_command
from orchestrator.errors import StoreError, StoreLostError
from orchestrator.persistence import Store
from orchestrator.persistence import open_store as open_any
from orchestrator.runs.summary import ENDED


@contextmanager
def open_store(where: str | None, command: Mapping[str, object] | None = None) -> Iterator[Store]:
    """Open the store at a path or a URL, or the default one.

    Args:
        where: What was typed; None for the file in the user's data folder.
        command: The options of the command that begins a run, which are kept with it, and for which the
            store is made where it is missing; None to work with runs that are there.

    Raises:
        StoreError: The store is missing, cannot be opened or holds something else; it is as it was.
    """
    with open_any(where, make=command is not None) as store:
        if command is not None:
            store.keep(command)
        yield store


def command_of(store: Store, thread_id: str) -> Mapping[str, object]:
    """The options with which ``orchestrator run`` began a thread.

    Raises:
        StoreError: There is no such thread, it was begun otherwise, or it cannot be read.
    """
    with reading():
        command = store.history.command(thread_id)
    if command is None:
        raise StoreError(
            f"thread {thread_id!r:.80} was not begun by `orchestrator run`; "
            "resume it in the program that began it"
        )
    return command


def check_ended(store: Store, thread_id: str) -> None:
    """Refuse to begin anew on a thread whose run can be gone on with: it would be lost.

    Raises:
        StoreError: There is such a run, or one that cannot be read.
    """
    with reading():
        line = store.history.find(thread_id)
    if line is None or line.status in ENDED:
        return
    otherwise = "give another --thread, or delete it first"
    if line.status == "unreadable":
        raise StoreError(f"thread {thread_id!r:.80} holds a run that cannot be read; {otherwise}")
    here = store.history.command(thread_id) is not None
    goes_on = f"`{resume_command(thread_id, store.where)}`" if here else "the program that began it"
    raise StoreError(
        f"thread {thread_id!r:.80} holds a run that has not ended ({line.status}); "
        f"{goes_on} goes on with it, or {otherwise}"
    )


@contextmanager
def kept_in(store: Store, thread_id: str) -> Iterator[None]:
    """Say what to do about a store that failed in the middle of a run.

    Raises:
        StoreLostError: The same error, with the command that goes on.
    """
    try:
        yield
    except StoreLostError as error:
        said = str(error).removesuffix(", and resume")
        command = resume_command(thread_id, store.where)
        raise StoreLostError(f"{said}, then `{command}` goes on from what is kept") from error


@contextmanager
def reading() -> Iterator[None]:
    """Take a store that fails as one that cannot be used, since nothing runs.

    Raises:
        StoreError: In place of StoreLostError.
    """
    try:
        yield
    except StoreLostError as error:
        said = str(error).removesuffix("; mend that, and resume")
        raise StoreError(f"{said}; mend that, or give another path") from error
