"""Finds the run that a user means: by its name, by the start of its name, or the latest one."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.cli.view.terminal_text import one_line
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.runs.summary import StoredStatus
from orchestrator.settings import check_thread_id
from orchestrator.state.plain_values import format_repr

_LISTED = 5


def find_thread(store: Store, text: str | None, *, last: bool, among: Sequence[StoredStatus] = ()) -> str:
    """Returns the name of a run.

    Args:
        store: The store of the run.
        text: The name, or the start of it. A name that no run has is returned as it is.
        last: Without a text: the run that was stored last.
        among: The statuses of the runs of which ``last`` is the latest; empty for all.

    Raises:
        ConfigurationError: Both or none of them are given, several names start so, or there is no run.
    """
    if (text is not None) == last:
        raise ConfigurationError(
            "THREAD is missing or given twice; give either the name of a run, as `orchestrator runs` lists "
            "it, or --last"
        )
    return _find_last(store, among) if text is None else complete_thread(store, text)


def complete_thread(store: Store, text: str) -> str:
    """Returns the name of the run that is called so, or that alone starts so; the text if there is none.

    Raises:
        ConfigurationError: Several names start so, or the text cannot be a name.
    """
    check_thread_id(text)
    if store.history.find(text) is not None:
        return text
    names = [run.thread_id for run in store.history.runs() if run.thread_id.startswith(text)]
    if len(names) > 1:
        listed = ", ".join(one_line(name, 80) for name in names[:_LISTED])
        raise ConfigurationError(
            f"{format_repr(text, 80)} is the start of {len(names)} names, so give more of it: {listed}"
        )
    return names[0] if names else text


def _find_last(store: Store, among: Sequence[StoredStatus]) -> str:
    runs = [run for status in among or (None,) for run in store.history.runs(status=status, limit=1)]
    if not runs:
        what = f"no run that is {' or '.join(among)}" if among else "no run"
        raise ConfigurationError(f"{store.where} has {what}; `orchestrator runs` lists its runs")
    return max(runs, key=lambda run: run.updated).thread_id
