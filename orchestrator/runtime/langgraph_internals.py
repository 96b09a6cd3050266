"""The config that agents, tools and graphs inherit from a node, and the private names of LangGraph in it.

No other module of the project uses private names. Each has a test in
``tests/orchestrator/runtime/test_langgraph_internals.py`` that fails when LangGraph changes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from contextvars import Context
from typing import Final

from langchain_core.runnables.config import RunnableConfig, set_config_context
from langgraph.checkpoint.base import BaseCheckpointSaver

from agents.calls.journal import read_config, read_values

_DURABILITY_KEY: Final = "__pregel_durability"
_SAVER_KEY: Final = "__pregel_checkpointer"
INTERRUPT_CHANNEL: Final = "__interrupt__"
"""The channel of an open interrupt in the pending writes of a checkpoint.

LangGraph uses the same name as a public key of what a graph returns; for the writes, see
https://github.com/langchain-ai/langgraph/pull/8179.
"""


def without_durability(config: RunnableConfig) -> RunnableConfig:
    """Returns the config of a node without the durability of its graph.

    LangGraph 1.2 hands ``durability="sync"`` down to every graph that a node runs. A nested graph without a
    checkpointer then waits for a checkpoint that it never writes, and raises AttributeError. Only the caller
    of that graph could pass another durability, and here the callers are agents and tools of users.
    """
    # The same crash without nesting: https://github.com/zenml-io/kitaru/issues/403. A test fails when nested
    # graphs no longer crash; this function can go then.
    configurable = config.get("configurable", {})
    if _DURABILITY_KEY not in configurable:
        return config
    others = {name: value for name, value in configurable.items() if name != _DURABILITY_KEY}
    return RunnableConfig(**{**config, "configurable": others})


def find_checkpoint(config: RunnableConfig) -> tuple[BaseCheckpointSaver[str], RunnableConfig] | None:
    """Returns the saver and the checkpoint that the running node belongs to; None without a saver.

    A node cannot read them otherwise: its own ``checkpoint_id`` is None, and the saver is a private value.
    """
    configurable = config.get("configurable", {})
    saver = configurable.get(_SAVER_KEY)
    namespace = str(configurable.get("checkpoint_ns", "")).rpartition("|")[0]
    checkpoint_id = configurable.get("checkpoint_map", {}).get(namespace)
    if not isinstance(saver, BaseCheckpointSaver) or checkpoint_id is None:
        return None
    place = {
        "thread_id": configurable.get("thread_id"),
        "checkpoint_ns": namespace,
        "checkpoint_id": checkpoint_id,
    }
    return saver, RunnableConfig(configurable=place)


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
