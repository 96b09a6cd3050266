"""What can go wrong in this package.

OrchestratorError
├── ConfigurationError      an argument that is not accepted (also a ValueError); nothing has run
├── BudgetExceededError     raised into a model call that the budget does not allow
├── ContractFunctionError   the caller's contract function raised or returned something else; ends the run
├── ResumeError             a run that cannot be resumed as asked (also a ValueError); nothing has changed
├── StoreError              a store, or a thread in it, that is not what is needed (also a ValueError)
│   └── StoreLostError      a store that failed in the middle of a run; what it holds is whole
├── InterruptError          an agent's interrupt that nothing could resume; a run ends with it as its failure
└── DrawingError            a picture that cannot be drawn on this machine
"""

from __future__ import annotations


class OrchestratorError(Exception):
    """Root of this package's errors."""


class ConfigurationError(OrchestratorError, ValueError):
    """An argument that is not accepted; raised before anything runs."""


class BudgetExceededError(OrchestratorError):
    """A model call that the budget does not allow; ends the run, keeping its results."""


class ContractFunctionError(OrchestratorError):
    """The caller's contract function gave no contract; the step fails with it before it is executed."""


class ResumeError(OrchestratorError, ValueError):
    """A thread, an answer or a step that cannot be resumed from; nothing has changed."""


class StoreError(OrchestratorError, ValueError):
    """A store, or a thread in it, that cannot be worked with; nothing has changed."""


class StoreLostError(StoreError):
    """A store that failed while it was read or written; what it holds is whole."""


class BrokenRunError(StoreError):
    """A stored run that cannot be read; the others of its store can."""


class InterruptError(OrchestratorError):
    """An agent asked for an interrupt in a run without a checkpointer; ends the run as failed."""


class DrawingError(OrchestratorError):
    """A picture that cannot be drawn on this machine."""
