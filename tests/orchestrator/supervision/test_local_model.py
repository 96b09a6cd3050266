"""A model of 135 million parameters fills all three forms."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from orchestrator.runtime.context import utc_now
from orchestrator.supervision.agents import AssessAgent, CommitAgent, ModelSupervisor
from orchestrator.supervision.replies import UNREADABLE_REPLY
from tests.fakes.supervised import a_request

STEP = "Translate 'good morning' to French"


async def test_the_local_model_commits_assesses_and_supervises_readably(embedded_llm: BaseChatModel):
    commitment = await CommitAgent(embedded_llm, utc_now).acommit(
        STEP, "Step 1: Greet\nResult: good morning", 1
    )
    assert commitment["readable"]
    assessment = await AssessAgent(embedded_llm, utc_now).aassess(
        STEP, commitment, "Bonjour.", ["dictionary"], 1
    )
    assert assessment["readable"]
    request = a_request(
        objective=STEP,
        output="Good morning.",
        commitment=commitment,
        assessment=assessment,
        findings=["the output is English, expected French"],
    )
    assert not ModelSupervisor(embedded_llm).supervise(request)["reason"].startswith(UNREADABLE_REPLY)
