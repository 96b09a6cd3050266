"""Whatever a model's server does, a run ends as it should, within its budget and its bound on calls."""

from __future__ import annotations

import json

import pytest
from langchain_core.tools import tool

from agents import (
    BaseAgent,
    ExecutionAgent,
    ModelUnavailableError,
    MonitoringAgent,
    PlanningAgent,
    load_model,
)
from agents.models.server_errors import TransportRetry
from orchestrator import Budget, LangGraphOrchestrator
from tests.faults.model_server import HARMLESS, TEN_MEGABYTES, Fault, Line, Script, closed_port, serve_models

NEVER_MENDED = 10_000
RETRY = TransportRetry(max_attempts=3, initial_seconds=0.0, max_seconds=0.01)
LASTING = (Fault.PAGE, Fault.GARBLED)
PASSING = [fault for fault in Fault if fault not in (*LASTING, *HARMLESS, Fault.HANGING)]
both_entries = pytest.mark.parametrize("awaited", [False, True], ids=["invoke", "ainvoke"])


@pytest.fixture(scope="module")
def server():
    with serve_models() as server:
        yield server


@pytest.fixture(scope="module")
def port():
    with closed_port() as port:
        yield port


def model_of(server, port, script, name, call_s):
    """The chat model ``name``, whose server follows a script and whose client waits so many seconds."""
    url, scripts = server
    scripts[name] = script
    return load_model(
        f"ollama:{name}",
        base_url=url,
        client_kwargs={"timeout": call_s, "verify": False, "trust_env": False},  # no certificates to load
        async_client_kwargs={"transport": Line(script, port)},
    )


def orchestrator_of(llm, budget, **settings):
    """An orchestrator all of whose agents call the same model."""
    agents = (kind(llm, transport_retry=RETRY) for kind in (PlanningAgent, ExecutionAgent, MonitoringAgent))
    return LangGraphOrchestrator(*agents, budget=budget, synthesis=False, **settings)


def answer(asked):
    """The reply of a model that plans one step, does it and approves of it."""
    wanted = asked.get("format")
    if not isinstance(wanted, dict):
        return "it is done"
    return json.dumps(
        {"plan": ["do it"]} if "plan" in wanted["properties"] else {"feedback": "", "success": True}
    )


async def test_faults_that_pass_use_no_attempt_and_faults_that_last_end_the_run(server, port, subtests):
    for troubles, kind, calls in [
        ([(Fault.BUSY, 2), (Fault.CUT_SHORT, 1), (Fault.RESET, 2)], None, 8),
        ([(Fault.FAILING, NEVER_MENDED)], "planner_error", 3),
        ([None, (Fault.PAGE, NEVER_MENDED)], "executor_error", 2),
        ([None, (Fault.ERROR_WITHIN, NEVER_MENDED)], "executor_error", 4),
        ([None, None, (Fault.BROKEN_OFF, NEVER_MENDED)], "needs_review", 5),
    ]:
        with subtests.test(troubles=troubles):
            script = Script(troubles, answer)
            state = await orchestrator_of(model_of(server, port, script, "run", 10), Budget()).arun(
                "the task"
            )

            assert (state["failure"] and state["failure"]["kind"], script.calls) == (kind, calls)
            assert [record["attempt"] for record in state["results"]] == [1] * (kind != "planner_error")
            assert state["usage"]["model_calls"] == calls


async def said(llm, awaited):
    agent = BaseAgent(llm, transport_retry=RETRY)
    return await agent.ainvoke("Hello?") if awaited else agent.invoke("Hello?")


# The line to the server is cut for awaited calls alone.
@pytest.mark.parametrize(
    ("fault", "awaited"),
    [(fault, awaited) for fault in PASSING for awaited in (True, False) if awaited or fault != Fault.REFUSED],
)
async def test_a_call_is_made_again_after_a_fault_that_passes(server, port, fault, awaited):
    script = Script([(fault, 2)], lambda _: "hello")

    assert await said(model_of(server, port, script, "passing", 10), awaited) == "hello"
    assert script.calls == 3


@both_entries
@pytest.mark.parametrize("fault", LASTING)
async def test_what_is_no_reply_of_a_model_is_named_and_not_asked_for_again(server, port, fault, awaited):
    script = Script([(fault, NEVER_MENDED)], lambda _: "hello")

    with pytest.raises(ModelUnavailableError, match="sent no reply of a chat model"):
        await said(model_of(server, port, script, "lasting", 10), awaited)
    assert script.calls == 1


async def test_a_reply_that_ends_in_its_middle_is_none_where_tools_are_bound_either(server, port):
    @tool
    def look() -> str:
        """Look."""
        return "nothing"

    script = Script([(Fault.CUT_SHORT, 1)], lambda _: "a whole result")
    agent = ExecutionAgent(model_of(server, port, script, "tools", 10), [look], transport_retry=RETRY)

    assert await agent.aexecute_step("look") == "a whole result"


@pytest.mark.parametrize(
    ("budget", "settings", "kind"),
    [
        (Budget(), {"call_timeout": 0.3}, "timeout"),
        (Budget(), {"step_timeout": 0.3}, "timeout"),
        (Budget(max_seconds=1), {}, "budget_exceeded"),
    ],
    ids=["call_timeout", "step_timeout", "max_seconds"],
)
async def test_a_server_that_hangs_holds_a_run_no_longer_than_its_bound(server, port, budget, settings, kind):
    script = Script([None, (Fault.HANGING, NEVER_MENDED)], answer)
    llm = model_of(server, port, script, "hanging", 300)
    state = await orchestrator_of(llm, budget, **settings).arun("the task")

    assert (state["failure"]["kind"], script.calls) == (kind, 2)


@pytest.mark.soak
async def test_a_result_of_ten_megabytes_is_kept_whole(server, port):
    result = "all of it " * (TEN_MEGABYTES // 10) + "is here"
    script = Script([], lambda asked: answer(asked) if "format" in asked else result)
    llm = model_of(server, port, script, "huge", 60)
    state = await orchestrator_of(llm, Budget()).arun("the task")

    # The server counts seven tokens of the judge's prompt, so it cut it: the judgement is not believed.
    assert (state["failure"]["kind"], state["results"][0]["result"] == result) == ("needs_review", True)
