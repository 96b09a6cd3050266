"""The options of a run, and the orchestrators that are built from them: for commands and servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.loop.acting_tools import ActingTool, ActingTools, describe_tool
from agents.loop.tool_arguments import build_tools
from evaluation import TaskCase
from orchestrator.cli import options
from orchestrator.cli.stored_runs import describe_next
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.events import Hook
from orchestrator.persistence import Store, open_store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.settings_model import Budget
from orchestrator.service.executions import NewRun
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import Grounding, PlanningMode, Requirement, SupervisionMode
from orchestrator.study.targets import import_name

_ROLES: Final = ("planner", "executor", "monitor", "supervisor")
_APPROVE: Final = ":approve"
"""The end of the name of a tool whose calls a person approves."""
_BUDGET: Final = {
    "max_seconds": "max_seconds",
    "max_tokens": "max_total_tokens",
    "max_calls": "max_model_calls",
}
_PASSED: Final = {"call_timeout", "step_timeout", "planning", "grounding", "require", "synthesis"}
"""The options that the orchestrator has under the same names."""
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def read_policy_file(path: str) -> str:
    """Reads the text of a file with a retry policy.

    Raises:
        typer.BadParameter: It cannot be read, or is no text.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{path!r} cannot be read ({error}); give a YAML file") from None


