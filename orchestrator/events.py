"""The events of a run: what ``stream`` yields, and what hooks get."""

from orchestrator.runtime.events import (
    Event,
    Planned,
    Replanned,
    RunFinished,
    RunInterrupted,
    RunPaused,
    RunResumed,
    RunStarted,
    StepExecuted,
    StepJudged,
    StepRetried,
    StepStarted,
    TextStreamed,
    ToolEnded,
    ToolStarted,
)

__all__ = [
    "Event",
    "Planned",
    "Replanned",
    "RunFinished",
    "RunInterrupted",
    "RunPaused",
    "RunResumed",
    "RunStarted",
    "StepExecuted",
    "StepJudged",
    "StepRetried",
    "StepStarted",
    "TextStreamed",
    "ToolEnded",
    "ToolStarted",
]
