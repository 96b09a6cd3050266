"""How many model calls a run can make at most."""

from __future__ import annotations

from agents import ExecutionAgent
from agents.base import BaseAgent
from agents.compression import CompressContextTool
from orchestrator.runtime.protocols import Compressor, Executor, Monitor, Planner
from orchestrator.settings import Settings

_WITH_AND_WITHOUT_SCHEMA = 2
"""A reply is asked for with its JSON schema, and without it where the server refuses schemas."""


def model_call_bound(
    agents: tuple[Planner, Executor, Monitor, Compressor | None], settings: Settings, steps: int
) -> int:
    """Bound the model calls of a run.

    Each call counts as often as passing faults may have it made again. An agent, a judge or a supervisor of
    another make is taken to make one model call whenever it is called, and a tool none.

    Args:
        agents: Planner, executor, monitor and compressor.
        settings: How the run goes.
        steps: Of every plan.
    """
    planner, executor, monitor, compressor = agents
    plans = 1 + settings.retry_policy.max_replans
    judging = settings.retry_policy.judge_attempts * _asking(monitor, settings)
    supervised = settings.supervision != "none"
    phase = _asking(executor, settings) if supervised else 0
    deciding = max(_asking(monitor, settings), _asking(executor, settings)) if supervised else 0
    execution = (
        _compressing(compressor, settings) + _executing(executor, settings) + phase + judging + deciding
    )
    return plans * (_asking(planner, settings) + steps * (phase + settings.executions_per_step * execution))


def _attempts(agent: object, settings: Settings) -> int:
    own = agent.transport_retry.max_attempts if isinstance(agent, BaseAgent) else 1
    return max(own, settings.retry_policy.transport.max_attempts)


def _asking(agent: object, settings: Settings) -> int:
    """A question that is answered in a structure."""
    return _WITH_AND_WITHOUT_SCHEMA * _attempts(agent, settings)


def _executing(executor: Executor, settings: Settings) -> int:
    rounds = executor.max_tool_rounds if isinstance(executor, ExecutionAgent) and executor.tools else 0
    return (1 + rounds) * _attempts(executor, settings)


def _compressing(compressor: Compressor | None, settings: Settings) -> int:
    if compressor is None or isinstance(compressor, CompressContextTool):
        return 0
    return _attempts(compressor, settings)
