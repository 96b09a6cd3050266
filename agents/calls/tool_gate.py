"""The gate before each tool call of a step: a forbidden or denied tool does not run."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from langchain_core.runnables.config import RunnableConfig, var_child_runnable_config

TOOL_GATE: Final = "tool_gate"
"""Name of the gate in ``config["configurable"]``, and of a decision in the metadata of a tool call."""


AskPerson = Callable[[str, Mapping[str, object]], str | None]
"""Asks a person about a call: its tool and arguments. Returns why it must not run; None if it may."""

FindAnswer = Callable[[str, object], str | None]
"""Finds the answer to a call that must not run again, by its tool and arguments; None if it has to run."""


@dataclass(frozen=True, slots=True)
class ToolGate:
    """Decides before a tool runs whether it may.

    Attributes:
        forbidden: Names of tools that must not run.
        allowed: Names of the only tools that may run; None allows all others.
        ask_before: Names of the tools that run only if a person approves the call, or "all".
        ask: Asks the person; None if there is nobody, so that such a call is denied.
        once: Names of the tools that do not run again with the same arguments, also in the same attempt.
        find_answer: Finds the answer to a call that must not run again; None if every call runs.
    """

    forbidden: frozenset[str] = frozenset()
    allowed: frozenset[str] | None = None
    ask_before: Collection[str] = ()
    ask: AskPerson | None = None
    once: frozenset[str] = frozenset()
    find_answer: FindAnswer | None = None

    def forbids(self, name: str) -> bool:
        """Returns whether a tool must not run."""
        return name in self.forbidden or (self.allowed is not None and name not in self.allowed)

    def find_earlier(self, name: str, args: object) -> str | None:
        """Returns the answer to the same call before; None if the tool has to run."""
        return None if self.find_answer is None else self.find_answer(name, args)

    def asks_before(self, name: str, args: Mapping[str, object]) -> bool:
        """Returns whether a person has to approve a call."""
        if self.forbids(name) or self.find_earlier(name, args) is not None:
            return False
        return self.ask_before == "all" or name in self.ask_before

    def find_denial(self, name: str, args: Mapping[str, object]) -> str | None:
        """Asks a person about a call. Returns why it must not run; None if it may."""
        return "there is nobody to ask" if self.ask is None else self.ask(name, args)


def describe_call(name: str, args: object) -> str:
    """Describes a call as text, which is the same for the same tool and equal arguments."""
    return json.dumps([name, args], sort_keys=True, default=str)


_OPEN: Final = ToolGate()


def find_gate(config: RunnableConfig | None = None) -> ToolGate:
    """Returns the gate in a config, or in the config of the running call; an open gate if there is none."""
    running = config or var_child_runnable_config.get() or RunnableConfig()
    gate = running.get("configurable", {}).get(TOOL_GATE)
    return gate if isinstance(gate, ToolGate) else _OPEN
