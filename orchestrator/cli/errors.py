"""What can go wrong with the file in which runs are kept.

StoreError              the file, or the thread in it, is not what the command needs (also a ValueError)
└── StoreLostError      the file failed in the middle of a run
"""

from __future__ import annotations

from orchestrator.errors import OrchestratorError


class StoreError(OrchestratorError, ValueError):
    """A store, or a thread, that the command cannot work with; nothing has changed."""


class StoreLostError(StoreError):
    """A store that was lost in the middle of a run; what it holds is whole."""
