"""Uses private names of LangGraph. No other module of the project does.

Each name has a test in ``tests/orchestrator/runtime/test_langgraph_internals.py`` that fails when LangGraph
changes it.
"""

from __future__ import annotations

from typing import Final

from langchain_core.runnables.config import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

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
