"""LangGraphOrchestrator: plans a task, executes it step by step and judges every step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, Self, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from agents.execution import ExecutionAgent
from agents.loop.acting_tools import ActingToolsOption
from agents.models.model_call import Model
from agents.models.spec import load_model, timeout_option
from agents.monitoring import MonitoringAgent
from agents.planning import PlanningAgent
from agents.reply_types import DEFAULT_MAX_STEPS
from evaluation import TaskCase
from evaluation.checks.contract_checks import FunctionCheck
from evaluation.plugins import AnyJudge, JudgeFunction, PluginOptions
from orchestrator.errors import ConfigurationError
from orchestrator.events import Hook, check_hooks
from orchestrator.graph.build import Agents, choose_synthesis, compile_graph
from orchestrator.judging.contract_options import (
    ContractSource,
    StepContract,
    check_output_type,
    list_type_checks,
    read_contracts,
    read_task_contracts,
)
from orchestrator.judging.evaluator import read_plugins
from orchestrator.judging.executor_tools import read_executor_tools
from orchestrator.persistence.store import Store, read_saver
from orchestrator.runs.launch import Graph, Launcher
from orchestrator.runs.resume import SAFEGUARDS, describe_safeguards
from orchestrator.runs.run_loop import Runner
from orchestrator.runs.run_methods import RunMethods
from orchestrator.runtime.agent_methods import AnyGraph, Compressor, Executor, Monitor, Planner, read_executor
from orchestrator.settings import RunSettings, Settings
from orchestrator.supervision.phases import Supervisor

_SMALL_PLAN: Final = 3
"""Maximum number of steps for the embedded model, which repeats itself in longer plans."""


class OrchestratorOptions(RunSettings, total=False):
    """The keyword arguments of ``LangGraphOrchestrator``: the fields of ``RunSettings``, and these."""

    models: Mapping[str, BaseChatModel] | None
    """Chat models by name, for rules of ``retry_policy`` that escalate to another model."""
    judge: AnyJudge | JudgeFunction | None
    """Scores what no program can, in place of the monitor: an object with ``judge`` or ``ajudge``, or a
    function, which may be asynchronous."""
    evaluation: PluginOptions | None
    """What the evaluation of each step uses besides: prices, recognizers, checks that contracts name."""
    checks: Sequence[FunctionCheck]
    """Functions with ``@check`` that the final output has to pass, besides its
    contract. Contracts of steps can name them, too."""
    supervisor: Supervisor | Model | None
    """Decides on steps that are not clean: a chat model, or an object with ``reconcile`` and ``supervise``.
    Default: the monitor's model."""
    acting_tools: ActingToolsOption
    """Names of the executor's tools that change something, or an ``ActingTool`` by name: whether a person
    approves each call, what happens to an equal call in another attempt, when an answer means that the call
    acted, and what reads back what it did. Default: the annotations of MCP decide, then the names of the
    tools; an empty list turns guesses by names off."""
    executor_context: object
    """The runtime context of an executor that is a compiled LangGraph with a context schema."""
    step_contract: StepContract
    """Contract of each step, or a function of a step's text and index, from 0, that returns it or
    None. It holds for the calls of one execution."""
    output_type: type[BaseModel] | None
    """A pydantic model. The final output is its JSON text: the executor is told the schema, the output is
    validated, and the validation error is the reason of a retry."""
    checkpointer: BaseCheckpointSaver[str] | Store | None
    """A store of ``orchestrator.persistence.open_store`` or any LangGraph saver. It keeps every run, for
    ``resume`` and ``fork``."""
    hooks: Sequence[Hook]
    """Functions that are called with every event. An error that one raises is logged."""


