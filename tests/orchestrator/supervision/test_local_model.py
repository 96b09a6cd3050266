"""A model of 135 million parameters fills all three forms."""

from __future__ import annotations

from types import SimpleNamespace

from langchain_core.language_models import BaseChatModel

from orchestrator.supervision.modes import SupervisionPolicy
from orchestrator.supervision.phases import choose_phases
from orchestrator.supervision.statements import (
    UNREADABLE_REPLY,
    ModelSupervisor,
    build_assessment,
    build_commitment,
)
from tests.fakes.supervised import NOW, a_request

STEP = "Translate 'good morning' to French"


async def test_the_local_model_commits_assesses_and_supervises_readably(embedded_llm: BaseChatModel):
    agent = SimpleNamespace(llm=embedded_llm)
    phases = choose_phases(agent, agent, None, SupervisionPolicy())
    reply = await phases.commit(STEP, "Step 1: Greet\nResult: good morning", "")
    commitment = build_commitment(reply, 1, STEP, NOW, "first")
    assert commitment["readable"]
    assessed = await phases.assess(STEP, commitment, "Bonjour.", ["dictionary"], "")
    assessment = build_assessment(assessed, 1, "Bonjour.", ["dictionary"], NOW)
    assert assessment["readable"]
    request = a_request(
        objective=STEP,
        output="Good morning.",
        commitment=commitment,
        assessment=assessment,
        findings=["the output is English, expected French"],
    )
    assert not ModelSupervisor(embedded_llm).supervise(request)["reason"].startswith(UNREADABLE_REPLY)
