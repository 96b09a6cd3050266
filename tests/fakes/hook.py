"""Fake hooks."""

from orchestrator.events import Event


class RecordingHook:
    def __init__(self):
        self.events: list[Event] = []

    def __call__(self, event):
        self.events.append(event)
