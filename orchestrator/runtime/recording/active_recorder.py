"""The recorder of the running call of an agent, which LangChain passes to everything that the agent calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from langchain_core.tracers.context import register_configure_hook

from orchestrator.runtime.recording.usage_recorder import UsageRecorder

_active: Final[ContextVar[UsageRecorder | None]] = ContextVar("orchestrator_usage_recorder", default=None)
register_configure_hook(_active, inheritable=True)


@contextmanager
def use_recorder(recorder: UsageRecorder) -> Iterator[None]:
    """Passes the recorder to every LangChain call in the block, also in tasks and threads it starts."""
    token = _active.set(recorder)
    try:
        yield
    finally:
        _active.reset(token)


def read_recorder() -> UsageRecorder:
    """Returns the recorder of the running call of an agent.

    Raises:
        LookupError: No agent is called.
    """
    if (recorder := _active.get()) is None:
        raise LookupError("no agent is called")
    return recorder
