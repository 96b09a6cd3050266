"""Telling hooks of an event: what they do with it is never worth a run."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
from collections.abc import Iterable
from typing import Final

from orchestrator.runtime.events import Event
from orchestrator.runtime.protocols import Hook

_log: Final = logging.getLogger(__name__)


async def tell(hooks: Iterable[Hook], event: Event) -> None:
    """Call each hook with a copy of the event, and log what it raises.

    Raises:
        asyncio.CancelledError: The task that runs this was cancelled.
    """
    for hook in hooks:
        try:
            # A copy, since a record in an event must not be a way to change the run.
            waiting = hook(copy.deepcopy(event))
            if inspect.isawaitable(waiting):
                await waiting
        except asyncio.CancelledError:
            # One that nobody asked of this task is the hook's own, as of a task that it waited for.
            if _is_being_cancelled():
                raise
            _log.exception("a hook failed on %s; the run goes on", type(event).__name__)
        except Exception:  # noqa: BLE001 - a hook is foreign code, and never worth a run
            _log.exception("a hook failed on %s; the run goes on", type(event).__name__)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
