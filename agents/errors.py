"""What can go wrong in this package.

AgentError
├── ModelSpecError          a model specification that names no model (also a ValueError)
├── ModelSetupError         a model that cannot be built here: a missing extra, key or weights file
├── ModelUnavailableError   the model's server does not answer, keeps failing, or answers with no reply
├── ModelRefusedError       the server answered that it never will: unknown model, no access, bad request
├── PlanError               a plan without a step
└── ToolLoopError           the model kept calling tools past the cap
"""

from __future__ import annotations


class AgentError(Exception):
    """Root of this package's errors."""


class ModelSpecError(AgentError, ValueError):
    """A model specification that names no model."""


class ModelSetupError(AgentError):
    """A model that cannot be built on this machine as it is."""


class ModelUnavailableError(AgentError):
    """The model's server could not be reached or kept failing until the retries were used up.

    Or what answered is no model's server, such as a web page.
    """


class ModelRefusedError(AgentError):
    """The model's server refused for a reason that another try does not mend."""


class PlanError(AgentError):
    """The planner's reply holds no step, or more than are accepted."""


class ToolLoopError(AgentError):
    """The model asked for tools in more rounds than allowed."""

    def __init__(self, rounds: int) -> None:
        """Keep the number of rounds that were run."""
        super().__init__(
            f"the model was still calling tools after {rounds} rounds; "
            "simplify the step, or raise max_tool_rounds of ExecutionAgent"
        )
        self.rounds = rounds
