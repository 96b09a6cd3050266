"""The options of a run, and the orchestrators that are built from them: for commands and servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from shlex import quote
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typer
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from agents.loop.acting_tools import ActingTool, ActingTools, describe_tool
from agents.loop.tool_arguments import build_tools
from evaluation import TaskCase
from evaluation.values import as_list
from orchestrator.cli import options
from orchestrator.cli.consoles import clean
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError, StoreError
from orchestrator.events import Hook
from orchestrator.persistence import Store
from orchestrator.persistence import open_store as open_or_make_store
from orchestrator.persistence.store import default_path
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.budget import Budget
from orchestrator.service.executions import NewRun
from orchestrator.settings import RunSettings, read_sentences
from orchestrator.state.plain_values import format_repr, name_thread
from orchestrator.state.records import Question, SupervisionMode
from orchestrator.study.targets import import_name

_ROLES: Final = ("planner", "executor", "monitor", "supervisor")
_APPROVE: Final = ":approve"
"""The end of the name of a tool whose calls a person approves."""
_ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class _OwnOptions(BaseModel):
    """How a run is executed; stored with the run. Its fields are options of the commands.

    Times are in seconds. ``retry_policy`` is the text of the file. ``RunOptions`` has the options of
    ``RunSettings`` besides, with their sentences.
    """

    SENTENCES: ClassVar = read_sentences(RunSettings)

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    model: Annotated[list[str], typer.Option(metavar="[ROLE=]SPEC")] = []
    """Model: "local", "ollama:NAME", "gguf:PATH", "openai:NAME" or "PROVIDER:NAME", with settings of Ollama
    as in "ollama:qwen3,num_ctx=16384,reasoning=false,keep_alive=30m"; for one role, "planner=SPEC",
    "executor=SPEC", "monitor=SPEC" or "supervisor=SPEC" (repeatable). Default of a new run: local."""
    tools: options.Code[list[str]] = []
    """Give the executor this tool, or this list of tools (repeatable). It imports MODULE from the current
    folder or an installed package: this runs its code."""
    supervise: SupervisionMode = "none"
    """Who reviews a step: a model, or you."""
    acting_tools: options.Name[list[str]] = []
    """A tool that changes something: an equal call in a retry is not made again. NAME:approve asks you before
    each call; all:approve before all that may change something (repeatable)."""
    max_retries: options.Number[int | None] = None
    """Maximum number of retries of a step. Default: 2."""
    retry_policy: Annotated[str | None, typer.Option(metavar="FILE", parser=options.read_text_file)] = None
    """Retry as this YAML file says."""
    max_seconds: options.Time = None
    """Maximum time of the whole run: 90s, 5m, 12h."""
    max_tokens: options.Count[int | None] = None
    """Maximum number of tokens of the whole run."""
    max_calls: options.Count[int | None] = None
    """Maximum number of model calls of the whole run."""
    checks: bool = True
    """Derive checks, or leave all to the judge."""

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


def _list_shared() -> dict[str, Any]:
    """Returns a field for each option of ``RunSettings`` that can be typed; None stands for its default."""
    hints = get_type_hints(RunSettings, include_extras=True)
    typed = {name: _choose_type(get_args(hint)[0]) for name, hint in hints.items()}
    return {name: (kind, None) for name, kind in typed.items() if kind is not None}


def _choose_type(kind: Any) -> Any:  # noqa: ANN401 - any type
    """Returns the type of an option of the command line; None if no text can state such a value."""
    parts = {*(get_args(kind) if get_origin(kind) in (Union, UnionType) else [kind])} - {NoneType}
    if parts == {int, float}:
        return options.Time
    if parts == {int}:
        return Annotated[int | None, typer.Option(metavar="N", min=1)]
    is_stated = parts == {bool} or all(get_origin(part) is Literal for part in parts)
    return kind | None if is_stated else None


if TYPE_CHECKING:
    RunOptions: TypeAlias = _OwnOptions
else:
    RunOptions = create_model("RunOptions", __base__=_OwnOptions, **_list_shared())


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
        lists = [each if isinstance(each, list | tuple) else [each] for each in imported]
        return build_tools([*chain.from_iterable(lists)])
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"--tools: {error}") from None


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
    if options is None:
        return f"call orchestrator.resume({clean(thread_id)!r}) in Python, with its agents"
    # Printed only: the command that is typed decides which code runs.
    tools = [name for name in as_list(options.get("tools")) if isinstance(name, str)]
    return f"type: {format_resume(None if run is None else run.question, thread_id, store.where, tools)}"


def open_store(path: str | None) -> AbstractContextManager[Store]:
    """Opens the store at a path or a URL; None is the file in the user's data folder.

    Raises:
        StoreError: The store is missing, cannot be opened or contains something else. It is unchanged.
    """
    if path is None and not default_path().exists():
        raise StoreError(f"no run is stored yet; `orchestrator run TASK` stores its run in {default_path()}")
    # Only a new run creates a store: a mistyped path must not leave an empty file.
    return open_or_make_store(path, make=False)


_PASSED: Final = {*RunOptions.model_fields} & {*RunSettings.__annotations__} - {"retry_policy"}
"""The options that the orchestrator has under the same names."""


@dataclass(frozen=True, slots=True)
class OptionRuns:
    """Builds orchestrators over a store; see ``RunBuilder``.

    Attributes:
        store: The store, for reading.
        where: Its path or URL, as it was given.
        options: The options of new runs. Its tools are the only code that a stored run may name.
        changes: The options that a stored run gets in place of its own.
        case: The contract of the task of a new run; None to derive it.
    """

    store: Store
    where: str | None
    options: RunOptions
    changes: RunOptions = field(default_factory=RunOptions)
    case: TaskCase | None = None

    def open_new(self, run: NewRun) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator of a new run."""
        given = run.model_dump(exclude={"task", "thread_id"}, exclude_none=True)
        return self._open(self.options.model_copy(update=given), self.case)

    def open_stored(self, thread_id: str) -> AbstractContextManager[LangGraphOrchestrator]:
        """Builds the orchestrator that continues a run."""
        return self._open(self.read_options(thread_id))

    def find_problem(self, thread_id: str) -> str | None:
        """Returns why a run cannot be continued here, and what continues it elsewhere."""
        try:
            self.read_options(thread_id)
        except StoreError as error:
            return str(error)
        except ConfigurationError as error:
            return f"{error}; {describe_next(self.store, thread_id)}"
        return None

    def read_options(self, thread_id: str) -> RunOptions:
        """Returns the options of a stored run, with the changes.

        Raises:
            StoreError: The thread does not exist, another program started it, or it cannot be read.
            ConfigurationError: The run has tools that these options do not name.
        """
        name = name_thread(thread_id)
        if (stored := self.store.history.command(thread_id)) is None:
            hint = describe_next(self.store, thread_id)
            raise StoreError(f"{name} was not started by `orchestrator run`; to go on, {hint}")
        try:
            options = self.changes.join(stored)
        except ValidationError as error:
            names = ", ".join(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
            raise StoreError(
                f"{name} was started with options that this version does not accept ({names}); "
                "resume it with the version that started it"
            ) from error
        # A tool's name is code to run, and whoever wrote the store may have written any name.
        if not {*options.tools} <= {*self.options.tools}:
            raise ConfigurationError(
                f"{name} was started with --tools {format_repr(' --tools '.join(options.tools), 200)}; "
                "give it again, because it runs code"
            )
        return options

    @contextmanager
    def _open(self, options: RunOptions, case: TaskCase | None = None) -> Iterator[LangGraphOrchestrator]:
        # A store of its own: each checkpoint of a run has the options of that run.
        with open_or_make_store(self.where) as store:
            store.keep(options.model_dump(exclude_defaults=True))
            yield build_orchestrator(options, store, case)


def build_orchestrator(
    options: RunOptions, store: Store, case: TaskCase | None = None
) -> LangGraphOrchestrator:
    """Loads the models and builds the orchestrator of a run.

    Args:
        options: The options of the run.
        store: Keeps the run.
        case: The contract of the task; None to derive it.

    Raises:
        ConfigurationError: An option is not accepted.
        ModelSpecError: A specification names no model.
        ModelSetupError: A model cannot be loaded; the message says what to do.
    """
    tools = import_tools(options.tools)
    passed: dict[str, Any] = {**options.models, **options.model_dump(include=_PASSED, exclude_none=True)}
    return LangGraphOrchestrator.from_model(
        **passed,
        tools=tools,
        contract=(case or "from_task") if options.checks else None,
        checkpointer=store,
        hooks=_build_hooks(),
        retry_policy=options.policy,
        budget=Budget(
            max_seconds=options.max_seconds,
            max_total_tokens=options.max_tokens,
            max_model_calls=options.max_calls,
        ),
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
