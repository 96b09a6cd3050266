"""Fake hooks."""

from collections.abc import Callable

from orchestrator.events import Event


class RecordingHook:
    """Records the events.

    Args:
        then: Called with each event after it is recorded.
    """

    def __init__(self, then: Callable[[Event], object] | None = None):
        self.events: list[Event] = []
        self._then = then

    @property
    def names(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    def __call__(self, event):
        self.events.append(event)
        if self._then is not None:
            self._then(event)
