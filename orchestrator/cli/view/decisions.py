"""Who decided on an execution, and why, in words."""

from __future__ import annotations

from orchestrator.state.graph_state import StepRecord
from orchestrator.state.records import HumanAnswer, SupervisorVerdict


def decision(record: StepRecord) -> str:
    """The last word on an execution: a person's, else the supervisor's, else the monitor's; "" for none."""
    supervision, verdict = record["supervision"], record["verdict"]
    if supervision is not None and supervision["answer"] is not None:
        return _answered(supervision["answer"])
    supervised = "" if supervision is None else _supervised(supervision["verdict"])
    return supervised or ("" if verdict is None else verdict["feedback"])


def _answered(answer: HumanAnswer) -> str:
    word = {"approve": "approved", "correct": "corrected", "deny": "denied"}[answer["answer"]]
    return _with(f"{word} by {answer['answered_by']}", answer["text"])


def _supervised(verdict: SupervisorVerdict | None) -> str:
    if verdict is None:
        return ""
    match verdict["verdict"]:
        case "continue":
            return _with("the supervisor lets it stand", verdict["reason"])
        case "reorient":
            return _with("the supervisor wants it otherwise", verdict["correction"])
        case "halt":
            return _with("the supervisor halts the run", verdict["reason"])
        case "ask_human":
            return _with("the supervisor asks", verdict["question"])


def _with(said: str, why: str) -> str:
    return f"{said}: {why}" if why.strip() else said
