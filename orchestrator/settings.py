"""Settings of an orchestrator and arguments of its runs, which are checked before anything runs."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias, Unpack, cast, get_args, get_type_hints
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from pydantic import Field, InstanceOf, SkipValidation, create_model
from typing_extensions import TypedDict

from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime import budget
from orchestrator.runtime.bounded_call import RunContext
from orchestrator.runtime.budget import Budget, Flag, PositiveCount, SettingsModel
from orchestrator.state.plain_values import format_repr, format_text
from orchestrator.state.records import Grounding, PlanningMode, Requirement, SupervisionMode

ModeFunction: TypeAlias = Callable[[str, int], SupervisionMode]
MODES: Final[tuple[SupervisionMode, ...]] = get_args(SupervisionMode)


class SupervisionPolicy(SettingsModel):
    """Limits how often a step is corrected, and says how a person is asked.

    Attributes:
        max_reorient_attempts: How often the supervisor may have one step redone with a correction.
        max_assumptions: A commitment with more assumptions than this triggers supervision; None is no bound.
        human: Whether a person can be asked; needs a checkpointer. If nobody can be asked, a step about
            which the supervisor wants to ask fails with the question as its reason.

    Raises:
        ConfigurationError: A value is not accepted.
    """

    max_reorient_attempts: PositiveCount = 2
    max_assumptions: Annotated[
        int | None, Field(ge=0, description="a whole number of at least 0, or None for no bound")
    ] = None
    human: Flag = True


@dataclass(frozen=True, slots=True)
class Modes:
    """The supervision modes of a run.

    Attributes:
        source: One mode for all steps, or a function of a step's text and index.
        possible: The modes that somebody can carry out, of which a step of a plan may name one.
    """

    source: SupervisionMode | ModeFunction
    possible: frozenset[SupervisionMode]

    def __post_init__(self) -> None:
        """Checks a mode that is known before the plan.

        Raises:
            ConfigurationError: The mode is unknown, or nobody can carry it out.
        """
        if not callable(self.source):
            self._check_mode(self.source, "supervision")

    def plan_modes(
        self, steps: Sequence[str], declared: Sequence[SupervisionMode | None] | None, first: int
    ) -> list[SupervisionMode | None] | None:
        """Returns the mode of each planned step, None for the default mode; None if all steps have that.

        Args:
            steps: Texts of the steps.
            declared: The mode that the plan gives each step. It comes before ``source``.
            first: Index of the first step.

        Raises:
            ConfigurationError: The function raised, or it or the plan gave a mode that nobody can carry out.
        """
        if declared is None and not callable(self.source):
            return None
        # All steps at once: an invalid mode ends the run before its first step, not halfway.
        own = declared or [None] * len(steps)
        return [
            self._choose_mode(step, index, mode)
            for index, (step, mode) in enumerate(zip(steps, own, strict=True), first)
        ]

    def _choose_mode(self, step: str, index: int, declared: SupervisionMode | None) -> SupervisionMode | None:
        place, mode = f"step {index + 1}: supervision", declared
        if declared is None and callable(self.source):
            try:
                mode = self.source(step, index)
            except (Exception, SystemExit) as error:
                # The function is user code, which may raise anything.
                message = f"{place} raised {type(error).__name__}: {format_text(error)}"
                raise ConfigurationError(message) from error
        return declared if mode is None and not callable(self.source) else self._check_mode(mode, place)

    def _check_mode(self, value: object, place: str) -> SupervisionMode:
        mode = next((known for known in self.possible if known == value), None)
        if mode is None:
            accepted = ", ".join(repr(known) for known in MODES if known in self.possible)
            raise ConfigurationError(
                f"{place} is {format_repr(value, 80)}; give {accepted} ('human' needs a checkpointer such as "
                "InMemorySaver(), 'llm' agents with a model, and the mode of a single step supervision= or "
                "supervisor= of the orchestrator)"
            )
        return mode


class RunSettings(TypedDict, total=False):
    """The options of every run of an orchestrator, each with its default; None stands for the default."""

    retry_policy: Annotated[InstanceOf[RetryPolicy], Field(default_factory=RetryPolicy)]
    """What happens after a step was not accepted."""
    budget: Annotated[InstanceOf[Budget], Field(default_factory=Budget)]
    """Upper bounds of time, tokens, model calls and cost of a run."""
    call_timeout: Annotated[budget.Seconds, Field(default=None)]
    """Maximum time of one call of an agent, in seconds. Default: no bound."""
    step_timeout: Annotated[budget.Seconds, Field(default=None)]
    """Maximum time of a step with all its attempts and their judging, in seconds. Default: no bound."""
    max_plan_steps: Annotated[budget.PositiveCount, Field(default=1000)]
    """Maximum number of steps of a plan; a longer plan is refused."""
    planning: Annotated[PlanningMode, Field(default="always")]
    """When the planner is asked: "always" first; "auto" only if all attempts at the whole task failed by more
    than their form, or if the executor has tools; "never". Default: "always"; of ``from_model`` and the
    command line: "auto"."""
    grounding: Annotated[Grounding, Field(default="facts")]
    """"facts" compares an output with the calls of the run: an action that is claimed and was not done, or a
    fact that a tool gave otherwise, goes back to the executor, and fails the attempt if it stays. "off"
    compares nothing."""
    require: Annotated[Requirement | None, Field(default=None)]
    """"checked", "judged" or "approved" by a person: a run whose output rests on less fails with the kind
    "unverified". A person's approval satisfies all. Default: any success is accepted."""
    supervision: Annotated[SkipValidation[SupervisionMode | ModeFunction], Field(default="none")]
    """"none", "llm" or "human", or a function of a step's text and index that returns it."""
    supervision_policy: Annotated[InstanceOf[SupervisionPolicy], Field(default_factory=SupervisionPolicy)]
    """The bounds of supervision, and of a person's answer."""
    synthesis: Annotated[bool | None, Field(default=None, description="True, False, or None")]
    """Whether the executor writes one answer from the results of several steps; if False, the last result is
    the answer. Default: True if the executor has a method ``synthesize``."""


