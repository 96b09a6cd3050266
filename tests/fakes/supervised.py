"""Records of supervised steps, clean unless told otherwise."""

from __future__ import annotations

from orchestrator.state.records import Commitment, SelfAssessment, SuperviseRequest
from orchestrator.supervision.replies import Execution, Occasion

TIME = "2026-01-02T03:04:05+00:00"
OCCASION = Occasion(step_index=2, instruction="Write a haiku", time=TIME)
EXECUTION = Execution(step_index=2, output="An old silent pond", time=TIME, tools_used=("search",))


def a_commitment(**changes: object) -> Commitment:
    """A commitment of high confidence, without assumptions."""
    plain: dict[str, object] = {
        "step_index": 2,
        "kind": "first",
        "instruction": "Write a haiku",
        "interpretation": "three lines about the sea",
        "scope_in": ["the poem"],
        "scope_out": ["a title"],
        "approach": "count syllables",
        "predicted_output": "three lines",
        "confidence": "high",
        "assumptions": [],
        "readable": True,
        "time": TIME,
    }
    return {**plain, **changes}


def an_assessment(**changes: object) -> SelfAssessment:
    """An assessment that says that all went as committed to."""
    plain: dict[str, object] = {
        "step_index": 2,
        "actual_output": "An old silent pond",
        "met_commitment": True,
        "deviations": [],
        "concerns": [],
        "unexpected": [],
        "tools_used": ["search"],
        "readable": True,
        "time": TIME,
    }
    return {**plain, **changes}


def a_request(**changes: object) -> SuperviseRequest:
    """A request about a step that did not meet its commitment."""
    plain: dict[str, object] = {
        "objective": "Write a haiku",
        "output": "An old silent pond",
        "commitment": a_commitment(),
        "assessment": an_assessment(met_commitment=False),
        "triggers": ["commitment_not_met"],
        "findings": [],
    }
    return {**plain, **changes}
