"""Texts that a model may write, as Hypothesis strategies, and the agents that read them."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from agents import MonitoringAgent, PlanningAgent
from agents.errors import PlanError
from agents.parsing.verdicts import find_denial
from agents.testing import ScriptedChatModel

FENCE = "```"
LONG = 40_000
BOM = "\ufeff"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
pieces = st.sampled_from(
    [
        *("{", "}", "[", "]", '"', "'", ":", ",", "\\", "\n", " ", "//", "#", "`", FENCE, "null", "1", "or"),
        *('"success"', "'success'", "success", "true", "false", "True", "False", '"feedback"', "\\u0073"),
        *('{"success": true}', '{"success": false}', '{"success": true, "feedback": "', '"}'),
        *("<think>", "</think>"),
        *('"plan"', '{"plan": ["', '["a"', '"steps"', "1. ", "- ", "**", "## ", "Step 1: "),
    ]
)
model_like_text = st.lists(pieces | st.text(max_size=5), max_size=20).map("".join)
any_text = st.text() | model_like_text
verdict_objects = st.fixed_dictionaries(
    {"success": st.just(True), "feedback": st.text(max_size=60) | model_like_text},
    optional={"score": json_values, "details": json_values},
).filter(lambda verdict: find_denial(verdict) is None)
prose = st.text(st.characters(blacklist_characters="{}[]<"), max_size=80)
slow = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)


def plan_of(reply: str) -> list[str] | None:
    """The plan that the planner reads from a reply; None if the reply, also repeated, is no plan."""
    try:
        return PlanningAgent(ScriptedChatModel([reply, reply])).generate_plan("task")
    except PlanError:
        return None


def verdict_of(reply: str) -> dict[str, object]:
    return dict(MonitoringAgent(ScriptedChatModel([reply, reply])).evaluate("objective", "output"))


def is_well_formed(verdict: dict[str, object]) -> bool:
    return (
        set(verdict) == {"success", "feedback"}
        and type(verdict["success"]) is bool
        and type(verdict["feedback"]) is str
    )
