"""Builds the orchestrators of ``serve``: of new runs by its options, of stored runs by their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from evaluation.values import as_list
from orchestrator import persistence
from orchestrator.cli.run_options import RunOptions
from orchestrator.cli.session.run_session import build_orchestrator
from orchestrator.cli.session.stored_options import read_stored_options
from orchestrator.cli.session.task_files import import_tools
from orchestrator.cli.view.person import describe_next
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.persistence import Store
from orchestrator.serving import NewRun
from orchestrator.state.records import Question


@dataclass(frozen=True, slots=True)
class ServedRuns:
    """Builds orchestrators over a store.

    Attributes:
        store: The store, for reading.
        where: Its path or URL, as it was given.
        options: The options of new runs. Its tools are the only code that a stored run may name.
    """

    store: Store
    where: str | None
    options: RunOptions

    @property
    def has_tools(self) -> bool:
        """Whether a new run has tools."""
        return bool(self.options.tools)

    @contextmanager
    def open_new(self, run: NewRun) -> Iterator[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run; see ``RunBuilder``."""
        given = run.model_dump(exclude={"task", "thread_id"}, exclude_none=True)
        with self._open(self.options.model_copy(update=given)) as orchestrator:
            yield orchestrator

    @contextmanager
    def open_stored(self, thread_id: str) -> Iterator[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run; see ``RunBuilder``."""
        with self._open(self._read_options(thread_id)) as orchestrator:
            yield orchestrator

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here; see ``RunBuilder``."""
        try:
            self._read_options(thread_id)
        except (ConfigurationError, StoreError) as error:
            return str(error)
        return None

    def describe_next(self, thread_id: str, question: Question | None) -> str:  # noqa: ARG002
        """Returns what continues a run elsewhere; see ``RunBuilder``."""
        return describe_next(self.store, thread_id)

    def _read_options(self, thread_id: str) -> RunOptions:
        tools = as_list((self.store.history.command(thread_id) or {}).get("tools"))
        is_served = bool(tools) and all(name in self.options.tools for name in tools)
        return read_stored_options(self.store, thread_id, {"tools": tools} if is_served else {})

    @contextmanager
    def _open(self, options: RunOptions) -> Iterator[LangGraphOrchestrator]:
        # A store of its own: each checkpoint of a run has the options of that run.
        with persistence.open_store(self.where) as store:
            store.keep(options.model_dump(exclude_defaults=True))
            yield build_orchestrator(options, store, tools=import_tools(options.tools))
