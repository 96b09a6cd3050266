"""LangGraphOrchestrator: plans a task, executes it step by step and judges every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Self, TypedDict, Unpack

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from agents.calls.conversation import Model
from agents.roles import build_roles
from evaluation import EvaluationContract, TaskCase
from evaluation.checks.custom import CustomCheck
from evaluation.plugins import AnyJudge, JudgeFunction
from orchestrator.errors import ConfigurationError
from orchestrator.graph.agent_checks import check_agents, check_hooks
from orchestrator.graph.build import Agents, compile_graph
from orchestrator.graph.drawing import DrawMethods
from orchestrator.judging.contracts import ContractSource
from orchestrator.judging.options import EvaluationOptions, check_evaluation, read_judge
from orchestrator.judging.output import read_output_rules
from orchestrator.judging.tools.names import read_planned_tools
from orchestrator.persistence.store import Store, read_saver
from orchestrator.retry.policy import RetryPolicy, merge_max_retries
from orchestrator.runs.launch import Launcher
from orchestrator.runs.run_methods import RunMethods
from orchestrator.runs.runner import Runner
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.context import utc_now
from orchestrator.runtime.events import Hook
from orchestrator.runtime.protocols import Compressor, Executor, Monitor, Planner
from orchestrator.settings import Settings
from orchestrator.state.records import Requirement
from orchestrator.state.supervision_records import SupervisionMode
from orchestrator.supervision.limits import SupervisionPolicy
from orchestrator.supervision.modes import ModeFunction
from orchestrator.supervision.protocols import Supervisor
from orchestrator.task_contracts.writers import ContractWriter


class OrchestratorOptions(TypedDict, total=False):
    """The keyword arguments of ``LangGraphOrchestrator`` that ``from_model`` passes on."""

    compressor: Compressor | None
    max_retries: int | None
    retry_policy: RetryPolicy | None
    models: Mapping[str, BaseChatModel] | None
    budget: Budget | None
    call_timeout: float | None
    step_timeout: float | None
    max_plan_steps: int
    contract_writer: ContractWriter | None
    require: Requirement | None
    judge: AnyJudge | JudgeFunction | None
    evaluation: EvaluationOptions | None
    checks: Sequence[CustomCheck]
    supervision: SupervisionMode | ModeFunction
    supervisor: Supervisor | Model | None
    supervision_policy: SupervisionPolicy | None
    approve_tools: Sequence[str] | Literal["all"]
    once_tools: Sequence[str]
    max_parallel_steps: int
    synthesis: bool | None
    output_contract: EvaluationContract | None
    output_type: type[BaseModel] | None
    clock: Callable[[], datetime]
    checkpointer: BaseCheckpointSaver[str] | Store | None
    hooks: Sequence[Hook]


class LangGraphOrchestrator(RunMethods, DrawMethods):
    """Plans a task, executes it step by step and judges every step.

    Args:
        planner: Breaks the task into steps.
        executor: Executes one step.
        monitor: Judges one result.
        compressor: Shortens the context before a step; None keeps it as it is.
        max_retries: Executions of a step after its first, before the run fails. Default:
            ``retry_policy.max_retries``, which is 2.
        retry_policy: What happens after a step was not accepted.
        models: Chat models by name, for rules of ``retry_policy`` that escalate to another model.
        budget: Upper bounds of time, tokens, model calls and cost of a run.
        call_timeout: Maximum seconds of one call of an agent; None is no bound.
        step_timeout: Maximum seconds of a step with all its attempts and their judging; None is no bound.
        max_plan_steps: Maximum number of steps of a plan; a longer plan is refused.
        contract: Contract of every step, or a function of a step's text and index, from 0, that returns it.
            Default: the contracts that the planner declared. Without any, the monitor alone judges whether
            the objective is met. "from_task" derives checks: of the final output from the task, and of
            each step from its text; the monitor judges the objective besides. A ``TaskCase`` states the
            contract of the final output of its task. With a contract of your own, a judge is asked only for
            its ``subjective_criteria``; with "from_task" or a ``TaskCase``, always for the objective.
        contract_writer: Derives the checks for "from_task". Default: rules, without a model.
        require: "checked" or "judged": a run whose output rests on less fails with the kind "unverified".
            A person's approval satisfies both. Default: any success is accepted.
        judge: Scores what no program can, in place of the monitor: an object with ``judge`` or ``ajudge``,
            or a function, which may be asynchronous.
        evaluation: What the evaluation of each step uses besides: a baseline, an embedder, prices, functions.
        checks: Functions with ``@check`` and ``CommandCheck`` objects that the final output has to pass,
            besides its contract. Contracts of steps can name them, too.
        supervision: "none", "llm" or "human", or a function of a step's text and index that returns it.
        supervisor: Decides on steps that are not clean: a chat model, or an object with ``reconcile`` and
            ``supervise``. Default: the monitor's model.
        supervision_policy: The bounds of supervision, and of a person's answer.
        approve_tools: Names of the executor's tools, or "all": a person approves each call before it runs.
        once_tools: Names of tools that change something: within a run, the same call gets the answer that it
            got before. If that call may have acted without an answer, a person decides, or it does not run.
            In retries also tools whose MCP annotations have ``idempotentHint: False``.
        max_parallel_steps: Maximum number of steps that run at once, if the plan says which are independent.
        synthesis: Whether the executor writes one answer from the results of several steps; if False, the
            last result is the answer. Default: True if the executor has a method ``synthesize``.
        output_contract: Contract of the final output. Default: the objective is the task.
        output_type: A pydantic model. The final output is its JSON text: the executor is told the schema, the
            output is validated, and the validation error is the reason of a retry.
        clock: Returns the time.
        checkpointer: A store of ``orchestrator.persistence.open_store`` or any LangGraph saver. It keeps
            every run, for ``resume`` and ``fork``.
        hooks: Functions that are called with every event. An error that one raises is logged.

    Attributes:
        graph: The compiled LangGraph, for LangGraph Studio, drawings and your own streams.

    Raises:
        ConfigurationError: An argument is not accepted; the message says what is.
    """

    def __init__(
        self,
        planner: Planner,
        executor: Executor,
        monitor: Monitor,
        compressor: Compressor | None = None,
        max_retries: int | None = None,
        *,
        retry_policy: RetryPolicy | None = None,
        models: Mapping[str, BaseChatModel] | None = None,
        budget: Budget | None = None,
        call_timeout: float | None = None,
        step_timeout: float | None = None,
        max_plan_steps: int = 1000,
        contract: ContractSource = None,
        contract_writer: ContractWriter | None = None,
        require: Requirement | None = None,
        judge: AnyJudge | JudgeFunction | None = None,
        evaluation: EvaluationOptions | None = None,
        checks: Sequence[CustomCheck] = (),
        supervision: SupervisionMode | ModeFunction = "none",
        supervisor: Supervisor | Model | None = None,
        supervision_policy: SupervisionPolicy | None = None,
        approve_tools: Sequence[str] | Literal["all"] = (),
        once_tools: Sequence[str] = (),
        max_parallel_steps: int = 8,
        synthesis: bool | None = None,
        output_contract: EvaluationContract | None = None,
        output_type: type[BaseModel] | None = None,
        clock: Callable[[], datetime] = utc_now,
        checkpointer: BaseCheckpointSaver[str] | Store | None = None,
        hooks: Sequence[Hook] = (),
    ) -> None:
        check_agents(planner, executor, monitor, compressor)
        check_hooks(hooks)
        check_evaluation(evaluation)
        saver = read_saver(checkpointer)
        self.settings = Settings(
            retry_policy=merge_max_retries(retry_policy, max_retries),
            max_plan_steps=max_plan_steps,
            call_timeout=call_timeout,
            step_timeout=step_timeout,
            budget=Budget() if budget is None else budget,
            supervision=supervision,
            supervision_policy=SupervisionPolicy() if supervision_policy is None else supervision_policy,
            approve_tools=approve_tools,
            once_tools=once_tools,
            max_parallel_steps=max_parallel_steps,
            require=require,
            synthesis=synthesis,
            # Only a checkpointer keeps the question while a person thinks about it.
            human=saver is not None,
            clock=clock,
        )
        options = (EvaluationOptions() if evaluation is None else evaluation).with_checks(checks)
        output = read_output_rules(output_contract, output_type, synthesis=synthesis, checks=checks)
        agents = Agents(
            planner,
            executor,
            monitor,
            compressor,
            read_judge(judge),
            supervisor,
            options.with_checks(output.type_checks),
            contract_writer,
            models or {},
        )
        self.graph = compile_graph(agents, contract, self.settings, saver, output)
        case = contract if isinstance(contract, TaskCase) else None
        launcher = Launcher(self.graph, self.settings, read_planned_tools(executor, contract), case)
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
            contract: Contract of every step. Default: checks are derived from the task and the steps; None
                derives none.
            options: Any other keyword argument of the constructor.

        Raises:
            ModelSpecError: A specification names no model.
            ModelSetupError: A model's package, weights or key are missing; the message says how to get them.
            ConfigurationError: An argument is not accepted; the message says what is.
        """
        if supervisor_model is not None and options.get("supervisor") is not None:
            raise ConfigurationError(
                "supervisor_model and supervisor contradict each other; give one of them"
            )
        roles = build_roles(
            model,
            planner_model=planner_model,
            executor_model=executor_model,
            monitor_model=monitor_model,
            supervisor_model=supervisor_model,
            tools=tools,
        )
        agents = (roles.planner, roles.executor, roles.monitor)
        passed: OrchestratorOptions = {"supervisor": roles.supervisor_model, **options}
        return cls(*agents, contract=contract, **passed)
