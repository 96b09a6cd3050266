"""Graphs that are run within a node: those of agents and tools, and the evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config

_DURABILITY: Final = "__pregel_durability"
_STREAM: Final = "__pregel_stream"

Place: TypeAlias = RunnableConfig | None


def this_place() -> Place:
    """Where in a graph this runs."""
    return var_child_runnable_config.get()


def is_watched() -> bool:
    """Whether somebody sees the graphs within: by a tracer or another callback, or by a stream."""
    config = this_place() or RunnableConfig()
    callbacks = config.get("callbacks")
    handlers = callbacks.inheritable_handlers if isinstance(callbacks, BaseCallbackManager) else callbacks
    return bool(handlers) or _STREAM in config.get("configurable", {})


@contextmanager
def in_place(place: Place) -> Iterator[None]:
    """Run as if there: an interrupt within a graph without checkpoints could never be answered."""
    token = var_child_runnable_config.set(place)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


@contextmanager
def handing_down(**values: str) -> Iterator[None]:
    """Hand values to the tools that are called within, in their ``config["configurable"]``."""
    config = var_child_runnable_config.get() or RunnableConfig()
    inherited = config.get("configurable", {})
    with in_place(RunnableConfig(**{**config, "configurable": {**inherited, **values}})):
        yield


@contextmanager
def durability_of_their_own() -> Iterator[None]:
    """Keep the run's durability from graphs that are run within: those without checkpoints fail on "sync".

    LangGraph 1.2 hands it down, and then waits for a checkpoint that such a graph never writes.
    """
    config = var_child_runnable_config.get()
    inherited = (config or {}).get("configurable", {})
    if config is None or _DURABILITY not in inherited:
        yield
        return
    kept = {name: value for name, value in inherited.items() if name != _DURABILITY}
    with in_place(RunnableConfig(**{**config, "configurable": kept})):
        yield
