"""Measures on tasks with known answers how often the claims of a verifier are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from agents.calls.conversation import Model
from agents.roles import build_roles
from evaluation import TaskCase, evaluate, run_from_state
from evaluation.judges.trust.figures import ClaimCount, VerifierFigures, count_needed_claims
from orchestrator.engine import LangGraphOrchestrator
from orchestrator.errors import ConfigurationError
from orchestrator.judging.evidence import ACCEPTING
from orchestrator.judging.output import OutputRules
from orchestrator.judging.plain_contracts import plain_contract
from orchestrator.judging.verification import identify_verifier
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.plain_values import format_repr
from orchestrator.state.records import VerifierName
from orchestrator.tuning.study_tasks import list_names, name_task, read_cases

_MAX_WRONG: Final = 0.05
"""The bound on the share of wrong claims."""


def read_answered_tasks(path: str) -> list[TaskCase]:
    """Reads tasks whose contracts state the content of the answer.

    Raises:
        ConfigurationError: The file cannot be read, a task has no answer, or no result on so few tasks can
            show the bound.
    """
    cases, needed = read_cases(path), count_needed_claims(_MAX_WRONG)
    if unanswered := [name_task(case) for case in cases if not _states_answer(case)]:
        raise ConfigurationError(
            f"tasks: {len(unanswered)} of {len(cases)} tasks have no known answer: {list_names(unanswered)}; "
            "give each a contract that states its content, such as keywords, or leave it out"
        )
    if len(cases) < needed:
        raise ConfigurationError(
            f"tasks: {path!r} has {len(cases)} tasks, and a bound of {_MAX_WRONG:.0%} needs {needed} claims, "
            f"all of them right; give at least {needed - len(cases)} more"
        )
    return cases


def _states_answer(case: TaskCase) -> bool:
    return case.contract != "from_task" and OutputRules(plain_contract(case.contract)).states_content


def measure_verifier(
    model: str | Model, verifier: VerifierName, cases: Sequence[TaskCase]
) -> VerifierFigures:
    """Runs each task, which does not see its contract, and compares the claims with the contracts.

    Args:
        model: The model of all agents, as ``LangGraphOrchestrator.from_model`` takes it.
        verifier: The verifier.
        cases: Tasks whose contracts state the answer.

    Raises:
        ConfigurationError: The model has no identity, by which the figures would be found again.
        ModelSpecError: The specification names no model.
        ModelSetupError: The model cannot be loaded; the message says what to do.
    """
    roles = build_roles(model)
    identity = identify_verifier(verifier, roles.executor, roles.monitor)
    if identity is None:
        raise ConfigurationError(
            f"model {format_repr(model, 80)} cannot be identified, so that its figures would not be found "
            "again; give a model whose name and address LangChain states"
        )
    agents = (roles.planner, roles.executor, roles.monitor)
    orchestrator = LangGraphOrchestrator(*agents, contract="from_task", planning="auto", verifier=verifier)
    claims: Counter[tuple[float, bool]] = Counter()
    for case in cases:
        state = orchestrator.run(case.task)
        if (share := _read_share(state)) is not None:
            claims[share, _is_right(state, case)] += 1
    shares = sorted({share for share, _ in claims}, reverse=True)
    counts = tuple(ClaimCount(share, claims[share, True], claims[share, False]) for share in shares)
    return VerifierFigures(identity, len(cases), _MAX_WRONG, counts)


def _read_share(state: OrchestratorState) -> float | None:
    """Returns the share of approvals of an accepted output; None if the run has no such output."""
    if state["status"] != "success":
        return None
    last = (state["synthesis"] or state["results"])[-1]
    return last["verification"]["share"] if "verification" in last else None


def _is_right(state: OrchestratorState, case: TaskCase) -> bool:
    contract = {} if case.contract == "from_task" else case.contract.model_dump(exclude_unset=True)
    return evaluate({**contract, "agent_run": run_from_state(state)}).status in ACCEPTING
