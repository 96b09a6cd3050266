"""A shop's clerk on a scripted model, which the sets of cases execute; it needs no model and no key."""

from __future__ import annotations

from itertools import cycle

from langchain_core.messages import AIMessage

from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator, OrchestratorState

PRICES = {"atlas": 12.5, "globe": 40.0}
GUESSES = cycle(["It costs 12.5 euros.", "It costs 99 euros."])


def price_of(title: str) -> float:
    """Return the price of an article in euros."""
    return PRICES[title]


def clerk(task: str) -> OrchestratorState:
    """Answer by an orchestrator that looks the price of the atlas up."""
    lookup = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "atlas"}, "id": "1"}])
    model = ScriptedChatModel([lookup, "The atlas costs 12.5 euros."])
    orchestrator = LangGraphOrchestrator.from_model(
        model, tools=[price_of], contract=None, judge=approve, planning="never"
    )
    return orchestrator.run(task)


def approve(_: object) -> dict[str, object]:
    """Judge that approves everything; the contract of a case decides."""
    return {"score": 5, "rationale": "it reads well"}


def guess(task: str) -> str:
    """Answer without looking anything up: every second answer is wrong."""
    return next(GUESSES)
