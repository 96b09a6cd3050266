"""Controls what graphs that run inside a node inherit from it: interrupts, tool values, durability."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config

from orchestrator.runtime.langgraph_internals import is_streamed, without_durability

NodeConfig: TypeAlias = RunnableConfig | None
"""The config of the running node; None outside of a graph."""


def read_node_config() -> NodeConfig:
    """Reads the config of the running node."""
    return var_child_runnable_config.get()


def is_watched() -> bool:
    """Checks whether a tracer, a callback or a stream of subgraphs sees the graphs inside this node."""
    config = read_node_config() or RunnableConfig()
    callbacks = config.get("callbacks")
    handlers = callbacks.inheritable_handlers if isinstance(callbacks, BaseCallbackManager) else callbacks
    return bool(handlers) or is_streamed(config)


@contextmanager
def use_node_config(config: NodeConfig) -> Iterator[None]:
    """Runs the block as part of the node that ``config`` was read in.

    An interrupt that is raised inside a graph without checkpoints can only be answered this way.
    """
    # LangChain passes the config to nested calls in this context variable.
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


@contextmanager
def pass_to_tools(**values: str) -> Iterator[None]:
    """Adds values to ``config["configurable"]`` of the tools that are called in the block."""
    config = read_node_config() or RunnableConfig()
    configurable = {**config.get("configurable", {}), **values}
    with use_node_config(RunnableConfig(**{**config, "configurable": configurable})):
        yield


@contextmanager
def without_inherited_durability() -> Iterator[None]:
    """Keeps the durability of the run from graphs that run in the block."""
    config = read_node_config()
    with use_node_config(None if config is None else without_durability(config)):
        yield
