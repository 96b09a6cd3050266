"""Finds the run that a user means: by its name, by the start of its name, or the latest one."""

from __future__ import annotations

from orchestrator.cli.view.text import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import RunSummary, Store
from orchestrator.settings import check_thread_id
from orchestrator.state.plain_values import format_repr

_LISTED = 5


def find_thread(store: Store, text: str | None, *, resumable: bool = False) -> str:
    """Return the name of a run.

    Args:
        store: The store of the run.
        text: The name, or the start of it; None for the run that was stored last. A name that no run has is
            returned as it is.
        resumable: With None: only among the runs that were interrupted or wait for an answer.

    Raises:
        ConfigurationError: Several names start so, or there is no run.
    """
    return _find_last(store, resumable=resumable) if text is None else complete_thread(store, text)


def complete_thread(store: Store, text: str) -> str:
    """Return the name of the run that is called so, or that alone starts so; the text if there is none.

    Raises:
        ConfigurationError: Several names start so, or the text cannot be a name.
    """
    check_thread_id(text)
    if store.history.find(text) is not None:
        return text
    matches = [run for run in store.history.runs() if run.thread_id.startswith(text)]
    if len(matches) > 1:
        raise ConfigurationError(
            f"{format_repr(text, 80)} is the start of {len(matches)} names, so give more of it: "
            f"{_list_runs(matches)}"
        )
    return matches[0].thread_id if matches else text


def _find_last(store: Store, *, resumable: bool) -> str:
    history = store.history
    runs = (
        [*history.runs(status="interrupted", limit=1), *history.runs(status="waiting", limit=1)]
        if resumable
        else history.runs(limit=1)
    )
    if not runs:
        what = "no run that was interrupted or waits for an answer" if resumable else "no run"
        raise ConfigurationError(f"{store.where} has {what}; `orchestrator runs` lists its runs")
    return max(runs, key=lambda run: run.updated).thread_id


def _list_runs(runs: list[RunSummary]) -> str:
    more = f" and {len(runs) - _LISTED} more" if len(runs) > _LISTED else ""
    listed = (
        f"{one_line(run.thread_id, 80)} ({run.status}, “{one_line(run.task, 40)}”)" for run in runs[:_LISTED]
    )
    return f"{', '.join(listed)}{more}"
