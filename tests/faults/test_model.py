"""Whatever a model's server does, a run ends as it should, within its budget and its bound on calls."""

import json
import socket
import struct
from functools import partial

import pytest

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.models.server_errors import TransportRetry
from orchestrator import Budget, LangGraphOrchestrator
from tests.fakes.protocol_server import ModelReply, encode, ollama_reply, serve_model

serve = partial(serve_model, protocol="ollama")
RETRY = TransportRetry(max_attempts=3, initial_seconds=0.0, max_seconds=0.01)
PLAN, DONE = ModelReply('{"plan": ["do it"]}'), ModelReply("it is done")
VERDICT = ModelReply('{"feedback": "", "success": true}')
LINE = json.dumps({"model": "m", "message": {"role": "assistant", "content": "it"}, "done": False}).encode()
BUSY = encode({"error": "too many requests"}, 429, {"Retry-After": "1"})
FAILING = encode({"error": "the model crashed"}, 500)
CUT_SHORT = encode([LINE + b"\n"])
BROKEN_OFF = CUT_SHORT.removesuffix(b"0\r\n\r\n")
ERROR_WITHIN = encode([LINE + b'\n{"error": "the runner has ended unexpectedly"}\n'])
HALF, NOTHING, GARBLED = encode([LINE[:-12]]), encode(b""), encode([b"\xff\xfe\x00\x81\n" * 10])
PAGE = encode(b"<html>It works!</html>", 200, {"Content-Type": "text/html"})


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def hang(connection):
    connection.recv(1)  # until whoever called has left


def orchestrator_of(llm, budget, **settings):
    """An orchestrator all of whose agents call the same model."""
    agents = (kind(llm, transport_retry=RETRY) for kind in (PlanningAgent, ExecutionAgent, MonitoringAgent))
    return LangGraphOrchestrator(*agents, budget=budget, synthesis=False, **settings)


async def test_faults_that_pass_use_no_attempt_and_faults_that_last_end_the_run(subtests):
    for answers, kind, calls in [
        ([BUSY, HALF, PLAN, CUT_SHORT, reset, DONE, NOTHING, BROKEN_OFF, VERDICT], None, 9),
        ([FAILING], "planner_error", 3),
        ([PLAN, PAGE], "executor_error", 2),
        ([PLAN, GARBLED], "executor_error", 2),
        ([PLAN, ERROR_WITHIN], "executor_error", 4),
        ([PLAN, DONE, BROKEN_OFF], "needs_review", 5),
    ]:
        with subtests.test(kind=kind, answers=answers), serve(*answers) as (llm, server):
            state = await orchestrator_of(llm, Budget()).arun("the task")

            assert (state["failure"] and state["failure"]["kind"], len(server.bodies)) == (kind, calls)
            assert [record["attempt"] for record in state["results"]] == [1] * (kind != "planner_error")
            assert state["usage"]["model_calls"] == calls


async def test_a_server_that_hangs_holds_a_run_no_longer_than_its_bound(subtests):
    for budget, settings, kind in [
        (Budget(), {"call_timeout": 0.3}, "timeout"),
        (Budget(), {"step_timeout": 0.3}, "timeout"),
        (Budget(max_seconds=1), {}, "budget_exceeded"),
    ]:
        with subtests.test(budget=budget, settings=settings), serve(PLAN, hang) as (llm, _):
            state = await orchestrator_of(llm, budget, **settings).arun("the task")

            # On a busy machine, the plan itself may take longer than the bound.
            assert state["failure"]["kind"] == kind


@pytest.mark.soak
async def test_a_result_of_ten_megabytes_is_kept_whole():
    result = "all of it " * 1_000_000 + "is here"
    cut = ollama_reply('{"feedback": "", "success": true}', prompt_eval_count=7)
    with serve(PLAN, ModelReply(result), cut) as (llm, _):
        state = await orchestrator_of(llm, Budget()).arun("the task")

    # The server counts seven tokens of the judge's prompt, so it cut it: the judgement is not believed.
    assert (state["failure"]["kind"], state["results"][0]["result"] == result) == ("needs_review", True)