class LangGraphOrchestrator(RunMethods):
    """Plans a task, executes it step by step and judges every step.

    Args:
        planner: Breaks the task into steps.
        executor: Executes one step: an object with ``execute_step``, or a compiled LangGraph whose state has
            ``messages``, such as the one that ``create_agent`` builds.
        monitor: Judges one result.
        compressor: Shortens the context before a step; None keeps it as it is.
        max_retries: Executions of a step after its first, before the run fails. Default:
            ``retry_policy.max_retries``, which is 2.
        contract: Contract of the run: what it says of the output holds for the final output; what it says of
            tools, effects and budgets, for all calls of the run. Without any, the monitor alone judges
            whether the objective is met. "from_task" derives checks: of the final output from the task, and
            of each step from its text; the monitor judges the objective besides. A ``TaskCase`` states the
            contract of its task. With a contract of your own, a judge is asked about the output only for
            its ``subjective_criteria``; with "from_task" or a ``TaskCase``, always for the objective.
        options: Further keyword arguments; see ``OrchestratorOptions``.

    Attributes:
        graph: The compiled LangGraph, for LangGraph Studio, drawings and your own streams.

    Raises:
        ConfigurationError: An argument is not accepted; the message names the accepted ones.
    """

    graph: Graph

    def __init__(
        self,
        planner: Planner,
        executor: Executor | AnyGraph,
        monitor: Monitor,
        compressor: Compressor | None = None,
        max_retries: int | None = None,
        *,
        contract: ContractSource = None,
        **options: Unpack[OrchestratorOptions],
    ) -> None:
        check_names(options)
        executor = read_executor(executor, options.get("executor_context"))
        tools = read_executor_tools(executor, options.get("acting_tools"))
        hooks = options.get("hooks", ())
        check_hooks(hooks)
        saver = read_saver(options.get("checkpointer"))
        # Only a checkpointer keeps the question while a person thinks about it.
        settings = Settings.read(options, max_retries, human=saver is not None)
        self.settings = settings.resolve_planning(has_tools=tools.known != ())
        output_type, checks = options.get("output_type"), options.get("checks", ())
        check_output_type(output_type, synthesis=self.settings.options["synthesis"])
        type_checks = list_type_checks(output_type)
        plugins = read_plugins(options, type_checks)
        agents = Agents(
            planner,
            executor,
            monitor,
            compressor,
            options.get("supervisor"),
            plugins,
            options.get("models") or {},
            tools,
        )
        contracts = read_contracts(contract, options, tools, plugins.named_checks, [*checks, *type_checks])
        kind = "an agent with EffectsMiddleware" if tools.kind == "agent" else None
        named = {**options, "contract": contract, "executor": kind}
        safeguards = describe_safeguards(named, self.settings)
        derived = read_task_contracts(contract, derives_steps=options.get("step_contract") is None)
        synthesis = choose_synthesis(executor, contracts, self.settings, is_derived=derived is not None)
        contracts = replace(contracts, synthesis=synthesis)
        graph, reporter = compile_graph(agents, contracts, derived, self.settings, saver)
        self.graph = graph.with_config(metadata={SAFEGUARDS: json.dumps(safeguards)})
        case = contract if isinstance(contract, TaskCase) else None
        launcher = Launcher(
            self.graph, self.settings, tools, case, safeguards, reporter, answers=synthesis != "never"
        )
        super().__init__(launcher, Runner(launcher, saver, tuple(hooks)))

    @classmethod
    def from_model(
        cls,
        model: str | Model = "local",
        *,
        tools: Sequence[BaseTool | Callable[..., object]] | None = None,
        planner_model: str | Model | None = None,
        executor_model: str | Model | None = None,
        monitor_model: str | Model | None = None,
        supervisor_model: str | Model | None = None,
        executor: Executor | AnyGraph | None = None,
        compressor: Compressor | None = None,
        max_retries: int | None = None,
        contract: ContractSource = "from_task",
        **options: Unpack[OrchestratorOptions],
    ) -> Self:
        """Build an orchestrator whose agents share one chat model, or have one model each.

        Args:
            model: A specification that ``agents.load_model`` reads, such as "ollama:qwen3", or a LangChain
                chat model.
            tools: Tools of the executor: LangChain tools or functions.
            planner_model: Model of the planner. Default: ``model``.
            executor_model: Model of the executor. Default: ``model``.
            monitor_model: Model of the monitor. Default: ``model``.
            supervisor_model: Model of the supervisor. Default: the monitor's.
            executor: An executor of your own, in place of one with ``tools`` and ``executor_model``.
            compressor: As of the constructor.
            max_retries: As of the constructor.
            contract: Contract of the run. Default: checks are derived from the task and the steps; None
                derives none.
            options: Any other keyword argument of the constructor.

        Raises:
            ModelSpecError: A specification names no model.
            ModelSetupError: A model's package, weights or key are missing; the message says how to get them.
            ConfigurationError: An argument is not accepted; the message names the accepted ones.
        """
        if executor is not None and (tools is not None or executor_model is not None):
            raise ConfigurationError(
                "executor contradicts tools and executor_model, which build one; give it alone"
            )

        @cache
        def load(spec: str) -> Model:
            # No client gives up before the timeout of a call.
            return load_model(spec, **timeout_option(spec, options.get("call_timeout")))

        def read_model(own: str | Model | None) -> Model:
            chosen = model if own is None else own
            return load(chosen) if isinstance(chosen, str) else chosen

        is_small = (model if planner_model is None else planner_model) == "local"
        max_steps = _SMALL_PLAN if is_small else DEFAULT_MAX_STEPS
        planner = PlanningAgent(read_model(planner_model), max_steps=max_steps)
        own = executor or ExecutionAgent(read_model(executor_model), tools)
        monitor = MonitoringAgent(read_model(monitor_model))
        supervisor = None if supervisor_model is None else read_model(supervisor_model)
        passed: OrchestratorOptions = {"supervisor": supervisor, "planning": "auto", **options}
        return cls(planner, own, monitor, compressor, max_retries, contract=contract, **passed)


def check_names(options: Mapping[str, object]) -> None:
    """Checks the names of the keyword arguments of an orchestrator.

    Raises:
        ConfigurationError: One has an unknown name.
    """
    known = ["compressor", "max_retries", "contract", *OrchestratorOptions.__annotations__]
    if unknown := [name for name in options if name not in known]:
        raise ConfigurationError(
            f"{unknown[0]} is no argument of LangGraphOrchestrator; give any of {', '.join(known)}"
        )
