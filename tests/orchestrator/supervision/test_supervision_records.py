"""The record, the usage and the events of a supervised step."""

from __future__ import annotations

import json

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agents import ExecutionAgent
from agents.testing import ScriptedChatModel
from orchestrator import (
    Budget,
    SupervisionPolicy,
)
from tests.fakes.supervision import (
    FakeSupervisor,
    SpeakingExecutor,
    ask_human,
    go_on,
    halt,
    met,
    missed,
    reorient,
)
from tests.orchestrator.supervision.supervised_runs import (
    build_llm,
    failure_kind,
    run_llm,
)


def test_supervision_counts_what_it_spent_for_the_run_and_the_execution():
    replies = ['{"interpretation": "I will"}', "out", '{"met": false}']
    executor = ExecutionAgent(ScriptedChatModel(replies, usage=(5, 1)))
    supervisor = ScriptedChatModel(['{"verdict": "continue", "text": "fine"}'], usage=(5, 1))
    state = run_llm(supervisor, executor)

    assert state["usage"]["model_calls"] == 4
    assert state["results"][0]["usage"]["model_calls"] == 1
    assert state["results"][0]["judge_usage"]["model_calls"] == 3


@pytest.mark.parametrize("phase", ["commit", "assess", "supervise"])
def test_supervision_that_goes_past_the_budget_ends_the_run(phase):
    verdict = json.dumps({"verdict": "continue", "text": "it is fine"})
    dear, cheap = ScriptedChatModel(lambda messages: verdict, usage=(90, 10)), FakeSupervisor(go_on())
    executor = SpeakingExecutor(
        committed=[lambda step: dear.invoke(step) and {"interpretation": "x"}] if phase == "commit" else (),
        said=[lambda *_: (phase == "assess" and dear.invoke("x") and met()) or missed()],
    )
    supervisor = dear if phase == "supervise" else cheap
    state = run_llm(supervisor, executor, plan=["one", "two"], budget=Budget(max_total_tokens=50))

    assert (failure_kind(state), state["question"]) == ("budget_exceeded", None)
    assert (len(dear.prompts), state["usage"]["total_tokens"]) == (1, 100)
    assert executor.commitments == ["one"]


def test_the_stored_state_of_a_supervised_run_equals_the_returned_one(subtests):
    for verdict in [go_on(), reorient(), ask_human(), halt(), "unreadable"]:
        for human in [True, False]:
            with subtests.test(verdict=verdict, human=human):
                options = {
                    "checkpointer": InMemorySaver(),
                    "supervision_policy": SupervisionPolicy(human=human),
                }
                orchestrator = build_llm(
                    FakeSupervisor(verdict), SpeakingExecutor(said=[missed()]), **options
                )
                state = orchestrator.run("x", "thread")

                assert orchestrator.graph.get_state({"configurable": {"thread_id": "thread"}}).values == state