class RunOptions(BaseModel):
    """How a run is executed; stored with the run. Its fields are options of the commands.

    Times are in seconds. ``retry_policy`` is the text of the file.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    model: Annotated[list[str], typer.Option(metavar="[ROLE=]SPEC")] = []
    """Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME", with settings of Ollama
    as in "ollama:qwen3,num_ctx=16384,reasoning=false,keep_alive=30m"; for one role, "planner=SPEC",
    "executor=SPEC", "monitor=SPEC" or "supervisor=SPEC" (repeatable). Default of a new run: local."""
    tools: options.Code[list[str]] = []
    """Give the executor this tool, or this list of tools (repeatable). It imports MODULE from the current
    folder or an installed package: this runs its code."""
    planning: PlanningMode = "auto"
    """Ask the planner first, never, or (auto) only if the executor has tools, or all attempts at the whole
    task failed. Default: auto."""
    grounding: Grounding = "facts"
    """Refuse an output that contradicts what the tools were called with and answered (facts), or compare
    nothing (off)."""
    supervise: SupervisionMode = "none"
    """Who reviews a step: a model, or you."""
    acting_tools: options.Name[list[str]] = []
    """A tool that changes something: an equal call in a retry is not made again. NAME:approve asks you before
    each call; all:approve before all that may change something (repeatable)."""
    max_retries: options.Number[int | None] = None
    """Maximum number of retries of a step. Default: 2."""
    retry_policy: Annotated[str | None, typer.Option(metavar="FILE", parser=read_policy_file)] = None
    """Retry as this YAML file says."""
    call_timeout: options.Time = None
    """Maximum time of an agent call: 90s, 5m, 12h."""
    step_timeout: options.Time = None
    """Maximum time of a step with all its attempts."""
    max_seconds: options.Time = None
    """Maximum time of the whole run."""
    max_tokens: options.Count[int | None] = None
    """Maximum number of tokens of the whole run."""
    max_calls: options.Count[int | None] = None
    """Maximum number of model calls of the whole run."""
    synthesis: bool = True
    """Write one answer from the results of the steps."""
    checks: bool = True
    """Derive checks, or leave all to the judge."""
    require: Requirement | None = None
    """What a success has to rest on at least."""

    @property
    def asks_person(self) -> bool:
        """Whether a person is asked, which needs a store."""
        return self.supervise == "human" or any(name.endswith(_APPROVE) for name in self.acting_tools)

    @property
    def models(self) -> dict[str, str]:
        """The specifications of the models by the names of the arguments of ``from_model``.

        Raises:
            ConfigurationError: One names no role or no model.
        """
        return {"model": "local", **dict(map(_split_role, self.model))}

    @property
    def policy(self) -> RetryPolicy:
        """The retry policy; raises ConfigurationError if the file has none."""
        policy = RetryPolicy() if self.retry_policy is None else RetryPolicy.from_yaml(self.retry_policy)
        return policy.with_max_retries(self.max_retries)

    def check(self) -> None:
        """Reads all of the options, before a wrong one creates a store.

        Raises:
            ConfigurationError: One is not accepted.
        """
        _ = self.models, self.policy, import_tools(self.tools)

    def join(self, stored: Mapping[str, object]) -> RunOptions:
        """Returns the options of a stored run, with those that are given here in their place."""
        given = self.model_dump(exclude_unset=True)
        models = [*RunOptions.model_validate(stored).model, *self.model]
        return RunOptions.model_validate({**stored, **given, "model": models})


def _split_role(text: str) -> tuple[str, str]:
    """Reads ``SPEC`` or ``ROLE=SPEC``: the name of an argument, and the specification."""
    role, separator, spec = text.partition("=")
    # A specification such as gguf:PATH may contain the sign, too.
    if not separator or not role.isidentifier():
        return "model", text
    if role not in _ROLES or not spec.strip():
        raise ConfigurationError(
            f"--model {text!r} is not accepted; give SPEC, or ROLE=SPEC with a role of {', '.join(_ROLES)}"
        )
    return f"{role}_model", spec


def import_tools(names: Sequence[str]) -> list[BaseTool]:
    """Imports the tools that a user names with ``--tools``. This runs code, so no stored name comes here.

    Args:
        names: ``MODULE:NAME`` each: a LangChain tool, a function, or a list of these.

    Raises:
        ConfigurationError: A module or a name does not exist, the module raises, it holds no tool, or two
            tools have one name.
    """
    try:
        imported = [import_name(name, Path.cwd()) for name in names]
        return build_tools(
            [tool for each in imported for tool in (each if isinstance(each, list | tuple) else [each])]
        )
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"--tools: {error}") from None


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
    changes: RunOptions = field(default_factory=RunOptions)
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
            options = self.changes.join(stored)
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
            yield build_orchestrator(options, store, case)


def build_orchestrator(
    options: RunOptions, store: Store | None, case: TaskCase | None = None
) -> LangGraphOrchestrator:
    """Loads the models and builds the orchestrator of a run.

    Args:
        options: The options of the run.
        store: Keeps the run; None to keep it nowhere.
        case: The contract of the task; None to derive it.

    Raises:
        ConfigurationError: An option is not accepted.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded; the message says what to do.
    """
    tools = import_tools(options.tools)
    passed: dict[str, Any] = {**options.models, **options.model_dump(include=_PASSED)}
    return LangGraphOrchestrator.from_model(
        **passed,
        tools=tools,
        contract=(case or "from_task") if options.checks else None,
        checkpointer=store,
        hooks=_build_hooks(),
        retry_policy=options.policy,
        budget=Budget(**{bound: getattr(options, name) for name, bound in _BUDGET.items()}),
        supervision=options.supervise,
        acting_tools=_read_tool_words(options.acting_tools, tools),
    )


def _build_hooks() -> Sequence[Hook]:
    """Builds the tracer of a command if the environment names an endpoint for its traces."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return ()
    from orchestrator.telemetry import export_traces

    return (export_traces(),)


def _read_tool_words(words: Sequence[str], tools: Sequence[BaseTool]) -> dict[str, ActingTool] | None:
    """Reads the words ``NAME``, ``NAME:approve`` and ``all:approve``; None if there are none."""
    approved, stated = ActingTool(approve=True), dict[str, ActingTool]()
    for word in words:
        name = word.removesuffix(_APPROVE)
        if word == f"all{_APPROVE}":
            known = ActingTools(metadata={tool.name: tool.metadata for tool in tools})
            names = [tool.name for tool in tools if describe_tool(known, tool.name).kind != "reading"]
            stated = {**dict.fromkeys(names, approved), **stated}
        else:
            stated[name] = approved if word.endswith(_APPROVE) else ActingTool()
    return stated or None
