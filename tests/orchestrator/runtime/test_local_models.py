"""Runs with a model of an Ollama server: prompts that do not fit."""

from __future__ import annotations

import pytest

from agents import ExecutionAgent, load_model
from orchestrator import LangGraphOrchestrator
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner
from tests.fakes.protocol_server import encode, ollama_reply

CONTEXT = 1000
REFUSED = {"error": "request (1301 tokens) exceeds the available context size (1000 tokens)"}


def run(loopback, reply, step="word " * 1200):
    llm = load_model("ollama:m", base_url=loopback(answer=lambda body: reply).url, num_ctx=CONTEXT)
    return LangGraphOrchestrator(FakePlanner([step]), ExecutionAgent(llm), FakeMonitor()).run("x")


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (ollama_reply("from a part", prompt_eval_count=CONTEXT), "from a part"),
        (ollama_reply("from a part", prompt_eval_count=CONTEXT // 2 + 2), "from a part"),
        (ollama_reply("from a part"), "from a part"),
        (encode(REFUSED, 400), ""),
    ],
    ids=["fills the context", "half of it", "not counted", "refused"],
)
def test_a_task_that_does_not_fit_needs_review(loopback, reply, kept):
    state = run(loopback, reply)
    (record,) = state["results"]

    assert (state["failure"]["kind"], record["status"], record["result"]) == (
        "needs_review",
        "needs_review",
        kept,
    )
    assert "does not fit" in record["warnings"][0]
    assert state["warnings"] == [f"step 1: {record['warnings'][0]}"]


@pytest.mark.parametrize(("words", "tokens"), [(600, 620), (600, 999), (900, 950)])
def test_a_task_that_fits_is_not_warned_of(loopback, words, tokens):
    state = run(loopback, ollama_reply("an answer", prompt_eval_count=tokens), "word " * words)

    assert (state["status"], state["warnings"]) == ("success", [])
