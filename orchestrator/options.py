"""The keyword arguments of an orchestrator: their types and what they mean, stated once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from agents.loop.acting_tools import ActingToolsOption
from agents.models.model_call import Model
from evaluation.checks.custom import CustomCheck
from evaluation.plugins import AnyJudge, JudgeFunction
from orchestrator.errors import ConfigurationError
from orchestrator.judging.evaluator import EvaluationOptions
from orchestrator.persistence.store import Store
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.events import Hook
from orchestrator.runtime.settings_model import Budget
from orchestrator.state.records import Grounding, PlanningMode, Requirement, SupervisionMode, VerifierName
from orchestrator.supervision.modes import ModeFunction, SupervisionPolicy, Supervisor
from orchestrator.task_contracts.source import ContractWriter, StepContract


class OrchestratorOptions(TypedDict, total=False):
    """The keyword arguments of ``LangGraphOrchestrator``; ``Settings`` has their defaults."""

    retry_policy: RetryPolicy | None
    """What happens after a step was not accepted."""
    models: Mapping[str, BaseChatModel] | None
    """Chat models by name, for rules of ``retry_policy`` that escalate to another model."""
    budget: Budget | None
    """Upper bounds of time, tokens, model calls and cost of a run."""
    call_timeout: float | None
    """Maximum seconds of one call of an agent; None is no bound."""
    step_timeout: float | None
    """Maximum seconds of a step with all its attempts and their judging; None is no bound."""
    max_plan_steps: int
    """Maximum number of steps of a plan; a longer plan is refused."""
    planning: PlanningMode
    """When the planner is asked: "always" first; "auto" only if all attempts at the whole task failed by more
    than their form, or if the executor has tools; "never". Default: "always"; of ``from_model``: "auto"."""
    grounding: Grounding
    """"facts" compares an output with the calls of the run: an action that is claimed and was not done, or a
    fact that a tool gave otherwise, goes back to the executor, and fails the attempt if it stays. "off"
    compares nothing."""
    verifier: VerifierName | None
    """Verifies a final output that no check proves: "agreement" by five further answers of the executor's
    model to the whole task, "judge" by the verdict of the monitor. Its word counts as "judged" if
    ``orchestrator doctor --verifier`` has shown that it is right often enough. Default: the monitor's word
    counts if ``doctor --judge`` trusts it."""
    contract_writer: ContractWriter | None
    """Derives the checks for "from_task". Default: rules, without a model."""
    require: Requirement | None
    """"checked" or "judged": a run whose output rests on less fails with the kind "unverified". A person's
    approval satisfies both. Default: any success is accepted."""
    judge: AnyJudge | JudgeFunction | None
    """Scores what no program can, in place of the monitor: an object with ``judge`` or ``ajudge``, or a
    function, which may be asynchronous."""
    evaluation: EvaluationOptions | None
    """What the evaluation of each step uses besides: prices, recognizers, checks that contracts name."""
    checks: Sequence[CustomCheck]
    """Functions with ``@check`` and ``CommandCheck`` objects that the final output has to pass, besides its
    contract. Contracts of steps can name them, too."""
    supervision: SupervisionMode | ModeFunction
    """"none", "llm" or "human", or a function of a step's text and index that returns it."""
    supervisor: Supervisor | Model | None
    """Decides on steps that are not clean: a chat model, or an object with ``reconcile`` and ``supervise``.
    Default: the monitor's model."""
    supervision_policy: SupervisionPolicy | None
    """The bounds of supervision, and of a person's answer."""
    acting_tools: ActingToolsOption
    """Names of the executor's tools that change something, or an ``ActingTool`` by name: whether a person
    approves each call, what happens to an equal call in another attempt, when an answer means that the call
    acted, and what reads back what it did. Default: the annotations of MCP decide, then the names of the
    tools; an empty list turns guesses by names off."""
    executor_context: object
    """The runtime context of an executor that is a compiled LangGraph with a context schema."""
    max_parallel_steps: int
    """Maximum number of steps that run at once, if the plan says which are independent."""
    synthesis: bool | None
    """Whether the executor writes one answer from the results of several steps; if False, the last result is
    the answer. Default: True if the executor has a method ``synthesize``."""
    step_contract: StepContract
    """Contract of each step, or a function of a step's text and index, from 0, that returns it; None leaves
    it to the planner. It holds for the calls of one execution."""
    output_type: type[BaseModel] | None
    """A pydantic model. The final output is its JSON text: the executor is told the schema, the output is
    validated, and the validation error is the reason of a retry."""
    clock: Callable[[], datetime]
    """Returns the time."""
    checkpointer: BaseCheckpointSaver[str] | Store | None
    """A store of ``orchestrator.persistence.open_store`` or any LangGraph saver. It keeps every run, for
    ``resume`` and ``fork``."""
    hooks: Sequence[Hook]
    """Functions that are called with every event. An error that one raises is logged."""


def read_options(options: OrchestratorOptions) -> OrchestratorOptions:
    """Returns the keyword arguments of an orchestrator.

    Raises:
        ConfigurationError: One has an unknown name.
    """
    known = ["compressor", "max_retries", "contract", *OrchestratorOptions.__annotations__]
    if unknown := [name for name in options if name not in known]:
        raise ConfigurationError(
            f"{unknown[0]} is no argument of LangGraphOrchestrator; give any of {', '.join(known)}"
        )
    return options
