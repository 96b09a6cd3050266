"""Builds the idempotency key of an execution, so that a tool can make its effect exactly once."""

from __future__ import annotations

import hashlib
import json
from typing import Final

IDEMPOTENCY_KEY: Final = "idempotency_key"
"""Name of the key in ``config["configurable"]`` of a tool that takes a ``RunnableConfig``."""


def idempotency_key(thread_id: str, run_id: str, step_index: int, attempt: int, content: str) -> str:
    """Builds the key. It is the same after a crash, and different on a retry or in another run.

    Args:
        thread_id: Thread of the run.
        run_id: Random id of the run. It distinguishes several runs on one thread.
        step_index: Index of the step.
        attempt: Number of the execution.
        content: Instruction of the step.

    Returns:
        The SHA-256 of all arguments, as 64 hexadecimal digits.
    """
    # JSON keeps the arguments apart: joined texts could be equal for different arguments.
    encoded = json.dumps([thread_id, run_id, step_index, attempt, content], ensure_ascii=True)
    return hashlib.sha256(encoded.encode()).hexdigest()
