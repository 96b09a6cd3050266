"""Controls what agents, tools and graphs inside of a node inherit from it: keys, interrupts, durability."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config

from orchestrator.runtime.langgraph_internals import without_durability

NodeConfig: TypeAlias = RunnableConfig | None
"""The config of the running node; None outside of a graph."""


def read_node_config() -> NodeConfig:
    """Reads the config of the running node."""
    return var_child_runnable_config.get()


def read_task_id() -> str:
    """Reads the start of the id of the running task, which is the same when a run is resumed."""
    namespace = str((read_node_config() or RunnableConfig()).get("configurable", {}).get("checkpoint_ns", ""))
    return namespace.rpartition(":")[2][:8]


@contextmanager
def use_node_config(config: NodeConfig) -> Iterator[None]:
    """Runs the block as part of the node that ``config`` was read in."""
    # LangChain passes the config to nested calls in this context variable.
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


@contextmanager
def use_outer_node(outer: NodeConfig) -> Iterator[None]:
    """Runs the block as part of an outer node, but traced under the running one.

    An interrupt that is raised inside a graph without checkpoints can only be answered this way.
    """
    inner = read_node_config() or RunnableConfig()
    traced = RunnableConfig(callbacks=inner.get("callbacks"), metadata=inner.get("metadata", {}))
    with use_node_config(None if outer is None else RunnableConfig(**{**outer, **traced})):
        yield


@contextmanager
def extend_config(configurable: Mapping[str, object], metadata: Mapping[str, object]) -> Iterator[None]:
    """Adds values for tools, and metadata for traces, to the config of everything that the block calls."""
    config = read_node_config() or RunnableConfig()
    added = RunnableConfig(
        configurable={**config.get("configurable", {}), **configurable},
        metadata={**config.get("metadata", {}), **metadata},
    )
    with use_node_config(RunnableConfig(**{**config, **added})):
        yield


def describe_execution(step_index: int, attempt: int) -> dict[str, object]:
    """Returns the metadata that tells in a trace which execution a call belongs to."""
    return {"step_index": step_index, "attempt": attempt}


@contextmanager
def without_inherited_durability() -> Iterator[None]:
    """Keeps the durability of the run from graphs that run in the block."""
    config = read_node_config()
    with use_node_config(None if config is None else without_durability(config)):
        yield


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