def read_sentences(model: type) -> dict[str, str]:
    """Reads the sentence below each option of a class from its source."""
    _, *body = cast("ast.ClassDef", ast.parse(inspect.getsource(model)).body[0]).body
    pairs = cast("list[tuple[ast.AnnAssign, ast.Expr]]", zip(body[::2], body[1::2], strict=True))
    return {
        ast.unparse(field.target): " ".join(ast.literal_eval(text.value).split()) for field, text in pairs
    }


CHECKED: Final[type[budget.SettingsModel]] = create_model(
    "LangGraphOrchestrator",
    __base__=budget.SettingsModel,
    **get_type_hints(RunSettings, include_extras=True),
)
"""Checks ``RunSettings``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the runs of an orchestrator.

    Attributes:
        options: The options, all of them, as they were checked.
        human: Whether the run can wait for a person: there is a checkpointer that keeps the question.
    """

    options: RunSettings
    human: bool = False

    @classmethod
    def read(
        cls, options: Mapping[str, object], max_retries: int | None = None, *, human: bool = False
    ) -> Settings:
        """Returns the settings for the arguments of an orchestrator.

        Raises:
            ConfigurationError: A value is not accepted.
        """
        given = {name: options.get(name) for name in RunSettings.__annotations__}
        checked = CHECKED(**{name: value for name, value in given.items() if value is not None})
        settings = cls(cast("RunSettings", dict(checked)), human)
        policy = settings.options["retry_policy"].with_max_retries(max_retries)
        return settings.replace(retry_policy=policy)

    def replace(self, **changes: Unpack[RunSettings]) -> Settings:
        """Returns the settings with other options."""
        return Settings({**self.options, **changes}, self.human)

    def resolve_planning(self, *, has_tools: bool) -> Settings:
        """Returns the settings for an executor: with tools, "auto" asks the planner first.

        A failed attempt at the whole task may have acted. Without tools, it costs less than a plan, and the
        planner breaks the task into steps if all attempts are used up (Prasad et al. 2024, ADaPT).
        """
        planning, policy = self.options["planning"], self.options["retry_policy"]
        planning = "always" if planning == "auto" and has_tools else planning
        replans = {"always": policy.max_replans, "never": 0}.get(planning, max(1, policy.max_replans))
        policy = policy.model_copy(update={"max_replans": replans})
        return self.replace(planning=planning, retry_policy=policy)

    @property
    def max_retries(self) -> int:
        """Executions of a step after its first."""
        return self.options["retry_policy"].max_retries

    @property
    def default_mode(self) -> SupervisionMode:
        """The mode of every step to which no function gives one."""
        supervision = self.options["supervision"]
        return "none" if callable(supervision) else supervision

    @property
    def can_ask_human(self) -> bool:
        """Whether a person can be asked."""
        return self.human and self.options["supervision_policy"].human

    def new_context(self, thread_id: str, *, interruptible: bool = True) -> RunContext:
        """Returns the context of a run that begins now."""
        return RunContext(
            thread_id=thread_id,
            budget=self.options["budget"],
            transport=self.options["retry_policy"].transport,
            call_timeout=self.options["call_timeout"],
            step_timeout=self.options["step_timeout"],
            interruptible=interruptible,
            execution=uuid4().hex,
        )


def _check_text(name: str, value: object, accepted: str) -> str:
    text = str.__str__(value) if isinstance(value, str) else ""  # a subclass of str may have another text
    # SQLite cuts a text at NUL, argv has a surrogate for a byte that is not UTF-8; PostgreSQL refuses both.
    if not text.strip() or text != text.replace("\0", "").encode("utf-8", "ignore").decode("utf-8"):
        given = format_repr(value, 80)
        raise ConfigurationError(f"{name} is {given}; give a text {accepted}, without NUL and surrogates")
    return text


def check_task(task: Any) -> str:  # noqa: ANN401 - the caller's
    """Returns the task as plain text.

    Raises:
        ConfigurationError: The task is not text, nothing but white space, or has NUL or lone surrogates.
    """
    return _check_text("task", task, "that says what to do, in UTF-8")


def check_thread_id(thread_id: Any) -> None:  # noqa: ANN401 - the caller's
    """Checks the name of a thread; None is accepted.

    Raises:
        ConfigurationError: It is not text, it is empty, or a store cannot hold it.
    """
    if thread_id is not None:
        _check_text("thread_id", thread_id, "that is not blank")


def check_config(config: RunnableConfig | None, thread_id: str | None) -> RunnableConfig:
    """Returns LangChain's config, which names the thread if the argument or the config does.

    Raises:
        ConfigurationError: It names a checkpoint, or the thread is not accepted.
    """
    given = config or RunnableConfig()
    configurable = given.get("configurable") or {}
    if names := sorted({"checkpoint_id", "checkpoint_ns"} & set(configurable)):
        raise ConfigurationError(f"config['configurable'] names {names[0]}; use fork to go back in a run")
    check_thread_id(configurable.get("thread_id") if thread_id is None else thread_id)
    own = {"thread_id": thread_id} if thread_id else {}
    return RunnableConfig(**{**given, "configurable": {**configurable, **own}})
