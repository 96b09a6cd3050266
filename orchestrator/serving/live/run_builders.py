"""Builds the orchestrators of the server's runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.runs.run_saver import format_resume_call
from orchestrator.state.records import Question, Requirement
from orchestrator.state.supervision_records import SupervisionMode

Name = Annotated[str, Field(min_length=1, max_length=200)]


class NewRun(BaseModel):
    """A run to start.

    Attributes:
        task: What to do.
        thread_id: Name of the run; None for a new name.
        model: Specification of its model, one of those that the server offers; None for the first.
        approve_tools: Tools whose calls a person approves, or "all" alone; None for the server's.
        supervise: Who reviews each step; None for the server's choice.
        require: What a success has to rest on at least; None for the server's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: Annotated[str, Field(max_length=100_000)]
    thread_id: Name | None = None
    model: Name | None = None
    approve_tools: Annotated[list[Name], Field(max_length=100)] | None = None
    supervise: SupervisionMode | None = None
    require: Requirement | None = None


class RunBuilder(Protocol):
    """Builds orchestrators; each lives as long as its run. Its methods may block."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models that a new run may name."""
        ...

    @property
    def has_tools(self) -> bool:
        """Whether a new run has tools whose calls a person may approve."""
        ...

    def open_new(self, run: NewRun) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run; raises ConfigurationError if it is not accepted."""
        ...

    def open_stored(self, thread_id: str) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run.

        Raises:
            ConfigurationError: It cannot be built here: its tools are missing, say.
            StoreError: There is no such run, or another program began it.
        """
        ...

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here: its tools are missing, say; None if it can."""
        ...

    def describe_next(self, thread_id: str, question: Question | None) -> str:
        """Returns the command, or the call in Python, that continues a run elsewhere."""
        ...


@dataclass(frozen=True, slots=True)
class OneOrchestrator:
    """Runs everything with one orchestrator of the caller, over the store that is served."""

    orchestrator: LangGraphOrchestrator
    models: tuple[str, ...] = ()
    has_tools: bool = False

    def open_new(self, run: NewRun) -> AbstractContextManager[LangGraphOrchestrator]:
        """Returns the orchestrator, which has its settings already."""
        given = run.model_dump(exclude={"task", "thread_id"}, exclude_none=True)
        if given:
            raise ConfigurationError(f"{', '.join(given)} cannot be chosen here; leave it out")
        return self._open()

    def open_stored(self, thread_id: str) -> AbstractContextManager[LangGraphOrchestrator]:  # noqa: ARG002
        """Returns the orchestrator; its ``resume`` compares the settings."""
        return self._open()

    def find_problem(self, thread_id: str) -> str | None:  # noqa: ARG002
        """Returns None: ``resume`` finds the problems."""
        return None

    def describe_next(self, thread_id: str, question: Question | None) -> str:
        """Returns the call in Python."""
        return f"orchestrator.{format_resume_call(thread_id, question)}"

    @contextmanager
    def _open(self) -> Iterator[LangGraphOrchestrator]:
        yield self.orchestrator
