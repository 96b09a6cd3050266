"""Records of supervised steps, clean by default, and the reading of replies into records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from orchestrator.state.records import (
    Commitment,
    Reconciliation,
    SelfAssessment,
    SuperviseRequest,
    SupervisorVerdict,
)
from orchestrator.supervision.phases import build_reconciliation
from orchestrator.supervision.replies import (
    AssessmentReply,
    CommitmentReply,
    VerdictReply,
    build_assessment,
    build_commitment,
    build_verdict,
    read_mapping,
    read_reply,
)

TIME = "2026-01-02T03:04:05+00:00"
NOW = datetime.fromisoformat(TIME)
OUTPUT = "An old silent pond"


def a_commitment(**changes: object) -> Commitment:
    return {
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
        **changes,
    }


def an_assessment(**changes: object) -> SelfAssessment:
    return {
        "step_index": 2,
        "actual_output": "An old silent pond",
        "met_commitment": True,
        "deviations": [],
        "concerns": [],
        "unexpected": [],
        "tools_used": ["search"],
        "readable": True,
        "time": TIME,
        **changes,
    }


def a_request(**changes: object) -> SuperviseRequest:
    return {
        "objective": "Write a haiku",
        "output": "An old silent pond",
        "commitment": a_commitment(),
        "assessment": an_assessment(met_commitment=False),
        "triggers": ["commitment_not_met"],
        "findings": [],
        **changes,
    }


def read_commitment(text: str) -> Commitment:
    return build_commitment(read_reply(CommitmentReply, text), 2, "Write a haiku", NOW, "first")


def convert_commitment(value: object) -> Commitment:
    return build_commitment(read_mapping(CommitmentReply, value), 2, "Write a haiku", NOW, "first")


def read_assessment(text: str, output: str = OUTPUT) -> SelfAssessment:
    reply = read_reply(AssessmentReply, text, [output])
    return build_assessment(reply, 2, output, ["search"], NOW)


def convert_assessment(value: object) -> SelfAssessment:
    return build_assessment(read_mapping(AssessmentReply, value), 2, OUTPUT, ["search"], NOW)


def convert_reconciliation(value: object) -> Reconciliation:
    return build_reconciliation(value)


def read_verdict(text: str, shown: Sequence[str] = ()) -> SupervisorVerdict:
    return build_verdict(read_reply(VerdictReply, text, shown))


def convert_verdict(value: object) -> SupervisorVerdict:
    return build_verdict(read_mapping(VerdictReply, value))
