"""Settings of an orchestrator and arguments of its runs, which are checked before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self, cast

from langchain_core.runnables import RunnableConfig
from pydantic import Field, InstanceOf, SkipValidation

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime import settings_model
from orchestrator.runtime.run_context import RunContext, utc_now
from orchestrator.runtime.settings_model import Budget
from orchestrator.state.plain_values import format_repr, read_text
from orchestrator.state.records import Grounding, PlanningMode, Requirement, SupervisionMode, VerifierName
from orchestrator.supervision.modes import ModeFunction, SupervisionPolicy


class Settings(settings_model.SettingsModel):
    """Settings of every run of an orchestrator.

    ``OrchestratorOptions`` says what each means; this model has the defaults and the accepted values.

    Attributes:
        human: Whether the run can wait for a person: there is a checkpointer that keeps the question.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_plan_steps: settings_model.PositiveCount = 1000
    call_timeout: settings_model.Seconds = None
    step_timeout: settings_model.Seconds = None
    retry_policy: InstanceOf[RetryPolicy] = Field(default_factory=RetryPolicy)
    budget: InstanceOf[Budget] = Field(default_factory=Budget)
    # ``Modes`` checks it, since the accepted modes depend on the agents and the checkpointer.
    supervision: SkipValidation[SupervisionMode | ModeFunction] = "none"
    supervision_policy: InstanceOf[SupervisionPolicy] = Field(default_factory=SupervisionPolicy)
    planning: PlanningMode = "always"
    grounding: Grounding = "facts"
    verifier: VerifierName | None = None
    max_parallel_steps: settings_model.PositiveCount = 8
    synthesis: Annotated[bool | None, Field(description="True, False, or None")] = None
    require: Requirement | None = None
    human: settings_model.Flag = False
    clock: Annotated[Callable[[], datetime], Field(description="a function that returns the time")] = utc_now

    @classmethod
    def from_options(cls, options: Mapping[str, Any], max_retries: int | None, *, human: bool) -> Self:
        """Returns the settings of an orchestrator; an option that is None has its default.

        Raises:
            ConfigurationError: A value is not accepted.
        """
        given = {name: value for name, value in options.items() if name in cls.model_fields}
        values = {name: value for name, value in given.items() if value is not None}
        settings = cls(**{**values, "human": human})
        policy = settings.retry_policy.with_max_retries(max_retries)
        return settings.model_copy(update={"retry_policy": policy})

    def resolve_planning(self, *, has_tools: bool) -> Self:
        """Returns the settings for an executor: with tools, "auto" asks the planner first.

        A failed attempt at the whole task may have acted. Without tools, it costs less than a plan, and the
        planner breaks the task into steps if all attempts are used up (Prasad et al. 2024, ADaPT).
        """
        planning = "always" if self.planning == "auto" and has_tools else self.planning
        replans = {"always": self.retry_policy.max_replans, "never": 0}.get(
            planning, max(1, self.retry_policy.max_replans)
        )
        policy = self.retry_policy.model_copy(update={"max_replans": replans})
        return self.model_copy(update={"planning": planning, "retry_policy": policy})

    @property
    def max_retries(self) -> int:
        """Executions of a step after its first."""
        return self.retry_policy.max_retries

    def now(self) -> datetime:
        """Returns the clock's time in UTC, because local hours repeat when summer time ends."""
        return self.clock().astimezone(UTC)

    @property
    def default_mode(self) -> SupervisionMode:
        """The mode of every step to which no function gives one."""
        return "none" if callable(self.supervision) else self.supervision

    @property
    def can_ask_human(self) -> bool:
        """Whether a person can be asked."""
        return self.human and self.supervision_policy.human

    @property
    def for_answer(self) -> Settings:
        """The settings of the synthesis: it is neither supervised nor planned anew."""
        policy = self.retry_policy.model_copy(update={"max_replans": 0})
        return self.model_copy(update={"supervision": "none", "retry_policy": policy})

    def new_context(self, thread_id: str, *, interruptible: bool = True) -> RunContext:
        """Returns the context of a run that begins now."""
        return RunContext(
            thread_id=thread_id,
            budget=self.budget,
            transport=self.retry_policy.transport,
            call_timeout=self.call_timeout,
            step_timeout=self.step_timeout,
            interruptible=interruptible,
            now=self.now,
        )


def check_task(task: object) -> str:
    """Returns the task as plain text.

    Raises:
        ConfigurationError: The task is not text, nothing but white space, or has NUL or lone surrogates.
    """
    text = read_text(task)
    if text is None or not text.strip():
        raise ConfigurationError(f"task is {format_repr(task, 80)}; give a text that says what to do")
    if text != task or "\0" in text:  # argv has a surrogate for each byte that is not UTF-8
        raise ConfigurationError(
            f"task is {format_repr(task, 80)}; give a text in UTF-8, without NUL and surrogates"
        )
    return text


def check_thread_id(thread_id: object) -> None:
    """Checks the name of a thread; None is accepted.

    Raises:
        ConfigurationError: It is not text, it is empty, or a store cannot hold it.
    """
    if thread_id is None:
        return
    # SQLite cuts a text at NUL and refuses lone surrogates; PostgreSQL refuses both.
    text = read_text(thread_id)
    if text is None or text != thread_id or not text.strip() or "\0" in text:
        raise ConfigurationError(
            f"thread_id is {format_repr(thread_id, 80)}; give a text that is not blank, "
            "without NUL and surrogates"
        )


def check_config(config: object, thread_id: str | None) -> RunnableConfig:
    """Returns LangChain's config, which names the thread if the argument or the config does.

    Raises:
        ConfigurationError: It is not a dict, it names a checkpoint, or a thread is not accepted.
    """
    if config is not None and not isinstance(config, Mapping):
        raise ConfigurationError(
            f"config is {format_repr(config, 80)}; give a dict of LangChain's keys, such as "
            "{'callbacks': [handler], 'tags': ['nightly']}"
        )
    given = config or {}
    configurable = given.get("configurable") or {}
    if names := sorted({"checkpoint_id", "checkpoint_ns"} & set(configurable)):
        raise ConfigurationError(f"config['configurable'] names {names[0]}; use fork to go back in a run")
    configured = configurable.get("thread_id")
    check_thread_id(thread_id)
    check_thread_id(configured)
    if thread_id and configured and thread_id != configured:
        raise ConfigurationError(
            f"thread_id is {format_repr(thread_id, 80)} and the config names "
            f"{format_repr(configured, 80)}; give one of them"
        )
    named = {"thread_id": thread_id} if thread_id else {}
    return cast("RunnableConfig", {**given, "configurable": {**configurable, **named}})
