"""Builds the orchestrator of a command from its options, and imports its tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from pkgutil import resolve_name

from langchain_core.tools import BaseTool

from agents.calls.tool_binding import build_tools
from evaluation import TaskCase
from orchestrator.cli.run_options import RunOptions
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.retry.policy import RetryPolicy, merge_max_retries
from orchestrator.runtime.budget import Budget
from orchestrator.task_contracts.writers import RuleWriter


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
    return LangGraphOrchestrator.from_model(
        options.model,
        planner_model=options.planner_model,
        executor_model=options.executor_model,
        monitor_model=options.monitor_model,
        supervisor_model=options.supervisor_model,
        tools=tools,
        contract=(case or "from_task") if options.checks else None,
        contract_writer=RuleWriter(options.without_checks) if options.without_checks else None,
        checkpointer=store,
        retry_policy=read_policy(options),
        call_timeout=options.call_timeout,
        step_timeout=options.step_timeout,
        budget=Budget(
            max_seconds=options.max_seconds,
            max_total_tokens=options.max_tokens,
            max_model_calls=options.max_calls,
        ),
        planning=options.planning,
        grounding=options.grounding,
        verifier=options.verifier,
        supervision=options.supervise,
        approve_tools="all" if options.approve_tools == ["all"] else options.approve_tools,
        once_tools=options.once_tools,
        synthesis=options.synthesis,
        require=options.require,
    )


def read_policy(options: RunOptions) -> RetryPolicy:
    """Returns the retry policy of a run.

    Raises:
        ConfigurationError: The file has no retry policy, or contradicts the number of retries.
    """
    policy = None if options.retry_policy is None else RetryPolicy.from_yaml(options.retry_policy)
    return merge_max_retries(policy, options.max_retries)


def import_tools(names: Sequence[str]) -> list[BaseTool]:
    """Imports the tools that a user names with ``--tools``. This runs code, so no stored name comes here.

    Args:
        names: ``MODULE:NAME`` each: a LangChain tool, a function, or a list of these.

    Raises:
        ConfigurationError: A module or a name does not exist, the module raises, it holds no tool, or two
            tools have one name.
    """
    try:
        return build_tools([tool for name in names for tool in _import_each(name)])
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"--tools: {error}") from None


def _import_each(name: str) -> Iterator[object]:
    # Last, so that no file of the folder replaces a module of Python or of an installed package.
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    if ":" not in name:
        raise ValueError(f"{name!r} is not accepted; give MODULE:NAME, such as my_tools:TOOLS")
    try:
        value = resolve_name(name)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"{name!r} raised {type(error).__name__}: {error}; give MODULE:NAME, and run the command "
            "in the folder of the module"
        ) from error
    yield from (value if isinstance(value, list | tuple) else [value])
