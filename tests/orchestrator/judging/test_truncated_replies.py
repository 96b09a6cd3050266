"""Replies that reached the limit of tokens: no success rests on a part of an answer."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from evaluation import EvaluationContract, evaluate, run_from_state
from orchestrator import FeedbackRule, LangGraphOrchestrator, RetryPolicy, StopRule
from tests.fakes.monitor import FakeMonitor
from tests.fakes.planner import FakePlanner

SHORTEN = "The last output was cut off at its limit of tokens; write a shorter one that is complete."
CONTRACT = EvaluationContract(keywords=["boat"])


def cut(text, reason="length"):
    return AIMessage(text, response_metadata={"finish_reason": reason})


def build(*replies, contract=CONTRACT, monitor=None, **options):
    model = ScriptedChatModel(list(replies))
    orchestrator = LangGraphOrchestrator(
        FakePlanner(["write"]), ExecutionAgent(model), monitor or FakeMonitor(), contract=contract, **options
    )
    return orchestrator, model


def run(*replies, **options):
    orchestrator, model = build(*replies, **options)
    return orchestrator.run("write"), model


def test_a_reply_that_reached_its_limit_is_written_again_shorter():
    state, model = run(cut("A boat and"), "A boat.")

    assert (state["status"], state["output"]) == ("success", "A boat.")
    assert SHORTEN in model.prompts[1][-1].text
    assert state["results"][0]["cut_off"] == "length"
    assert "cut_off" not in state["results"][1]


def test_no_run_succeeds_with_replies_that_were_cut_off():
    state, _ = run(*[cut("A boat and")] * 4)

    assert (state["status"], state["output"]) == ("failed", None)
    assert "cut off at its limit of tokens" in state["failure"]["message"]
    assert {record["basis"] for record in state["results"]} == {"unverified"}


def test_the_judge_is_not_asked_about_a_part_of_an_answer():
    monitor = FakeMonitor()
    run(cut("A boat and"), "A boat.", contract=None, monitor=monitor)

    assert len(monitor.calls) == 1


@pytest.mark.parametrize("reason", ["length", "MAX_TOKENS", "model_context_window_exceeded"])
def test_the_reason_of_each_provider_counts(reason):
    assert run(cut("A boat and", reason), "A boat.")[0]["retries"]["semantic"] == 1


@pytest.mark.parametrize("reason", ["stop", "end_turn", "eos_token"])
def test_a_whole_reply_is_accepted(reason):
    assert run(cut("A boat.", reason))[0]["retries"]["semantic"] == 0


def test_a_reply_that_the_provider_filtered_has_no_verdict():
    state, _ = run(cut("A boat", "content_filter"))

    assert state["status"] == "failed"
    assert state["results"][0]["status"] == "needs_review"


def test_its_kind_is_length():
    rules = [StopRule(after="length"), FeedbackRule()]
    state, _ = run(cut("A boat and"), "A boat.", retry_policy=RetryPolicy(strategies=rules))

    assert (state["status"], state["results"][0]["decision"]["use"]) == ("failed", "stop")


def test_an_interrupted_run_still_knows_it():
    orchestrator, _ = build(cut("A boat and"), "A boat.", checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    for event in orchestrator.stream("write", "1"):
        if type(event).__name__ == "StepExecuted":
            break
    assert orchestrator.graph.get_state(config).next

    assert orchestrator.resume("1")["results"][0]["cut_off"] == "length"


def test_a_stored_run_ends_as_it_did_live():
    state, _ = run(cut("A boat and"), "A boat.")

    assert evaluate({"agent_run": run_from_state(state), "keywords": ["boat"]})["status"] == "passed"
