from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.testing import ScriptedChatModel
from orchestrator.state.graph_state import add_usage
from orchestrator.state.records import Usage
from tests.fakes.executor import ModelExecutor
from tests.fakes.planner import steps
from tests.fakes.runs import run as run_agents


def run(executor, plan=1, **options):
    return run_agents(executor, plan=steps(plan), **options)


def counts(usage):
    return {key: value for key, value in usage.items() if key not in ("latency_ms", "cost_usd")}


def missing(calls, failed=0):
    tokens = dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"))
    return {"model_calls": calls, "failed_model_calls": failed, **tokens, "token_source": "missing"}


def measured(calls, sent, received, failed=0):
    tokens = {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
    return {**missing(calls, failed), **tokens, "token_source": "measured"}


def reports(usage):
    """A message as a client builds it without looking at what the server sent."""
    return AIMessage("out").model_copy(update={"usage_metadata": usage})


def test_a_report_that_is_no_number_of_tokens_is_missing(subtests):
    for name, count in [
        *(("total_tokens", count) for count in (None, "7", 1.5, -1, True, 2**63, float("inf"))),
        *(("input_tokens", None), ("output_tokens", None)),
    ]:
        with subtests.test(name=name, count=count):
            usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5, name: count}
            [record] = run(ModelExecutor(ScriptedChatModel([reports(usage)])))["results"]

            assert counts(record["usage"]) == missing(1)


class CutOffError(Exception):
    """As OpenAI's client raises it: with the reply that hit the token limit."""

    def __init__(self, **usage):
        super().__init__("cut off")
        self.completion = SimpleNamespace(usage=SimpleNamespace(**usage))


def test_an_error_that_brings_the_reply_is_counted_with_its_tokens():
    error = CutOffError(prompt_tokens=3, completion_tokens=2, total_tokens=5)
    [record] = run(ModelExecutor(ScriptedChatModel([error])))["results"]

    assert counts(record["usage"]) == measured(1, 3, 2)


def test_the_runs_usage_is_the_sum_of_planner_executor_and_monitor():
    planner = PlanningAgent(ScriptedChatModel(['{"plan": ["one"]}'], usage=(1, 10)))
    executor = ExecutionAgent(ScriptedChatModel(["out"], usage=(2, 20)))
    monitor = MonitoringAgent(ScriptedChatModel(['{"success": true, "feedback": "ok"}'], usage=(4, 40)))
    state = run_agents(executor, monitor, planner=planner)

    assert counts(state["usage"]) == measured(3, 7, 70)
    assert counts(state["results"][0]["usage"]) == measured(1, 2, 20)
    assert counts(state["results"][0]["judge_usage"]) == measured(1, 4, 40)


amounts = st.one_of(st.none(), st.integers(0, 1000))


@st.composite
def usages(draw):
    calls = draw(st.integers(0, 5))
    failed = draw(st.integers(0, calls))
    tokens = draw(amounts) if calls > failed else None
    cost = None if tokens is None else draw(st.one_of(st.none(), st.just(tokens / 2)))
    return Usage(
        model_calls=calls,
        failed_model_calls=failed,
        input_tokens=tokens,
        output_tokens=None if tokens is None else 0,
        total_tokens=tokens,
        token_source="missing" if tokens is None else "measured",
        cost_usd=cost,
        latency_ms=float(draw(st.integers(0, 100))),
    )


@given(usages(), usages())
def test_a_sum_is_missing_exactly_where_a_part_that_answered_is(first, second):
    answered = [part for part in (first, second) if part["model_calls"] > part["failed_model_calls"]]
    known = bool(answered) and all(part["total_tokens"] is not None for part in answered)

    assert add_usage(first, second)["token_source"] == ("measured" if known else "missing")
