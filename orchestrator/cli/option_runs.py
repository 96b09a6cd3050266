"""Builds the orchestrators of runs from their options: for the commands of a run, and for servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agents.loop.acting_tools import ActingTool, ActingTools, describe_tool
from evaluation import TaskCase
from orchestrator.cli.run_options import APPROVE, ROLES, RunOptions
from orchestrator.cli.stored_runs import describe_next
from orchestrator.cli.task_files import import_tools
from orchestrator.engine import LangGraphOrchestrator, OrchestratorOptions
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.events import Hook
from orchestrator.persistence import Store, open_store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.settings_model import Budget
from orchestrator.service.executions import NewRun
from orchestrator.state.plain_values import format_repr

_SAME: Final = {
    *(RunOptions.model_fields.keys() & OrchestratorOptions.__annotations__.keys()),
    *(f"{role}_model" for role in ROLES),
} - {"acting_tools", "retry_policy", "checks"}
"""The options that the orchestrator has under the same names."""
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@dataclass(frozen=True, slots=True)
class OptionRuns:
    """Builds orchestrators over a store; see ``RunBuilder``.

    Attributes:
        store: The store, for reading; None to keep the runs nowhere.
        where: Its path or URL, as it was given.
        options: The options of new runs. Its tools are the only code that a stored run may name.
        changes: The options that a stored run gets in place of its own.
        case: The contract of the task of a new run; None to derive it.
    """

    store: Store | None
    where: str | None
    options: RunOptions
    changes: Mapping[str, object] = field(default_factory=dict)
    case: TaskCase | None = None

    @property
    def has_tools(self) -> bool:
        """Whether a new run has tools."""
        return bool(self.options.tools)

    @contextmanager
    def open_new(self, run: NewRun) -> Iterator[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run."""
        given = run.model_dump(exclude={"task", "thread_id"}, exclude_none=True)
        with self._open(self.options.model_copy(update=given), self.case) as orchestrator:
            yield orchestrator

    @contextmanager
    def open_stored(self, thread_id: str) -> Iterator[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run."""
        with self._open(self.read_options(thread_id)) as orchestrator:
            yield orchestrator

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here, and what continues it elsewhere."""
        try:
            self.read_options(thread_id)
        except StoreError as error:
            return str(error)
        except ConfigurationError as error:
            return str(error) if self.store is None else f"{error}; {describe_next(self.store, thread_id)}"
        return None

    def read_options(self, thread_id: str) -> RunOptions:
        """Returns the options of a stored run, with the changes.

        Raises:
            StoreError: The thread does not exist, another program started it, or it cannot be read.
            ConfigurationError: The run has tools that these options do not name.
        """
        name = format_repr(thread_id, 80)
        if self.store is None:
            raise StoreError(f"thread {name} is not stored; give a store")
        if (stored := self.store.history.command(thread_id)) is None:
            hint = describe_next(self.store, thread_id)
            raise StoreError(f"thread {name} was not started by `orchestrator run`; to go on, {hint}")
        try:
            options = RunOptions.model_validate({**stored, **self.changes})
        except ValidationError as error:
            names = ", ".join(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
            raise StoreError(
                f"thread {name} was started with options that this version does not accept ({names}); "
                "resume it with the version that started it"
            ) from error
        # A tool's name is code to run, and whoever wrote the store may have written any name.
        if not {*options.tools} <= {*self.options.tools}:
            raise ConfigurationError(
                f"thread {name} was started with --tools "
                f"{format_repr(' --tools '.join(options.tools), 200)}; give it again, because it runs code"
            )
        return options

    @contextmanager
    def _open(self, options: RunOptions, case: TaskCase | None = None) -> Iterator[LangGraphOrchestrator]:
        # A store of its own: each checkpoint of a run has the options of that run.
        with nullcontext() if self.store is None else open_store(self.where) as store:
            if store is not None:
                store.keep(options.model_dump(exclude_defaults=True))
            yield build_orchestrator(options, store, tools=import_tools(options.tools), case=case)


def build_orchestrator(
    options: RunOptions, store: Store | None, *, tools: list[BaseTool], case: TaskCase | None = None
) -> LangGraphOrchestrator:
    """Loads the models and builds the orchestrator of a run.

    Args:
        options: The options of the run.
        store: Keeps the run; None to keep it nowhere.
        tools: Tools of the executor.
        case: The contract of the task; None to derive it.

    Raises:
        ConfigurationError: An option is not accepted.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded; the message says what to do.
    """
    same: dict[str, Any] = options.model_dump(include=_SAME)
    return LangGraphOrchestrator.from_model(
        options.model,
        **same,
        tools=tools,
        contract=(case or "from_task") if options.checks else None,
        checkpointer=store,
        hooks=_build_hooks(),
        retry_policy=read_policy(options),
        budget=Budget(
            max_seconds=options.max_seconds,
            max_total_tokens=options.max_tokens,
            max_model_calls=options.max_calls,
        ),
        supervision=options.supervise,
        acting_tools=read_tool_words(options.acting_tools, tools),
    )


def _build_hooks() -> Sequence[Hook]:
    """Builds the tracer of a command if the environment names an endpoint for its traces."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return ()
    from orchestrator.telemetry import export_traces

    return (export_traces(),)


def read_tool_words(words: Sequence[str], tools: Sequence[BaseTool]) -> dict[str, ActingTool] | None:
    """Reads the words ``NAME``, ``NAME:approve`` and ``all:approve``; None if there are none."""
    approved, stated = ActingTool(approve=True), dict[str, ActingTool]()
    for word in words:
        name = word.removesuffix(APPROVE)
        if word == f"all{APPROVE}":
            known = ActingTools(metadata={tool.name: tool.metadata for tool in tools})
            names = [tool.name for tool in tools if describe_tool(known, tool.name).kind != "reading"]
            stated = {**dict.fromkeys(names, approved), **stated}
        else:
            stated[name] = approved if word.endswith(APPROVE) else ActingTool()
    return stated or None


def read_policy(options: RunOptions) -> RetryPolicy:
    """Returns the retry policy of a run.

    Raises:
        ConfigurationError: The file has no retry policy.
    """
    text = options.retry_policy
    policy = RetryPolicy() if text is None else RetryPolicy.from_yaml(text)
    return policy.with_max_retries(options.max_retries)
