"""No run makes more model calls than its settings allow for."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from agents import ExecutionAgent, MonitoringAgent, PlanningAgent
from agents.models.transport_retry import TransportRetry
from agents.testing import ScriptedChatModel
from orchestrator import LangGraphOrchestrator, RetryPolicy, SupervisionPolicy

AT_ONCE = TransportRetry(max_attempts=2, initial_seconds=0)
REPLIES = (
    json.dumps({"plan": ["one", "two"]}),
    json.dumps({"success": True, "feedback": "fine"}),
    json.dumps({"success": False, "feedback": "bad"}),
    json.dumps({"interpretation": "do it", "confidence": "high", "assumptions": []}),
    json.dumps({"met": False, "deviations": ["shorter"], "concerns": [], "unexpected": []}),
    json.dumps({"met": True, "deviations": [], "concerns": [], "unexpected": []}),
    json.dumps({"verdict": "reorient", "text": "make it longer"}),
    json.dumps({"verdict": "continue", "text": "good enough"}),
    "no JSON at all",
)


def build(seed, mode, retries, replans, reorients):
    rng = random.Random(seed)

    def reply(_messages):
        return ConnectionError("down") if rng.random() < 0.1 else rng.choice(REPLIES)

    model = ScriptedChatModel(reply)
    agents = (cls(model, transport_retry=AT_ONCE) for cls in (PlanningAgent, ExecutionAgent, MonitoringAgent))
    orchestrator = LangGraphOrchestrator(
        *agents,
        max_retries=retries,
        supervision=mode,
        retry_policy=RetryPolicy(max_replans=replans, needs_review="retry", transport=AT_ONCE),
        supervision_policy=SupervisionPolicy(max_reorient_attempts=reorients),
        max_plan_steps=2,
    )
    return orchestrator, model


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    mode=st.sampled_from(["none", "llm"]),
    retries=st.integers(0, 3),
    replans=st.integers(0, 2),
    reorients=st.integers(1, 3),
)
def test_a_run_never_makes_more_model_calls_than_its_bound(seed, mode, retries, replans, reorients):
    orchestrator, model = build(seed, mode, retries, replans, reorients)
    state = orchestrator.run("x")

    assert len(model.prompts) <= orchestrator.model_call_bound()
    assert state["status"] in ("success", "failed")


def test_the_bound_grows_with_the_plan_and_the_retries():
    few, _ = build(0, "none", 0, 0, 1)
    more, _ = build(0, "none", 1, 0, 1)

    assert few.model_call_bound(1) < few.model_call_bound(2) < more.model_call_bound(2)


def test_supervision_by_nobody_adds_nothing_to_the_bound():
    unsupervised, _ = build(0, "none", 2, 1, 3)
    supervised, _ = build(0, "llm", 2, 1, 3)

    assert unsupervised.model_call_bound(2) < supervised.model_call_bound(2)
