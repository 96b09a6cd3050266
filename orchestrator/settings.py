"""The settings of an orchestrator, checked before anything runs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from evaluation import AsyncJudge, Judge
from orchestrator.errors import ConfigurationError
from orchestrator.retry.policy import RetryPolicy
from orchestrator.runtime.agent_methods import chosen_method, compressing_method, corrects
from orchestrator.runtime.budget import Budget
from orchestrator.runtime.context import utc_now
from orchestrator.runtime.protocols import InvokableCompressor, RunnableCompressor
from orchestrator.state.plain_values import plain_text, read_text, shown
from orchestrator.state.records import SupervisionMode
from orchestrator.supervision.modes import ModeFunction
from orchestrator.supervision.policy import SupervisionPolicy

NODES_PER_EXECUTION: Final = 4
"""Executor and monitor; where a person is asked about a verdict, the question and the answer."""
NODES_WHEN_SUPERVISED: Final = 8
"""Besides: commit, post, reconcile and supervise."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How a run goes.

    Attributes:
        max_retries: Executions of a step after its first.
        max_plan_steps: A longer plan is refused.
        call_timeout: Seconds that one call of an agent may take; None is no bound.
        step_timeout: Seconds for a step with all its attempts and their judging; None is no bound.
        retry_policy: What follows from a judged execution.
        budget: What a run may spend.
        supervision: How each step is supervised: one mode, or a function of a step's text and index.
        supervision_policy: The bounds of supervision.
        max_parallel_steps: How many steps run at once, of a plan that says which do not need each other.
        human: Whether a person can be asked: there is a checkpointer, and the policy says so.
        clock: Gives the time, with its zone, for time stamps and for deadlines of answers.

    Raises:
        ConfigurationError: A value that is not accepted.
    """

    max_retries: int = 2
    max_plan_steps: int = 1000
    call_timeout: float | None = None
    step_timeout: float | None = None
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    budget: Budget = field(default_factory=Budget)
    supervision: SupervisionMode | ModeFunction = "none"
    supervision_policy: SupervisionPolicy = field(default_factory=SupervisionPolicy)
    max_parallel_steps: int = 8
    human: bool = False
    clock: Callable[[], datetime] = utc_now

    def __post_init__(self) -> None:
        """Refuse values that are not accepted."""
        _check_whole("max_retries", self.max_retries, 0)
        _check_whole("max_plan_steps", self.max_plan_steps, 1)
        _check_seconds("call_timeout", self.call_timeout)
        _check_seconds("step_timeout", self.step_timeout)
        _check_type("retry_policy", self.retry_policy, RetryPolicy)
        _check_type("budget", self.budget, Budget)
        _check_type("supervision_policy", self.supervision_policy, SupervisionPolicy)
        _check_whole("max_parallel_steps", self.max_parallel_steps, 1)
        _check_clock(self.clock)

    def now(self) -> datetime:
        """The time by the clock, in UTC, where an hour is one also when a zone turns to summer time."""
        return self.clock().astimezone(UTC)

    @property
    def default_mode(self) -> SupervisionMode:
        """The mode of every step that no function gives one."""
        return "none" if callable(self.supervision) else self.supervision

    @property
    def recursion_limit(self) -> int:
        """Nodes that a run can visit at most, with one to spare so that the bound is never what ends it."""
        plans = 1 + self.retry_policy.max_replans
        nodes = NODES_PER_EXECUTION if self.supervision == "none" else NODES_WHEN_SUPERVISED
        return 2 + plans * (1 + nodes * self.max_plan_steps * self.executions_per_step)

    @property
    def executions_per_step(self) -> int:
        """How often one step is executed at most: first, on retries, and with corrections."""
        policy = self.supervision_policy
        corrected = 0 if self.supervision == "none" else policy.max_reorient_attempts
        answered = policy.max_corrections if self.human else 0
        return 1 + self.max_retries + corrected + answered


def check_task(task: object) -> str:
    """The task as plain text; what is none is refused.

    Raises:
        ConfigurationError: Not text, or nothing but white space.
    """
    text = read_text(task)
    if text is None or not text.strip():
        raise ConfigurationError(f"task is {shown(task, 80)}; give a text that says what to do")
    return text


def check_thread_id(thread_id: object) -> None:
    """Refuse what names no thread.

    Raises:
        ConfigurationError: Neither None nor a text with something in it that every store can hold.
    """
    if thread_id is not None and (not isinstance(thread_id, str) or not thread_id.strip()):
        raise ConfigurationError(f"thread_id is {thread_id!r:.80}; give a text, or None to have one made up")
    if isinstance(thread_id, str) and ("\0" in thread_id or plain_text(thread_id) != thread_id):
        raise ConfigurationError(
            f"thread_id is {thread_id!r:.80}, which no database can hold; give one without NUL and surrogates"
        )


def check_hooks(hooks: object) -> None:
    """Refuse hooks that cannot be called.

    Raises:
        ConfigurationError: No sequence, or an item that is not callable.
    """
    if not isinstance(hooks, Sequence) or isinstance(hooks, str):
        raise ConfigurationError(f"hooks is {hooks!r:.80}; give a sequence of callables, such as (print,)")
    for hook in hooks:
        if not callable(hook):
            raise ConfigurationError(f"hooks holds {hook!r:.80}; give callables that take one event")


def check_agents(planner: object, executor: object, monitor: object) -> None:
    """Refuse agents without the method of their role, or whose method cannot be called as that.

    Raises:
        ConfigurationError: No such method, or one with other parameters.
    """
    _check_agent("planner", planner, "generate_plan", "task")
    _check_agent("executor", executor, "execute_step", "step", context="context")
    if corrects(executor):
        _check_agent("executor", executor, "correct_step", "step", "output", "feedback", context="context")
    _check_agent("monitor", monitor, "evaluate", "objective", "result")


def check_judge(judge: object) -> None:
    """Refuse a judge that cannot be asked.

    Raises:
        ConfigurationError: Neither ``judge`` nor ``ajudge``.
    """
    if judge is not None and not isinstance(judge, Judge | AsyncJudge):
        raise ConfigurationError(
            f"judge is a {type(judge).__name__} with neither judge() nor ajudge(); "
            "give one that has either, or None for the monitor"
        )


def check_compressor(compressor: object) -> None:
    """Refuse a compressor with neither documented method, or whose method cannot be called as that.

    Raises:
        ConfigurationError: Neither ``invoke`` nor ``_run``, or one with other parameters.
    """
    if compressor is None:
        return
    if not isinstance(compressor, InvokableCompressor | RunnableCompressor):
        raise ConfigurationError(
            f"compressor is a {type(compressor).__name__} with neither invoke(text) nor _run(text); "
            "give one that has either, or None"
        )
    name = compressing_method(compressor)
    _check_agent("compressor", compressor, name, *(("text", "task") if name == "compress" else ("text",)))


def _check_agent(role: str, agent: object, method: str, *args: str, **kwargs: str) -> None:
    if not callable(getattr(agent, method, None)):
        raise ConfigurationError(
            f"{role} is a {type(agent).__name__} without {method}(); give an object that has it"
        )
    called = chosen_method(agent, method)
    try:
        _signature(getattr(agent, called)).bind(*args, **kwargs)
    except TypeError as error:
        call = ", ".join((*args, *(f"{name}=..." for name in kwargs)))
        raise ConfigurationError(
            f"{role} is a {type(agent).__name__} whose {called}() cannot be called as {called}({call}): "
            f"{error}; give it parameters for that"
        ) from None


def _signature(method: Callable[..., object]) -> inspect.Signature:
    """What a method takes; anything where it does not say, as with some that are written in C."""
    try:
        # Not that of what it wraps: a decorator may add arguments, or take some away.
        return inspect.signature(method, follow_wrapped=False)
    except (TypeError, ValueError):
        return inspect.signature(lambda *_args, **_kwargs: None)


def _check_whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigurationError(f"{name} is {value!r}; give a whole number of at least {least}")


def _check_seconds(name: str, value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ConfigurationError(f"{name} is {value!r}; give seconds above 0, or None for no bound")


def _check_clock(clock: object) -> None:
    now = clock() if callable(clock) else None
    if not isinstance(now, datetime) or now.tzinfo is None:
        raise ConfigurationError(
            f"clock is {shown(clock, 80)}; give a function that returns the time with its zone, "
            "such as lambda: datetime.now(UTC)"
        )


def _check_type(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise ConfigurationError(f"{name} is {value!r:.80}; give a {kind.__name__}, or None for the default")
