"""A run of the orchestrator is evaluated as any recorded run, wherever it comes from."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage

from agents.testing import ScriptedChatModel
from evaluation import run_from_state
from orchestrator import LangGraphOrchestrator
from orchestrator.persistence import open_store


def price_of(title: str) -> float:
    """Return the price of a book."""
    return 12.5


@pytest.fixture
def recorded(tmp_path, cli):
    """The same run: what `run` returned, the store's, the graph's, and what `show` printed."""
    db = tmp_path / "runs.sqlite"
    lookup = AIMessage("", tool_calls=[{"name": "price_of", "args": {"title": "x"}, "id": "1"}])
    model = ScriptedChatModel(
        ['{"plan": ["Find it", "Say it"]}', lookup, "12.5", "12.5", "12.50 euros"], (3, 4)
    )
    with open_store(db) as store:
        orchestrator = LangGraphOrchestrator.from_model(
            model,
            tools=[price_of],
            contract=None,
            judge=lambda _: {"score": 5, "rationale": "good"},
            checkpointer=store,
        )
        state = orchestrator.run("What does x cost?", "t")
        stored = store.history.show("t").state
        snapshot = orchestrator.graph.get_state({"configurable": {"thread_id": "t"}}).values
    printed = json.loads(cli("show", "t", "--db", str(db), "--json").stdout)
    return {"run": state, "history": stored, "graph": snapshot, "show": printed}


def test_it_is_the_same_run_wherever_it_comes_from(recorded):
    run, *others = [run_from_state(source) for source in recorded.values()]
    named = {**run, "metadata": {**run["metadata"], "thread_id": "t"}}

    assert others == [run, run, named]
    assert [call["name"] for call in run["tool_calls"]] == ["price_of"]
    assert run["total_tokens"] == 35
