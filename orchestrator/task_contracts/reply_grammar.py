"""Writes the grammar of a step's output from the checks of its contract."""

from __future__ import annotations

from evaluation.checks.vocabulary import CHECKS, read_checks
from evaluation.grammar import write_grammar
from orchestrator.judging.disclosure import Expectations
from orchestrator.judging.report import mapping
from orchestrator.state.current_step import last_refused_record
from orchestrator.state.graph_state import OrchestratorState
from orchestrator.state.records import PlainContract


def write_reply_grammar(
    contract: PlainContract, state: OrchestratorState, hidden: Expectations | None
) -> str | None:
    """Writes the grammar of the outputs of a step from the form that its contract requires.

    After an output that was cut off, the next one has half as many lines.

    Args:
        contract: The contract of the current step.
        state: The state of the run.
        hidden: The expected answer that the executor is not told. A grammar that has it would write it.

    Returns:
        The grammar in GBNF; None if nothing is known of the form, or if a check is the user's own.
    """
    checks = contract.get("checks")
    stated = [mapping(each) for each in checks] if isinstance(checks, list) else []
    # A check of the user may want any form: a command runs the output as a program, say.
    if any(each.get("check") == "function" for each in stated):
        return None
    known = [each for each in stated if each.get("check") in CHECKS]
    told = [each for each in known if hidden is None or not hidden.hides_texts(each)]
    return write_grammar(read_checks(told), state["task"], most_lines=_halve_lines(state))


def _halve_lines(state: OrchestratorState) -> int | None:
    refused = last_refused_record(state)
    if refused is None or "cut_off" not in refused:
        return None
    return sum(1 for line in refused["result"].splitlines() if line.strip()) // 2
