"""The errors of this package.

AgentError
├── ModelSpecError          the specification names no model (also a ValueError)
├── ModelSetupError         the model cannot be built here: an extra, key or weights file is missing
├── ModelUnavailableError   the model's server does not answer, keeps failing, or sends no reply
├── ModelRefusedError       the server refused the request: unknown model, no access, bad request
│   └── PromptTooLongError  the prompt does not fit the context of the model
├── PlanError               the plan has no step, or cannot be read
├── ToolLoopError           the model exceeded the limit of tool rounds
├── TextualCallError        the model writes its tool calls as text, which is never made
├── CallHaltedError         a person ended the run when asked about a tool call
├── LateDurabilityError     a graph stores the call of a tool that acts only after it may have been made
└── NoEffectError           raised by a tool: the call had no effect, and may be made again
"""

from __future__ import annotations


class AgentError(Exception):
    """The base class of this package's errors."""


class ModelSpecError(AgentError, ValueError):
    """The specification names no model."""


class ModelSetupError(AgentError):
    """The model cannot be built on this machine: an extra, key or weights file is missing."""


class ModelUnavailableError(AgentError):
    """The model's server could not be reached, failed after all retries, or is not a model's server."""


class ModelRefusedError(AgentError):
    """The model's server refused the request, and would refuse it again."""


class PromptTooLongError(ModelRefusedError):
    """The prompt does not fit the context of the model, so that the server refused it."""


class PlanError(AgentError):
    """The plan has no step, has more steps than are accepted, or cannot be read."""


class ToolLoopError(AgentError):
    """The model called tools in more rounds than allowed."""

    def __init__(self, rounds: int) -> None:
        """Stores the number of rounds."""
        super().__init__(
            f"the model was still calling tools after {rounds} rounds; "
            "simplify the step, or raise max_tool_rounds of ExecutionAgent"
        )
        self.rounds = rounds


class TextualCallError(AgentError):
    """The model writes its tool calls as text, which are never made."""

    def __init__(self, call: str) -> None:
        super().__init__(
            f"the model wrote the tool call {call!r:.80} as text, so that it was not made; "
            "give a model that calls tools, or switch on the parser for tool calls of its server"
        )


class CallHaltedError(AgentError):
    """A person ended the run when asked about a tool call."""


class LateDurabilityError(AgentError):
    """A graph stores the call of a tool that acts only after it may have been made."""

    def __init__(self, tool: str, durability: str) -> None:
        super().__init__(
            f"tool {tool!r} acts, and the graph runs with durability={durability!r}, so that a crash could "
            "make it act twice; run the graph with durability='sync'"
        )


class NoEffectError(AgentError):
    """Raised by a tool: the call had no effect, so that a tool that acts once may make it again."""
