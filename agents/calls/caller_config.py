"""Reads the config of the graph that calls an agent."""

from __future__ import annotations

from collections.abc import Mapping

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config


def read_config() -> RunnableConfig:
    """Returns the config of the running node, chain or tool; an empty one outside of these."""
    try:
        return get_config()
    except RuntimeError:
        return RunnableConfig()


def read_values() -> Mapping[str, object]:
    """Returns the values in ``configurable`` of the running node, chain or tool."""
    return read_config().get("configurable", {})
