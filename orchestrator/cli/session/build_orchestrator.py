"""Builds the orchestrator of a command from its options."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Final

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from agents import load_model
from agents.models.spec import timeout_option
from evaluation import TaskCase
from evaluation.checks import CHECKS
from orchestrator.cli.options.run_options import RunOptions
from orchestrator.cli.session.stored_options import read_baseline
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.persistence import Store
from orchestrator.retry.policy import RetryPolicy, merge_max_retries
from orchestrator.runtime.budget import Budget
from orchestrator.task_contracts.model_writer import ModelWriter
from orchestrator.task_contracts.writers import RuleWriter, SelectiveWriter

_SIZED: Final = ("local", "gguf", "ollama")
"""The kinds of models whose context size can be set."""


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
    policy, writer = (
        read_policy_option(options),
        build_writer(options.checks_model, options.without_checks),
    )
    load = cache(partial(_load_sized, tokens=options.context_size, call_timeout=options.call_timeout))
    own = (options.planner_model, options.executor_model, options.monitor_model)
    return LangGraphOrchestrator.from_model(
        # A model that no role uses is not loaded.
        options.model if all(own) else load(options.model) or options.model,
        planner_model=load(options.planner_model),
        executor_model=load(options.executor_model),
        monitor_model=load(options.monitor_model),
        supervisor_model=load(options.supervisor_model),
        tools=tools,
        contract=(case or "from_task") if options.checks else None,
        contract_writer=writer if options.checks else None,
        evaluation=read_baseline(options.baseline, store),
        checkpointer=store,
        retry_policy=policy,
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
        approve_tools="all" if options.approve_tools == "all" else _read_names(options.approve_tools),
        once_tools=_read_names(options.once_tools),
        synthesis=options.synthesis,
        require=options.require,
    )


def build_writer(
    model: str | None, without: Sequence[str] | None
) -> RuleWriter | ModelWriter | SelectiveWriter | None:
    """Builds what derives the checks of a run; None for the rules.

    Args:
        model: The specification of the model that derives them; None for the rules.
        without: The names of the checks that are left out.

    Raises:
        ModelSpecError: The specification names no model.
        ModelSetupError: The model cannot be loaded.
    """
    writer = None if model is None else ModelWriter(load_model(model))
    return SelectiveWriter(writer or RuleWriter(), tuple(without)) if without else writer


def check_names(names: Sequence[str] | None) -> None:
    """Checks the names of ``--without-check``.

    Raises:
        ConfigurationError: One names no check.
    """
    for name in names or ():
        if name not in CHECKS:
            raise ConfigurationError(
                f"--without-check {name!r} names no check; `orchestrator checks TASK` prints their names"
            )


def _read_names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def read_policy_option(options: RunOptions) -> RetryPolicy:
    """Returns the retry policy of a run.

    Raises:
        ConfigurationError: The file has no retry policy, or contradicts the number of retries.
    """
    if options.retry_policy is None:
        return merge_max_retries(RetryPolicy(), options.max_retries)
    try:
        policy = RetryPolicy.from_yaml(options.retry_policy)
    except ConfigurationError as error:
        raise ConfigurationError(f"--retry-policy: {str(error).removeprefix('the retry policy: ')}") from None
    if options.max_retries is not None and "max_retries" in policy.model_fields_set:
        raise ConfigurationError(
            "--max-retries and the retry policy contradict each other; state the number in one of them"
        )
    return merge_max_retries(policy, options.max_retries)


def _load_sized(
    spec: str | None, tokens: int | None, call_timeout: float | None
) -> str | BaseChatModel | None:
    """Loads a model with a context of this many tokens; returns the specification if none is given."""
    if spec is None or tokens is None:
        return spec
    kind = spec.partition(":")[0].strip()
    if kind not in _SIZED:
        raise ConfigurationError(
            f"--context-size cannot be set for {spec!r}, whose server decides it; leave it out, "
            "or use local, gguf:PATH or ollama:NAME"
        )
    name = "num_ctx" if kind == "ollama" else "n_ctx"
    model = load_model(spec, **{name: tokens}, **timeout_option(spec, call_timeout))
    # The server of the embedded model has the size from now on; the planner adapts to the name "local".
    return spec if kind == "local" else model
