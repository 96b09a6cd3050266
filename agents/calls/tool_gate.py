"""The gate before each tool call of a step: a forbidden tool does not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config

TOOL_GATE: Final = "tool_gate"
"""Name of the gate in ``config["configurable"]``, and of a decision in the metadata of a tool call."""


@dataclass(frozen=True, slots=True)
class ToolGate:
    """Decides before a tool runs whether it may.

    Attributes:
        forbidden: Names of tools that must not run.
        allowed: Names of the only tools that may run; None allows all others.
    """

    forbidden: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None

    def forbids(self, name: str) -> bool:
        """Returns whether a tool must not run."""
        return name in self.forbidden or (self.allowed is not None and name not in self.allowed)


_OPEN: Final = ToolGate()


def find_gate(config: RunnableConfig | None = None) -> ToolGate:
    """Returns the gate in a config, or in the config of the running call; an open gate if there is none."""
    found = config or var_child_runnable_config.get() or RunnableConfig()
    gate = found.get("configurable", {}).get(TOOL_GATE)
    return gate if isinstance(gate, ToolGate) else _OPEN
