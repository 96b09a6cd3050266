"""The errors that this package raises.

OrchestratorError
├── ConfigurationError      an argument is not accepted (also a ValueError); nothing has run
│   └── ThreadBusyError     the thread is being run elsewhere; later it may be free
├── BudgetExceededError     raised into a model call that the budget does not allow
├── ContractFunctionError   the caller's contract function raised or returned something else; ends the run
├── ResumeError             a run cannot be resumed or forked (also a ValueError); nothing has changed
├── StoreError              a store, or a thread in it, cannot be used (also a ValueError)
│   ├── StoreLostError      a store failed in the middle of a run; everything stored before is intact
│   └── BrokenRunError      a stored run cannot be read; the other runs of the store can
├── UnmetContractError      the answer of an agent does not meet its contract; has ``verdict``
├── RunFailedError          a run of a search failed, which says nothing about its policy
└── InterruptError          an agent's interrupt that nothing could resume; ends the run as failed
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class OrchestratorError(Exception):
    """Root of this package's errors."""


class ConfigurationError(OrchestratorError, ValueError):
    """An argument is not accepted; raised before anything runs."""


class ThreadBusyError(ConfigurationError):
    """A thread is being run by another process or orchestrator; nothing has run here."""


class BudgetExceededError(OrchestratorError):
    """The budget does not allow a model call; ends the run, which keeps its results."""


class ContractFunctionError(OrchestratorError):
    """The caller's contract function returned no contract; the step fails before it is executed."""


class ResumeError(OrchestratorError, ValueError):
    """A thread, an answer or a step cannot be resumed from; nothing has changed."""


class StoreError(OrchestratorError, ValueError):
    """A store, or a thread in it, cannot be used; nothing has changed."""


class StoreLostError(StoreError):
    """A store failed while it was read or written; everything stored before is intact."""


class BrokenRunError(StoreError):
    """A stored run cannot be read; the other runs of its store can."""


class RunFailedError(OrchestratorError):
    """A run of a search failed for a reason that says nothing about its policy."""


class UnmetContractError(OrchestratorError):
    """The answer of an agent with ``ContractMiddleware`` was refused at last.

    Attributes:
        verdict: The verdict, as ``state["verdict"]`` has it.
    """

    def __init__(self, message: str, verdict: Mapping[str, object]) -> None:
        super().__init__(message)
        self.verdict = verdict


class InterruptError(OrchestratorError):
    """An agent asked for an interrupt in a run without a checkpointer; ends the run as failed."""


@contextmanager
def require_extra(extra: str) -> Iterator[None]:
    """Explains a failed import in the block.

    Args:
        extra: The extra of this package that the imported package belongs to.

    Raises:
        ConfigurationError: A package of the extra is not installed.
    """
    try:
        yield
    except ImportError as error:
        raise ConfigurationError(
            f"this needs the extra [{extra}] ({error}); install plan-execute-monitor[{extra}]"
        ) from error
