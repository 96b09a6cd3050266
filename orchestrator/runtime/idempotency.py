"""A key by which a tool can make its effect exactly once; a pure function."""

from __future__ import annotations

import hashlib
import json
from typing import Final

IDEMPOTENCY_KEY: Final = "idempotency_key"
"""Its name in ``config["configurable"]``, where a tool that takes a ``RunnableConfig`` finds it."""


def idempotency_key(thread_id: str, run_id: str, step_index: int, attempt: int, content: str) -> str:
    """Name one execution: the same after a crash, another one on a retry or in another run.

    Args:
        thread_id: Of the run.
        run_id: Made up when the run began, so that a second run on a thread is told from the first.
        step_index: Of the step.
        attempt: Of the execution.
        content: What is to be done.

    Returns:
        64 hexadecimal digits: SHA-256 over all of these.
    """
    named = json.dumps([thread_id, run_id, step_index, attempt, content], ensure_ascii=True)
    return hashlib.sha256(named.encode()).hexdigest()
