"""Runs with a model of an Ollama server: prompts that do not fit, and the rates of the model."""

from __future__ import annotations

import json

import pytest

from agents import ExecutionAgent, load_model
from orchestrator import LangGraphOrchestrator
from tests.fakes.loopback import Reply, ollama_reply
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

CONTEXT = 1000
DENSE = "x" * 2200
REFUSED = json.dumps({"error": "request (1301 tokens) exceeds the available context size (1000 tokens)"})


def server_of(tokens_a_byte: float, cut):
    """Counts the tokens of a prompt by its bytes; ``cut`` returns the count of one that does not fit."""

    def answer(body):
        texts = (message["content"] for message in body["messages"])
        tokens = int(tokens_a_byte * sum(len(text.encode()) for text in texts))
        if tokens <= CONTEXT:
            return ollama_reply("an answer", prompt_eval_count=tokens, eval_duration=1)
        counted = cut(tokens)
        return (
            counted if isinstance(counted, Reply) else ollama_reply("from a part", prompt_eval_count=counted)
        )

    return answer


class EagerExecutor:
    """Sends each line of a step by itself and returns the last reply."""

    def __init__(self, llm):
        self.llm = llm

    def execute_step(self, step_description, context=""):
        return [self.llm.invoke(line).text for line in step_description.splitlines()][-1]


def run(loopback, answer, *steps, executor=ExecutionAgent):
    llm = load_model("ollama:m", base_url=loopback(answer=answer).url, num_ctx=CONTEXT)
    return LangGraphOrchestrator(FakePlanner([*steps]), executor(llm), FakeMonitor()).run("x")


@pytest.mark.parametrize(
    ("cut", "kept"),
    [
        (lambda tokens: CONTEXT, "from a part"),
        (lambda tokens: CONTEXT // 2 + 2, "from a part"),
        (lambda tokens: None, "from a part"),
        (lambda tokens: Reply(400, REFUSED.encode()), ""),
    ],
    ids=["fills the context", "half of it", "not counted", "refused"],
)
def test_a_task_that_does_not_fit_needs_review(loopback, cut, kept):
    state = run(loopback, server_of(0.25, cut), "word " * 1200)
    (record,) = state["results"]

    assert (state["failure"]["kind"], record["status"], record["result"]) == (
        "needs_review",
        "needs_review",
        kept,
    )
    assert "does not fit" in record["warnings"][0]
    assert state["warnings"] == [f"step 1: {record['warnings'][0]}"]


@pytest.mark.parametrize("tokens_a_byte", [0.2, 0.25, 0.3])
def test_a_task_that_fits_is_not_warned_of(loopback, tokens_a_byte):
    state = run(loopback, server_of(tokens_a_byte, None), "word " * 600)

    assert (state["status"], state["warnings"]) == ("success", [])


@pytest.mark.parametrize(
    ("steps", "executor", "is_known"),
    [
        ([DENSE], ExecutionAgent, False),
        (["x" * 1000, DENSE], ExecutionAgent, True),
        ([f"{'x' * 1500}\n{DENSE}"], EagerExecutor, True),
    ],
    ids=["no count", "of the run", "of the same step"],
)
def test_the_tokens_of_a_prompt_are_estimated_from_the_counts_before(loopback, steps, executor, is_known):
    half = server_of(0.5, lambda tokens: CONTEXT // 2 + 2)
    state = run(loopback, half, *steps, executor=executor)

    assert (state["failure"] is not None and state["failure"]["kind"] == "needs_review") is is_known
