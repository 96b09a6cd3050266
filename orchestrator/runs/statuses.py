"""What a stored run can be."""

from __future__ import annotations

from typing import Final, Literal

StoredStatus = Literal["planning", "executing", "waiting", "success", "failed", "unreadable"]

STATUSES: Final[tuple[StoredStatus, ...]] = (
    "planning",
    "executing",
    "waiting",
    "success",
    "failed",
    "unreadable",
)
ENDED: Final[frozenset[StoredStatus]] = frozenset({"success", "failed"})
