"""The config that agents, tools and graphs inside of a node inherit from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextvars import Context

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import set_config_context

from agents.calls.journal import read_config, read_values


def copy_context_with(config: RunnableConfig) -> Context:
    """Returns a copy of the context variables, in which everything that is called inherits ``config``."""
    with set_config_context(config) as context:
        return context.copy()


def read_task_id() -> str:
    """Reads the start of the id of the running task, which is the same when a run is resumed."""
    return str(read_values().get("checkpoint_ns", "")).rpartition(":")[2][:8]


def build_outer_config(outer: RunnableConfig) -> RunnableConfig:
    """Returns the config of an outer node, but traced under the running one.

    An interrupt that is raised inside a graph without checkpoints can only be answered this way.
    """
    inner = read_config()
    traced = RunnableConfig(callbacks=inner.get("callbacks"), metadata=inner.get("metadata", {}))
    return RunnableConfig(**{**outer, **traced}) if outer else outer


def extend_config(configurable: Mapping[str, object], metadata: Mapping[str, object]) -> RunnableConfig:
    """Returns the config of the running node with further values for tools, and metadata for traces."""
    config = read_config()
    added = RunnableConfig(
        configurable={**config.get("configurable", {}), **configurable},
        metadata={**config.get("metadata", {}), **metadata},
    )
    return RunnableConfig(**{**config, **added})


def describe_execution(step_index: int, attempt: int) -> dict[str, object]:
    """Returns the metadata that tells in a trace which execution a call belongs to."""
    return {"step_index": step_index, "attempt": attempt}


def idempotency_key(thread_id: str, run_id: str, step_index: int, attempt: int, content: str) -> str:
    """Builds the key of an execution: the same after a crash, another one on a retry or in another run.

    Args:
        thread_id: Thread of the run.
        run_id: Random id of the run. It distinguishes several runs on one thread.
        step_index: Index of the step.
        attempt: Number of the execution.
        content: Instruction of the step.

    Returns:
        The SHA-256 of all arguments, as 64 hexadecimal digits.
    """
    # JSON keeps the arguments apart: joined texts could be equal for different arguments.
    encoded = json.dumps([thread_id, run_id, step_index, attempt, content], ensure_ascii=True)
    return hashlib.sha256(encoded.encode()).hexdigest()
